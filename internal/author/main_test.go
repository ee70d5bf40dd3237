package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"regexp"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

func TestAuthoredTranscriptsAreWhatTheirScriptsGive(t *testing.T) {
	var out bytes.Buffer
	err := run("../..", true, nil, &out)
	assert.NilError(t, err, out.String())
}

func TestUnknownScriptIsRefusedByName(t *testing.T) {
	assert.Error(t, run("../..", true, []string{"no-such-script"}, io.Discard), "no script is named no-such-script")
}

// listener keeps the request bodies that really went over the wire.
type listener struct {
	next *upstream

	mu     sync.Mutex
	bodies map[string][]byte
}

func (l *listener) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	place, _ := runtime.PlaceOf(request.Context())
	l.mu.Lock()
	l.bodies[key(place)] = body
	l.mu.Unlock()
	request.Body = io.NopCloser(bytes.NewReader(body))
	return l.next.RoundTrip(request)
}

// workspace is the folder of a run, which a transcript holds as a placeholder.
var workspace = regexp.MustCompile(regexp.QuoteMeta(os.TempDir()) + `/tapetree-\d+/workspace`)

// TestEveryRequestIsRebuiltToItsBytes: a transcript stores what a request
// adds; its whole body comes back byte for byte.
func TestEveryRequestIsRebuiltToItsBytes(t *testing.T) {
	source := scenarios.DirSource("../..")
	rebuilt := 0
	for name, s := range scripts() {
		l := &listener{next: &upstream{script: s, used: map[string]bool{}}, bodies: map[string][]byte{}}
		data, err := record(source, name, s, l)
		assert.NilError(t, err, name)
		file, err := transcripts.Parse(name, data)
		assert.NilError(t, err, name)
		for _, e := range file.Exchanges {
			place := key(runtime.Place{Agent: e.Agent, Turn: e.Turn, Try: e.Try})
			sent := workspace.ReplaceAllString(string(l.bodies[place]), "{{workspace}}")
			assert.Equal(t, string(e.Body()), sent, "%s %s", name, place)
			rebuilt++
		}
		assert.Equal(t, len(file.Exchanges), len(l.bodies), name)
	}
	assert.Assert(t, rebuilt > 200, "only %d requests", rebuilt)
}
