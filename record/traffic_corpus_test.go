package record

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// corpusRequest is one request of the corpus of real clients.
type corpusRequest struct {
	Agent           string            `json:"agent"` // the truth
	URL             string            `json:"url"`
	T0, T1          *float64          // nil: not known
	Headers         map[string]string `json:"headers"`
	Status          int               `json:"status"`
	ResponseHeaders map[string]string `json:"responseHeaders"`
	Request         json.RawMessage   `json:"request"`
	Response        struct {
		Text string `json:"text"`
	} `json:"response"`
}

// TestTheCorpusAsHARFiles imports recorded runs of real clients, whose agents
// are known, as a browser would have written them down: also without session
// headers, which is harder, the requests go to the agents that made them.
func TestTheCorpusAsHARFiles(t *testing.T) {
	files, err := filepath.Glob("../../shared/data/attribution/*.jsonl.gz")
	assert.NilError(t, err)
	if len(files) == 0 {
		t.Skip("the corpus of real clients is not beside this repository")
	}
	for _, file := range files {
		requests := corpusRequests(t, file)
		text := corpusHAR(t, requests)
		want := map[string]int{}
		for _, r := range requests {
			want[agentClass(r.Agent)]++
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			h, err := transcripts.OpenHAR("corpus.har", strings.NewReader(text), int64(len(text)))
			assert.NilError(t, err)
			path := filepath.Join(t.TempDir(), "corpus.jsonl")
			out, err := ImportTraffic(t.Context(), h, TrafficOptions{
				Attribute: attribution.Options{IgnoreSessionHeaders: true},
				Path:      func(string, bool) (string, error) { return path, nil },
			})
			assert.NilError(t, err)
			got := map[string]int{}
			for _, e := range out.Transcripts[0].Exchanges {
				got[agentClass(string(e.Agent))]++
			}
			assert.DeepEqual(t, got, want)
		})
	}
}

// agentClass is an agent's path as the corpus writes it: side conversations are
// one class, and so are children of no visible call.
func agentClass(agent string) string {
	if agent == "side" || strings.Contains(agent, "~") {
		return "side"
	}
	return regexp.MustCompile(`\?\d+`).ReplaceAllString(agent, "?")
}

func corpusRequests(t *testing.T, path string) []corpusRequest {
	t.Helper()
	f, err := os.Open(path)
	assert.NilError(t, err)
	defer f.Close()
	plain, err := gzip.NewReader(f)
	assert.NilError(t, err)
	var all []corpusRequest
	dec := json.NewDecoder(plain)
	for {
		var r corpusRequest
		err := dec.Decode(&r)
		if err == io.EOF {
			return all
		}
		assert.NilError(t, err)
		all = append(all, r)
	}
}

// corpusHAR writes requests as a HAR file. Where the times are not known, one
// follows another.
func corpusHAR(t *testing.T, requests []corpusRequest) string {
	t.Helper()
	pairs := func(of map[string]string) []map[string]string {
		list := []map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			list = append(list, map[string]string{"name": name, "value": of[name]})
		}
		return list
	}
	var entries []any
	for i, r := range requests {
		begin, took := 1e12+float64(i)*1000, 500.0
		if r.T0 != nil && r.T1 != nil {
			begin, took = *r.T0, *r.T1-*r.T0
		}
		entries = append(entries, map[string]any{
			"startedDateTime": time.UnixMilli(int64(begin)).UTC().Format("2006-01-02T15:04:05.000Z"), "time": took,
			"request":  map[string]any{"method": "POST", "url": "http://upstream.example" + r.URL, "headers": pairs(r.Headers), "postData": map[string]any{"text": string(r.Request)}},
			"response": map[string]any{"status": r.Status, "headers": pairs(r.ResponseHeaders), "content": map[string]any{"text": r.Response.Text}},
		})
	}
	text, err := json.Marshal(map[string]any{"log": map[string]any{"entries": entries}})
	assert.NilError(t, err)
	return string(text)
}
