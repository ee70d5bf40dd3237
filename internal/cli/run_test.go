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
wrote `+filepath.Join(dir, "golden", "first.txt")+`
replay it with: tapetree replay first --dir `+dir+`
`)
	assert.Equal(t, stdout, "All done.\n")
	assert.Equal(t, code, 0)
	code, stdout, stderr = run("replay", "--dir", dir, "first")
	assert.Equal(t, stderr, "")
	assert.Assert(t, strings.HasSuffix(stdout, "1 passed, 0 failed, 0 errors\n"), stdout)
	assert.Equal(t, code, 0)
	// again: refused, and as a scenario of its own by record
	code, _, stderr = run("run", "--dir", dir, "--workspace", work, "--prompt", "Write it", "--record", "first")
	assert.Equal(t, stderr, "tapetree: "+scenario+" exists: choose another name, or record that scenario anew with `tapetree record first --dir "+dir+"`\n")
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
	assert.Equal(t, stderr, "tapetree: the model gave no answer: upstream answered 401 (status): {\"error\":{\"message\":\"no such key\"}}; check OPENAI_API_KEY\n")
	assert.Equal(t, stdout, "")
	assert.Equal(t, code, 3)
	code, stdout, stderr = run(append(base, server(t, 200, writeCall), "--max-turns", "1")...)
	assert.Equal(t, stderr, "tapetree: ended without an answer: turn_limit after 1 turn\n")
	assert.Equal(t, stdout, "")
	assert.Equal(t, code, 1)
}

func TestAnUnreachableUpstreamIsNamedAndNothingIsWritten(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := run("run", "-q", "--dir", dir, "--workspace", t.TempDir(), "--prompt", "x", "--model", "m", "--approve", "none", "--record", "one", "--base-url", server(t, 404, ""))
	assert.Equal(t, stderr, "tapetree: the model gave no answer: upstream answered 404 (status): {\"error\":{\"message\":\"no such key\"}}; check the base URL, which often ends in /v1, and the model\n")
	assert.Equal(t, stdout, "")
	assert.Equal(t, code, 3)
	gone := httptest.NewServer(nil)
	gone.Close()
	code, _, stderr = run("run", "-q", "--dir", dir, "--workspace", t.TempDir(), "--prompt", "x", "--model", "m", "--approve", "none", "--record", "two", "--base-url", gone.URL)
	assert.Assert(t, strings.HasPrefix(stderr, "tapetree: the model gave no answer, and nothing is written: upstream dial: "), stderr)
	assert.Assert(t, strings.HasSuffix(stderr, "; check --base-url or OPENAI_BASE_URL\n"), stderr)
	assert.Equal(t, code, 3)
	_, err := os.Stat(filepath.Join(dir, "transcripts", "two.jsonl.partial"))
	assert.Assert(t, os.IsNotExist(err))
}

// TestASessionOfRunIsRecordedAnewInItsWorkspace: the scenario that run writes
// brings no workspace, so that record has to be told of one.
func TestASessionOfRunIsRecordedAnewInItsWorkspace(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(work, "a.txt"), []byte("alpha"), 0o644))
	const look = `{"id":"call_00000001","type":"function","function":{"name":"glob","arguments":"{\"pattern\":\"*\"}"}}`
	live := []string{"--dir", dir, "--model", "m", "--base-url", server(t, 200, look), "--stream=false", "--approve", "none"}
	code, _, stderr := run(append([]string{"run", "--workspace", work, "--prompt", "look", "--record", "first"}, live...)...)
	assert.Equal(t, code, 0, stderr)
	code, _, stderr = run(append([]string{"record", "first"}, live...)...)
	assert.Equal(t, code, 0, stderr)
	assert.Assert(t, strings.HasPrefix(stderr, "first brings no workspace: the agent starts in an empty folder (--workspace DIR gives it one of yours)\nroot → glob {\"pattern\":\"*\"}\nroot ← glob allowed: [nothing matches]\n"), stderr)
	code, _, stderr = run(append([]string{"record", "first", "--workspace", work}, live...)...)
	assert.Equal(t, code, 0, stderr)
	assert.Assert(t, strings.HasPrefix(stderr, "root → glob {\"pattern\":\"*\"}\nroot ← glob allowed: a.txt\n"), stderr)
	code, _, stderr = run("record", "first", "--dir", dir, "--workspace", filepath.Join(work, "none"))
	assert.Equal(t, stderr, "tapetree: --workspace "+filepath.Join(work, "none")+" is no folder\n")
	assert.Equal(t, code, 2)
	code, _, stderr = run("record", "b", "--dir", project(t), "--workspace", work)
	assert.Equal(t, stderr, "tapetree: --workspace is for a scenario that brings no workspace, and b brings one; see `tapetree record --help`\n")
	assert.Equal(t, code, 2)
}

// TestTheModelOfARecording: the scenario's own, else the caller's, else the one
// of the transcript that is recorded anew.
func TestTheModelOfARecording(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755))
	write := func(header string) {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "scenarios", "s.txtar"), []byte(header+"-- prompt --\nhi\n-- work/a.txt --\n"), 0o644))
	}
	for _, step := range []struct {
		header, flag string
		code         int
		want         string // the model asked, or what stderr ends with
	}{
		{"", "", 2, "tapetree: no model is named: pass --model or set OPENAI_MODEL; see `tapetree record --help`\n"},
		{"", "first", 0, "first"},
		{"", "", 0, "first"},
		{"", "second", 0, "second"},
		{"model: own\n", "", 0, "own"},
		{"model: own\n", "own", 0, "own"},
		{"model: own\n", "other", 2, "s.txtar names the model own: leave out --model, or change the scenario; see `tapetree record --help`\n"},
	} {
		write(step.header)
		code, _, stderr := run("record", "s", "--dir", dir, "--model", step.flag, "--base-url", server(t, 200, ""), "--stream=false", "--approve", "none")
		assert.Equal(t, code, step.code, stderr)
		if code != 0 {
			assert.Assert(t, strings.HasSuffix(stderr, step.want), stderr)
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "transcripts", "s.jsonl"))
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(data), `"models":["`+step.want+`"]`), "%s", data)
	}
}

// TestAScriptedScenarioAsksNobody: where the scenario answers, nothing is said
// of a person who is missing.
func TestAScriptedScenarioAsksNobody(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755))
	scenario := "-- prompt --\nwrite\n-- work/a.txt --\n-- approvals --\nroot#1.1 allow\n"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "scenarios", "s.txtar"), []byte(scenario), 0o644))
	code, _, stderr := run("record", "s", "--dir", dir, "--model", "m", "--base-url", server(t, 200, writeCall), "--stream=false")
	assert.Equal(t, code, 0, stderr)
	assert.Assert(t, strings.HasPrefix(stderr, "root → write_file {\"path\":\"new.txt\",\"content\":\"x\"}\nroot ← write_file allowed: Created new.txt: 1 byte.\n"), stderr)
}

func TestTheAnswerOnATerminalIsHarmlessAndElseAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"a line \n\ttab ⚠️ é␠": "a line \n\ttab ⚠️ é␠",
		"\x1b[31mred\r":        "‹ESC›[31mred‹CR›",
		"a\u202eb\x9f\xff":     "a‹U+202E›b‹x9F›‹xFF›",
		"":                     "",
	} {
		assert.Equal(t, harmless(text), want)
	}
}
