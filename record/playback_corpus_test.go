package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// corpusEntry is one request of a recorded run of a real client.
type corpusEntry struct {
	Agent           string
	URL             string
	Headers         map[string]string
	Status          int
	ResponseHeaders map[string]string
	Request         json.RawMessage
	Response        struct{ Text string }
}

func corpusRuns(t *testing.T) []string {
	t.Helper()
	runs, err := filepath.Glob("../../shared/data/attribution/*.jsonl.gz")
	assert.NilError(t, err)
	if len(runs) == 0 {
		t.Skip("../shared/data/attribution is not there: no recorded runs of real clients")
	}
	return runs
}

func readCorpus(t *testing.T, path string) []corpusEntry {
	t.Helper()
	packed, err := os.ReadFile(path)
	assert.NilError(t, err)
	unzip, err := gzip.NewReader(bytes.NewReader(packed))
	assert.NilError(t, err)
	dec := json.NewDecoder(unzip)
	var list []corpusEntry
	for {
		var e corpusEntry
		err := dec.Decode(&e)
		if err == io.EOF {
			return list
		}
		assert.NilError(t, err)
		list = append(list, e)
	}
}

func (e corpusEntry) request(t *testing.T) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://host"+e.URL, bytes.NewReader(e.Request))
	assert.NilError(t, err)
	for name, value := range e.Headers {
		if name != "content-length" && name != "content-encoding" {
			req.Header.Set(name, value)
		}
	}
	return req
}

// RoundTrip answers as was recorded.
func (e corpusEntry) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	h := http.Header{}
	for name, value := range e.ResponseHeaders {
		if name != "content-encoding" && name != "content-length" {
			h.Set(name, value)
		}
	}
	return &http.Response{StatusCode: e.Status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(e.Response.Text)), Request: req}, nil
}

// recordCorpus records a run, one request after the other.
func recordCorpus(t *testing.T, entries []corpusEntry) *transcripts.File {
	t.Helper()
	w, err := transcripts.Create(filepath.Join(t.TempDir(), "run.jsonl"), transcripts.Header{Name: "run", Recorded: "2026-01-02T03:04:05Z", By: "tapetree test"})
	assert.NilError(t, err)
	clock := time.Unix(0, 0)
	rec := NewRecorder(w, RecorderOptions{Attribute: &attribution.Options{}, Now: func() time.Time { clock = clock.Add(time.Millisecond); return clock }})
	for _, e := range entries {
		resp, err := rec.Transport(e).RoundTrip(e.request(t))
		assert.NilError(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		assert.NilError(t, resp.Body.Close())
	}
	f, err := rec.Close()
	assert.NilError(t, err)
	return f
}

// What real clients asked comes out exact when it is asked again, with the
// session headers that they send and without, and every request under the agent
// that it was recorded for.
func TestRecordedRunsReplayExactly(t *testing.T) {
	for _, run := range corpusRuns(t) {
		t.Run(strings.TrimSuffix(filepath.Base(run), ".jsonl.gz"), func(t *testing.T) {
			entries := readCorpus(t, run)
			f := recordCorpus(t, entries)
			redriven, err := Redrive(t.Context(), f, PlaybackOptions{})
			assert.NilError(t, err)
			assert.DeepEqual(t, redriven.Report, exactReport(len(f.Exchanges)))
			assert.DeepEqual(t, outline(redriven.Session), outline(f))

			p, err := NewPlayback(f, PlaybackOptions{})
			assert.NilError(t, err)
			for _, e := range entries {
				resp, err := p.RoundTrip(e.request(t))
				assert.NilError(t, err)
				body, _ := io.ReadAll(resp.Body)
				if string(body) != e.Response.Text { // frames were cut anew over a placeholder
					assert.DeepEqual(t, decoded(t, string(body)), decoded(t, e.Response.Text))
				}
			}
			again, err := p.Close()
			assert.NilError(t, err)
			if again.Grade == GradeVolatile { // where something of the machine or a secret was replaced
				delete(again.VolatileUses, usePlaceholders)
				again.Grade = Exact
			}
			assert.DeepEqual(t, again.Report, exactReport(len(f.Exchanges)))
			assert.DeepEqual(t, outline(again.Session), outline(f))

			for seed := range uint64(5) {
				report := replayInOrder(t, f, shuffledSiblings(t, f, seed))
				assert.DeepEqual(t, report.Report, exactReport(len(f.Exchanges)))
				assert.DeepEqual(t, outline(report.Session), outline(f))
			}
		})
	}
}

// decoded is the message that a stream carries.
func decoded(t *testing.T, body string) string {
	t.Helper()
	answer, err := runtime.Decode(&runtime.Response{Status: 200, Stream: true, Body: []byte(body), End: runtime.EndDone}, runtime.Dialect{})
	assert.NilError(t, err)
	return string(answer.Message.Raw)
}

// replayInOrder plays f to a client that asks in another order.
func replayInOrder(t *testing.T, f *transcripts.File, order []*transcripts.Exchange) *PlaybackReport {
	t.Helper()
	p, err := NewPlayback(f, PlaybackOptions{})
	assert.NilError(t, err)
	for _, e := range order {
		assert.NilError(t, p.redrive(t.Context(), e))
	}
	report, err := p.Close()
	assert.NilError(t, err)
	return report
}

// shuffledSiblings is an order in which the same requests could have come:
// neighbours of which neither agent stands below the other change places. Twins
// do not: their next requests would have to show each other's answers.
func shuffledSiblings(t *testing.T, f *transcripts.File, seed uint64) []*transcripts.Exchange {
	t.Helper()
	p, err := NewPlayback(f, PlaybackOptions{})
	assert.NilError(t, err)
	class := map[string]string{}
	for _, o := range p.placing.openings {
		class[string(o.agent)] = o.full
	}
	below := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(a, b+"~") }
	list := asSent(f)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 3 * len(list) {
		i := random.IntN(max(1, len(list)-1))
		if i+1 == len(list) {
			break
		}
		a, b := string(list[i].Agent), string(list[i+1].Agent)
		if !below(a, b) && !below(b, a) && class[a] != class[b] {
			list[i], list[i+1] = list[i+1], list[i]
		}
	}
	return list
}
