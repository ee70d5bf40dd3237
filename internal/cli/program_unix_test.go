//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// TestCtrlCWhileAProgramIsRecordedKeepsWhatIsFinished: the signal is the
// program's, and what came of the answer that broke off is kept.
func TestCtrlCWhileAProgramIsRecordedKeepsWhatIsFinished(t *testing.T) {
	streaming := make(chan bool)
	p := newProcess(t, func(w http.ResponseWriter, r *http.Request) {
		if requestNumber(r) == 1 {
			callFrame(w, "call_look_1", "look", `{"at":"pears"}`)
			return
		}
		sayFrame(w, "Half an ans", "null")
		close(streaming)
		<-r.Context().Done()
	}, "record", "r", "--", "agent", "-stream", "Look into pears")
	assert.NilError(t, p.Start())
	<-streaming
	assert.NilError(t, p.Process.Signal(os.Interrupt))
	_ = p.Wait()
	assert.Equal(t, p.ProcessState.ExitCode(), 130, p.stderr.String())
	transcript, err := os.ReadFile(filepath.Join(p.dir, "transcripts", "r.jsonl"))
	assert.NilError(t, err)
	for _, want := range []string{`"code":130`, `"end":"client-closed"`, "Half an ans"} {
		assert.Assert(t, strings.Contains(string(transcript), want), want+"\n"+string(transcript))
	}
	assert.Assert(t, !strings.Contains(string(transcript), secretKey))
}

// serving is a tapetree that serves until it is interrupted.
type serving struct {
	*exec.Cmd
	url   string
	lines *bufio.Scanner // of its stderr
}

func startServer(t *testing.T, dir string, args ...string) *serving {
	t.Helper()
	s := &serving{Cmd: exec.Command("tapetree", args...)}
	s.Dir = dir
	s.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "HOME=" + dir, "CI=" + os.Getenv("CI")}
	stderr, err := s.StderrPipe()
	assert.NilError(t, err)
	s.Stdout = os.Stderr
	assert.NilError(t, s.Start())
	s.lines = bufio.NewScanner(stderr)
	assert.Assert(t, s.lines.Scan())
	s.url = strings.TrimPrefix(s.lines.Text(), "listening at ")
	return s
}

// end interrupts the server and returns its exit code.
func (s *serving) end(t *testing.T) int {
	t.Helper()
	assert.NilError(t, s.Process.Signal(syscall.SIGTERM))
	for s.lines.Scan() {
	}
	_ = s.Wait()
	return s.ProcessState.ExitCode()
}

// askIn runs the agent against one session of a server.
func askIn(url string, args ...string) (string, error) {
	cmd := exec.Command("agent", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "OPENAI_BASE_URL=" + url + "/v1"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestManySessionsOfProxyAndServe: what a proxy records of several sessions at
// once, a server gives back to several at once.
func TestManySessionsOfProxyAndServe(t *testing.T) {
	const sessions = 6
	t.Setenv("CI", "")
	dir := t.TempDir()
	all := func(url func(n int) string) {
		var group sync.WaitGroup
		for n := range sessions {
			group.Go(func() {
				out, err := askIn(url(n), fmt.Sprintf("How is the fruit of %d?", n))
				if err != nil || out != "Both are in good order.\n" {
					t.Errorf("session %d: %v\n%s", n, err, out)
				}
			})
		}
		group.Wait()
	}
	proxy := startServer(t, dir, "proxy", "main", "--upstream", newModel(t.Cleanup))
	all(func(n int) string { return fmt.Sprintf("%s/s/fruit-%d", proxy.url, n) })
	assert.Equal(t, proxy.end(t), exitOK)
	code, stdout, stderr := run("replay", "--dir", dir)
	assert.Equal(t, code, exitOK, stdout+stderr)
	assert.Assert(t, strings.HasSuffix(stdout, fmt.Sprintf("\n%d passed, 0 failed, 0 errors\n", sessions)), stdout)

	report := filepath.Join(dir, "report.json")
	serve := startServer(t, dir, "serve", "--format", "json", "--out", report)
	all(func(n int) string { return fmt.Sprintf("%s/s/fruit-%d@x", serve.url, n) })
	all(func(n int) string { return fmt.Sprintf("%s/s/fruit-%d", serve.url, n) })
	assert.Equal(t, serve.end(t), exitOK)
	text, err := os.ReadFile(report)
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(string(text), `"grade": "exact"`), 2*sessions, string(text))
	assert.Assert(t, strings.Contains(string(text), fmt.Sprintf(`"passed": %d,`, 2*sessions)), string(text))

	// One that asks otherwise fails the server's report.
	serve = startServer(t, dir, "serve", "fruit-1", "--out", report)
	_, err = askIn(serve.url, "-rewrite", "How is the fruit of 1?")
	assert.NilError(t, err)
	assert.Equal(t, serve.end(t), exitFindings)
	text, err = os.ReadFile(report)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(text), "replay/history root turn 2: "), string(text))

	// So does one that asks for a session that there is not.
	serve = startServer(t, dir, "serve", "fruit-1", "--out", report)
	_, err = askIn(serve.url+"/s/friut-1", "How is the fruit of 1?")
	assert.Assert(t, err != nil)
	assert.Equal(t, serve.end(t), exitFindings)
	text, err = os.ReadFile(report)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(text), "there is no transcript friut-1; there are: fruit-1"), string(text))

	// One that nobody asks says so.
	serve = startServer(t, dir, "serve", "fruit-1", "--out", report)
	assert.NilError(t, serve.Process.Signal(syscall.SIGTERM))
	said := ""
	for serve.lines.Scan() {
		said += serve.lines.Text() + "\n"
	}
	_ = serve.Wait()
	assert.Equal(t, serve.ProcessState.ExitCode(), exitOK)
	assert.Assert(t, strings.Contains(said, "\nnobody asked: no request for a model answer came, and nothing was judged\n"), said)
}

// A session of a proxy in which no model answered, or whose golden history
// nobody would look at, takes the place of no older recording.
func TestProxyKeepsOlderRecordings(t *testing.T) {
	t.Setenv("CI", "")
	dir, model := t.TempDir(), newModel(t.Cleanup)
	proxy := startServer(t, dir, "proxy", "main", "--upstream", model)
	_, err := askIn(proxy.url, "How is the fruit?")
	assert.NilError(t, err)
	assert.Equal(t, proxy.end(t), exitOK)
	transcript := filepath.Join(dir, "transcripts", "main.jsonl")
	before, err := os.ReadFile(transcript)
	assert.NilError(t, err)

	proxy = startServer(t, dir, "proxy", "main", "--upstream", model+"/closed")
	_, err = askIn(proxy.url, "How is the fruit?")
	assert.Assert(t, err != nil)
	assert.Equal(t, proxy.end(t), exitCannotRun)
	t.Setenv("CI", "1")
	proxy = startServer(t, dir, "proxy", "main", "--upstream", model)
	out, err := askIn(proxy.url, "How is the fruit?")
	assert.Assert(t, err != nil)
	assert.Assert(t, strings.Contains(out, "is refused because CI is set"), out)
	assert.Equal(t, proxy.end(t), exitCannotRun)
	after, err := os.ReadFile(transcript)
	assert.NilError(t, err)
	assert.Equal(t, string(after), string(before))
	_, err = os.Lstat(transcript + ".partial")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// What a killed proxy leaves can be shown: all that was finished.
func TestShowOfAKilledProxy(t *testing.T) {
	dir := t.TempDir()
	proxy := startServer(t, dir, "proxy", "main", "--upstream", newModel(t.Cleanup))
	_, err := askIn(proxy.url, "How is the fruit?")
	assert.NilError(t, err)
	assert.NilError(t, proxy.Process.Kill())
	for proxy.lines.Scan() {
	}
	_ = proxy.Wait()
	code, stdout, stderr := run("show", filepath.Join(dir, "transcripts", "main.jsonl.partial"))
	assert.Equal(t, code, exitOK, stderr)
	assert.Assert(t, strings.HasPrefix(stdout, "# transcript main: a program that does not name itself, model scripted, "), stdout)
	assert.Assert(t, strings.Contains(stdout, "upstream not known\n"), stdout)
	assert.Assert(t, strings.Contains(stdout, "\n# partial: the recording broke off\n"), stdout)
}

// dieOfInterrupt ends the program as Ctrl-C does.
func dieOfInterrupt() {
	signal.Reset(os.Interrupt)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	select {}
}
