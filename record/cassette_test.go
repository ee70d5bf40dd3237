package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// cassetteOf writes calls as vcrpy does, in the order given.
func cassetteOf(t testing.TB, calls ...harCall) string {
	t.Helper()
	quoted := func(text string) string {
		raw, err := json.Marshal(text) // JSON strings are YAML
		assert.NilError(t, err)
		return string(raw)
	}
	var out strings.Builder
	out.WriteString("interactions:\n")
	for _, c := range calls {
		kind := "application/json"
		if c.stream {
			kind = "text/event-stream"
		}
		fmt.Fprintf(&out, "- request:\n    body: %s\n    headers:\n      Authorization: [Bearer %s]\n    method: POST\n    uri: %s\n", quoted(c.request), testKey, c.url)
		fmt.Fprintf(&out, "  response:\n    body:\n      string: %s\n    headers:\n      Content-Type: [%s]\n      Date: ['Fri, 02 Jan 2026 03:04:05 GMT']\n    status: {code: %d, message: x}\n", quoted(c.content), kind, c.status)
	}
	return out.String() + "version: 1\n"
}

// inSequence is the family in the order in which its members asked.
func inSequence() []harCall {
	calls := harFamily()
	return []harCall{calls[2], calls[3], calls[1], calls[0], calls[4]}
}

// TestAFamilyOnACassette tells parent and children apart without any clock, and
// writes no file where none is wanted.
func TestAFamilyOnACassette(t *testing.T) {
	text := cassetteOf(t, inSequence()...)
	traffic, err := transcripts.OpenCassette("agents.yaml", []byte(text))
	assert.NilError(t, err)
	fold := runtime.NewFolder([]string{"/home/alice/ws"}, nil, []string{"/home/alice"})
	out, err := ImportTraffic(t.Context(), traffic, TrafficOptions{Fold: fold, By: "tapetree test", InMemory: true})
	assert.NilError(t, err)
	assert.DeepEqual(t, out.Warnings, []transcripts.Warning(nil))
	assert.DeepEqual(t, out.LeftOut, []string(nil))
	assert.DeepEqual(t, out.Upstreams, []string{"api.example"})
	left, err := filepath.Glob("agents.yaml*")
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0)
	lines := map[string]int{}
	for place, at := range out.Places[0] {
		lines[fmt.Sprint(place.Agent, " ", place.Turn, " ", place.Try)] = at.Number
	}
	assert.DeepEqual(t, lines, map[string]int{"root 1 1": 1, "root/1.1 1 1": 2, "root/1.2 1 1": 3, "root 2 1": 4, "root 2 2": 5})
	h, err := out.Transcripts[0].History()
	assert.NilError(t, err)
	for key, spot := range h.Spots {
		assert.Assert(t, !spot.Timed, key)
	}
	golden.Assert(t, string(out.Transcripts[0].Encode()), "cassette-family.jsonl")
}

func TestAModelThatOnlyTheAddressNames(t *testing.T) {
	ask := func(path, body string) harCall {
		return harCall{url: "https://az.example/openai/deployments/small%20one" + path, request: body, status: 200, content: harAnswer("yes")}
	}
	messages := `"messages":[{"role":"user","content":"Are you there?"}]}`
	traffic, err := transcripts.OpenCassette("x.yaml", []byte(cassetteOf(t,
		ask("/chat/completions?api-version=1", "{"+messages),
		ask("/chat/completions?api-version=1", `{"model":"said",`+messages),
		ask("/chat/completions", "{}"), ask("/chat/completions", "no JSON"))))
	assert.NilError(t, err)
	out, err := ImportTraffic(t.Context(), traffic, TrafficOptions{InMemory: true})
	assert.NilError(t, err)
	var models []string
	for _, e := range out.Transcripts[0].Exchanges {
		models = append(models, e.Model)
	}
	assert.DeepEqual(t, models, []string{"small one", "said"})
	var warnings []string
	for _, w := range out.Warnings {
		warnings = append(warnings, w.In("x.yaml"))
	}
	assert.DeepEqual(t, warnings, []string{
		`x.yaml:2: interaction 1: POST https://az.example/openai/deployments/small%20one/chat/completions: the model's name "small one" stands in the address alone, and was put into the request`,
		`x.yaml:28: interaction 3: POST https://az.example/openai/deployments/small%20one/chat/completions: the model's name "small one" stands in the address alone, and was put into the request`,
		`x.yaml:41: interaction 4: POST https://az.example/openai/deployments/small%20one/chat/completions: what was asked is no whole JSON (7 bytes), so it is kept as a request of no agent`,
	})
}

// TestAnImportCostsWhatTheFileHolds: of a session twice as long, no byte costs
// more memory than before.
func TestAnImportCostsWhatTheFileHolds(t *testing.T) {
	perByte := func(turns int) float64 {
		var calls []harCall
		list := []string{harSays("user", "Count.")}
		for i := range turns {
			says := fmt.Sprintf("%d %s", i, strings.Repeat("and on ", 50))
			calls = append(calls, harCall{url: harChat, request: harAsk(false, list...), status: 200, content: harAnswer(says)})
			list = append(list, harSays("assistant", says), harSays("user", "On."))
		}
		text := cassetteOf(t, calls...)
		result := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				traffic, err := transcripts.OpenCassette("x.yaml", []byte(text))
				assert.NilError(b, err)
				out, err := ImportTraffic(b.Context(), traffic, TrafficOptions{InMemory: true})
				assert.NilError(b, err)
				assert.Equal(b, len(out.Transcripts[0].Exchanges), turns)
			}
		})
		return float64(result.AllocedBytesPerOp()) / float64(len(text))
	}
	short, long := perByte(30), perByte(120)
	assert.Assert(t, long < 1.5*short, "%f bytes for each byte of a short file, %f of one four times as long", short, long)
}

// TestWriteHistory writes a history of messages, secrets and paths replaced.
func TestWriteHistory(t *testing.T) {
	message := func(raw string) runtime.Message {
		m, err := runtime.ParseMessage([]byte(raw))
		assert.NilError(t, err)
		return m
	}
	b := transcripts.NewHistory("x.json", "", "openai")
	root := b.Root()
	root.Add(message(harSays("user", "Look at /srv/agent/a.go with "+testKey+".")))
	root.Answer(&runtime.Answer{Message: message(`{"role":"assistant","content":"Fine."}`)}, transcripts.Spot{})
	root.Add(message(harSays("user", "Thanks.")))
	path := t.TempDir() + "/x.jsonl"
	f, lost, err := WriteHistory(b.History(), path, transcripts.Header{Name: "x", By: "tapetree test from openai"}, runtime.NewFolder([]string{"/srv/agent"}, nil, nil), nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, lost, []string{"root: 1 message after the last answer"})
	assert.Equal(t, len(f.Exchanges), 1)
	written, err := os.ReadFile(path)
	assert.NilError(t, err)
	golden.Assert(t, string(written), "history-written.jsonl")
	_, err = Redrive(t.Context(), f, PlaybackOptions{})
	assert.NilError(t, err)

	empty := transcripts.NewHistory("y.json", "", "openai")
	empty.Root().Add(message(harSays("user", "Are you there?")))
	_, lost, err = WriteHistory(empty.History(), t.TempDir()+"/y.jsonl", transcripts.Header{Name: "y", By: "x"}, nil, nil)
	assert.ErrorIs(t, err, transcripts.ErrEmpty)
	assert.DeepEqual(t, lost, []string{"root: 1 message that no answer follows"})
}
