//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

const secretKey = "sk-Zq8vT2LmN4pR7sWxY1aB3cD5eF"

// process is tapetree as a program of its own, in an empty project.
type process struct {
	*exec.Cmd
	dir, temp      string
	stdout, stderr bytes.Buffer
}

func newProcess(t *testing.T, handle http.HandlerFunc, args ...string) *process {
	t.Helper()
	upstream := httptest.NewServer(handle)
	t.Cleanup(upstream.Close)
	p := &process{Cmd: exec.Command("tapetree", args...), dir: t.TempDir(), temp: t.TempDir()}
	p.Dir = p.dir
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + p.temp,
		"OPENAI_BASE_URL=" + upstream.URL + "/v1", "OPENAI_MODEL=m", "OPENAI_API_KEY=" + secretKey}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	assert.NilError(t, os.Mkdir(filepath.Join(p.dir, "work"), 0o755))
	return p
}

// recording is what most of the tests below run.
var recording = []string{"run", "--prompt", "Go on", "--workspace", "work", "--approve", "all", "--record", "r"}

// replays checks that what was recorded replays, and that no folder is left.
func (p *process) replays(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(p.temp)
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0, "%v", left)
	code, stdout, stderr := run("replay", "--dir", p.dir)
	assert.Equal(t, code, 0, stdout+stderr)
}

// frame is one event of a stream: a choice.
func frame(w http.ResponseWriter, choice string) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	fmt.Fprintf(w, "data: {\"choices\":[%s]}\n\n", choice)
	w.(http.Flusher).Flush()
}

func sayFrame(w http.ResponseWriter, text, finish string) {
	frame(w, fmt.Sprintf(`{"index":0,"delta":{"content":%q},"finish_reason":%s}`, text, finish))
}

func callFrame(w http.ResponseWriter, id, name, arguments string) {
	frame(w, fmt.Sprintf(`{"index":0,"delta":{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]},"finish_reason":"tool_calls"}`, id, name, arguments))
}

// requestNumber is which request of a session without children this is.
func requestNumber(r *http.Request) int {
	body, _ := io.ReadAll(r.Body)
	return 1 + strings.Count(string(body), `"role":"tool"`)
}

func TestCtrlCKeepsWhatIsFinishedAndLeavesNothing(t *testing.T) {
	for _, sent := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		streaming := make(chan bool)
		p := newProcess(t, func(w http.ResponseWriter, r *http.Request) {
			if requestNumber(r) == 1 {
				callFrame(w, "call_1", "glob", `{"pattern":"*"}`)
				return
			}
			sayFrame(w, "Half an ans", "null")
			close(streaming)
			<-r.Context().Done()
		}, recording...)
		assert.NilError(t, p.Start())
		<-streaming
		assert.NilError(t, p.Process.Signal(sent))
		_ = p.Wait()
		assert.Equal(t, p.ProcessState.ExitCode(), exitInterrupted, p.stderr.String())
		assert.Assert(t, strings.HasSuffix(p.stderr.String(), "\ntapetree: interrupted\n"), p.stderr.String())
		p.replays(t)
	}
}

// The second Ctrl-C quits in the middle of a command that a tool runs; its
// session is kept as far as it came.
func TestTheSecondCtrlCLeavesNothingToo(t *testing.T) {
	p := newProcess(t, func(w http.ResponseWriter, _ *http.Request) {
		callFrame(w, "call_1", "shell", `{"command":"trap '' TERM INT; echo > started; sleep 600 & wait"}`)
	}, recording...)
	stderr, err := p.readStderr()
	assert.NilError(t, err)
	assert.NilError(t, p.Start())
	readUntil(t, stderr, "root → shell")
	assert.NilError(t, p.Process.Signal(os.Interrupt))
	readUntil(t, stderr, "interrupted: ending the session")
	_ = p.Process.Signal(os.Interrupt) // it may have ended by now
	_, _ = io.Copy(io.Discard, stderr)
	_ = p.Wait()
	assert.Equal(t, p.ProcessState.ExitCode(), exitInterrupted)
	left, err := os.ReadDir(p.temp)
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0, "%v", left)
}

// readStderr gives stderr to the caller.
func (p *process) readStderr() (io.Reader, error) {
	p.Stderr = nil
	return p.StderrPipe()
}

// readUntil reads until text came.
func readUntil(t *testing.T, from io.Reader, text string) {
	t.Helper()
	var got strings.Builder
	for buf := make([]byte, 1); !strings.Contains(got.String(), text); {
		_, err := from.Read(buf)
		assert.NilError(t, err, got.String())
		got.Write(buf)
	}
}

// Whoever watched stderr may go away; the recording goes on.
func TestARecordingOutlivesTheReaderOfItsNews(t *testing.T) {
	gone := make(chan bool)
	p := newProcess(t, func(w http.ResponseWriter, r *http.Request) {
		if requestNumber(r) < 4 {
			if requestNumber(r) == 2 {
				<-gone
			}
			callFrame(w, fmt.Sprintf("call_%d", requestNumber(r)), "glob", `{"pattern":"*"}`)
			return
		}
		sayFrame(w, "Done.", `"stop"`)
	}, recording...)
	reader, err := p.readStderr()
	assert.NilError(t, err)
	assert.NilError(t, p.Start())
	readUntil(t, reader, "root ← glob")
	assert.NilError(t, reader.(io.Closer).Close())
	close(gone)
	assert.NilError(t, p.Wait())
	assert.Equal(t, p.stdout.String(), "Done.\n")
	p.replays(t)
}

// An upstream that gives the key back in every way reaches neither the disk nor
// the terminal with it.
func TestTheKeyReachesNoFileAndNoTerminal(t *testing.T) {
	half := len(secretKey) / 2
	answers := map[string]func(w http.ResponseWriter, n int){
		"text": func(w http.ResponseWriter, _ int) { sayFrame(w, "It is "+secretKey, `"stop"`) },
		"text in two frames": func(w http.ResponseWriter, _ int) {
			sayFrame(w, "It is "+secretKey[:half], "null")
			sayFrame(w, secretKey[half:]+".", `"stop"`)
		},
		"a call": func(w http.ResponseWriter, n int) {
			if n > 1 {
				sayFrame(w, "Done.", `"stop"`)
				return
			}
			callFrame(w, secretKey, "shell", `{"command":"echo `+secretKey+` | tee file"}`)
		},
		"a call's name": func(w http.ResponseWriter, n int) {
			if n > 1 {
				sayFrame(w, "Done.", `"stop"`)
				return
			}
			callFrame(w, "call_1", secretKey, `{}`)
		},
		"headers": func(w http.ResponseWriter, _ int) {
			w.Header().Set("X-Request-Id", secretKey)
			w.Header().Set("Openai-Version", secretKey)
			w.Header().Set("Retry-After", secretKey)
			sayFrame(w, "Done.", `"stop"`)
		},
		"an error": func(w http.ResponseWriter, _ int) {
			http.Error(w, `{"error":"no such key: `+secretKey+`"}`, http.StatusUnauthorized)
		},
		"an error in the stream": func(w http.ResponseWriter, _ int) {
			fmt.Fprintf(w, "event: error\ndata: {\"message\":\"no such key: %s\"}\n\n", secretKey)
		},
		"a redirection": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Location", "http://127.0.0.1:9/?key="+secretKey)
			w.WriteHeader(http.StatusFound)
		},
		"a coding that is none": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "\xff"+secretKey)
		},
		"no UTF-8": func(w http.ResponseWriter, _ int) { http.Error(w, "\xff"+secretKey, http.StatusBadRequest) },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, func(w http.ResponseWriter, r *http.Request) { answer(w, requestNumber(r)) }, recording...)
			_ = p.Run()
			assert.Assert(t, !strings.Contains(p.stdout.String()+p.stderr.String(), secretKey), "%s%s", &p.stdout, &p.stderr)
			for path, text := range filesBelow(t, p.dir) {
				assert.Assert(t, strings.HasPrefix(path, "work/") || !strings.Contains(text, secretKey), path)
			}
			p.replays(t)
		})
	}
}

// filesBelow returns the content of every file below dir.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	assert.NilError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return found
}

// What a scenario and a snapshot hold is the very text, so a secret is refused
// there.
func TestASecretInThePromptOrTheSnapshotIsRefused(t *testing.T) {
	asked := func(http.ResponseWriter, *http.Request) { t.Error("the model was asked") }
	for _, c := range []struct{ prompt, file, want string }{
		{"Use " + secretKey, "x", "tapetree: bad input: a secret (env) stands in the prompt, and would in scenarios/r.txtar: leave it out, or run without --record\n"},
		{"Go on", "KEY=" + secretKey, "tapetree: bad input: a secret (env) stands in .env, and would in the snapshot: move that file out of the workspace, or record without --snapshot\n"},
	} {
		p := newProcess(t, asked, "run", "--prompt", c.prompt, "--workspace", "work", "--approve", "all", "--record", "r", "--snapshot")
		assert.NilError(t, os.WriteFile(filepath.Join(p.dir, "work", ".env"), []byte(c.file), 0o600))
		_ = p.Run()
		assert.Equal(t, p.stderr.String(), c.want)
		assert.Equal(t, p.ProcessState.ExitCode(), exitUsage)
		assert.DeepEqual(t, len(filesBelow(t, p.dir)), 1)
	}
}
