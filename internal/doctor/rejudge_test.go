package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// The paths and bodies of one question on each wire.
var questions = []struct{ path, body, answer string }{
	{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"id=%s"}]}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"chat"},"finish_reason":"stop"}]}`},
	{"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"id=%s, please"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"text","text":"messages"}],"stop_reason":"end_turn"}`},
	{"/v1/responses", `{"model":"m","input":"id=%s, now"}`,
		`{"id":"r1","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"responses"}]}],"status":"completed"}`},
}

// ask puts every question, with an id in it.
func ask(t *testing.T, client http.RoundTripper, url, id string) {
	t.Helper()
	for _, q := range questions {
		resp, err := (&http.Client{Transport: client}).Post(url+q.path, "application/json", strings.NewReader(fmt.Sprintf(q.body, id)))
		assert.NilError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		assert.NilError(t, err)
		assert.Equal(t, resp.StatusCode, http.StatusOK)
		assert.NilError(t, resp.Body.Close())
	}
}

// sessions records the questions and asks them once more for each id.
func sessions(t *testing.T, ids ...string) (recorded *transcripts.File, runs []*transcripts.File) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, q := range questions {
			if q.path == r.URL.Path {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, q.answer)
			}
		}
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	tape, err := record.Create(path, record.TapeOptions{Environ: []string{}})
	assert.NilError(t, err)
	ask(t, tape, server.URL, "0a0b0c")
	assert.NilError(t, tape.Close())
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	recorded, err = transcripts.Parse("s.jsonl", data)
	assert.NilError(t, err)
	for _, id := range ids {
		tape, err := record.Open(path, record.TapeOptions{Environ: []string{}})
		assert.NilError(t, err)
		ask(t, tape, server.URL, id)
		_ = tape.Close() // it tells of the ids
		runs = append(runs, tape.Report().Session)
	}
	return recorded, runs
}

// TestTheRulesAreTriedOnWhatTheRunsAsked goes the whole way, on all wires.
func TestTheRulesAreTriedOnWhatTheRunsAsked(t *testing.T) {
	recorded, runs := sessions(t, "111111", "22aa22")
	d, err := Analyse(Collect(recorded, runs...), nil)
	assert.NilError(t, err)
	assert.Equal(t, rendered(d), `token 3 /\bid=([0-9a-f]{6})\b/`)
	for _, run := range runs {
		without, err := Rejudge(t.Context(), recorded, run, nil)
		assert.NilError(t, err)
		assert.Equal(t, without.Grade, record.GradeHistory)
		assert.Equal(t, without.Used, len(questions))
		with, err := Rejudge(t.Context(), recorded, run, d.Lines())
		assert.NilError(t, err)
		assert.Equal(t, with.Grade, record.GradeVolatile)
		assert.Equal(t, len(with.Findings), 0)
	}
}

func TestRejudgeThatCannot(t *testing.T) {
	recorded, runs := sessions(t, "111111")
	_, err := Rejudge(t.Context(), recorded, runs[0], []string{"datse"})
	assert.ErrorContains(t, err, `parse volatile rule "datse"`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Rejudge(ctx, recorded, runs[0], nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "send root")
}
