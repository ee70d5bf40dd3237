package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// server answers like a model: the first request of a conversation with the
// given call, every later one with a text.
func server(t *testing.T, status int, call string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		switch {
		case status != http.StatusOK:
			fmt.Fprint(w, `{"error":{"message":"no such key"}}`)
		case strings.Contains(string(body), `"role":"tool"`) || call == "":
			fmt.Fprint(w, `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"All done."}}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}`)
		default:
			fmt.Fprintf(w, `{"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[%s]}}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`, call)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

const writeCall = `{"id":"call_00000001","type":"function","function":{"name":"write_file","arguments":"{\"path\":\"new.txt\",\"content\":\"x\"}"}}`

func TestRunRecordsWhatReplayGivesBack(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	code, stdout, stderr := run("run", "--dir", dir, "--workspace", work, "--prompt", "Write it", "--model", "m", "--base-url", server(t, 200, writeCall), "--stream=false", "--approve", "all", "--record", "first")
	scenario, transcript := filepath.Join(dir, "scenarios", "first.txtar"), filepath.Join(dir, "transcripts", "first.jsonl")
	assert.Equal(t, stderr, `root → write_file {"path":"new.txt","content":"x"}
root ← write_file allowed: Created new.txt: 1 byte.
root ends: answer after 2 turns, 8 input and 3 output tokens
model  input  output
m          8       3
own context of root  at most 5 tokens
wrote `+scenario+`
wrote `+transcript+`
replay it with: tapetree replay first
`)
	assert.Equal(t, stdout, "All done.\n")
	assert.Equal(t, code, 0)
	code, stdout, stderr = run("replay", "--dir", dir, "first")
	assert.Equal(t, stderr, "")
	assert.Assert(t, strings.HasSuffix(stdout, "1 passed, 0 failed, 0 errors\n"), stdout)
	assert.Equal(t, code, 0)
	// again: refused, and as a scenario of its own by record
	code, _, stderr = run("run", "--dir", dir, "--workspace", work, "--prompt", "Write it", "--record", "first")
	assert.Equal(t, stderr, "tapetree: "+scenario+" exists: choose another name, or record that scenario anew with `tapetree record first`\n")
	assert.Equal(t, code, 2)
	code, _, _ = run("record", "--dir", dir, "first", "--model", "m", "--base-url", server(t, 200, ""), "--stream=false", "-q")
	assert.Equal(t, code, 0)
}

func TestRunWithoutAPersonDeniesAndGoesOn(t *testing.T) {
	work := t.TempDir()
	code, stdout, stderr := run("run", "--workspace", work, "--prompt", "Write it", "--model", "m", "--base-url", server(t, 200, writeCall), "--stream=false")
	assert.Equal(t, stderr, `stdin is no terminal, so nobody can be asked: what needs approval is denied (--approve all allows it)
root → write_file {"path":"new.txt","content":"x"}
root ← write_file denied: Error [permission_denied]: Denied: nobody is there to ask
root ends: answer after 2 turns, 8 input and 3 output tokens
model  input  output
m          8       3
own context of root  at most 5 tokens
`)
	assert.Equal(t, stdout, "All done.\n")
	assert.Equal(t, code, 0)
	_, err := os.Stat(filepath.Join(work, "new.txt"))
	assert.Assert(t, os.IsNotExist(err))
}

func TestRunSaysWhyThereIsNoAnswer(t *testing.T) {
	base := []string{"run", "-q", "--workspace", t.TempDir(), "--prompt", "x", "--model", "m", "--stream=false", "--approve", "none", "--base-url"}
	code, stdout, stderr := run(append(base, server(t, 401, ""))...)
	assert.Equal(t, stderr, "tapetree: the model gave no answer: upstream answered 401 (status): {\"error\":{\"message\":\"no such key\"}}\n")
	assert.Equal(t, stdout, "")
	assert.Equal(t, code, 3)
	code, stdout, stderr = run(append(base, server(t, 200, writeCall), "--max-turns", "1")...)
	assert.Equal(t, stderr, "tapetree: ended without an answer: turn_limit after 1 turn\n")
	assert.Equal(t, stdout, "")
	assert.Equal(t, code, 1)
}
