//go:build unix

package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// answerTasks hands out three tasks at once.
func answerTasks(w http.ResponseWriter) {
	var calls []string
	for _, name := range []string{"one", "two", "three"} {
		calls = append(calls, callJSON("t_"+name, "task", `{"description":"`+name+`","prompt":"brief `+name+`"}`))
	}
	answerCalls(w, strings.Join(calls, ","), 50, 40)
}

// interruptAfter sends a Ctrl-C when all have asked, and waits for the end of a
// recording that replays.
func (p *process) interruptAfter(t *testing.T, asked *sync.WaitGroup, stderr io.Reader) {
	t.Helper()
	go func() {
		asked.Wait()
		_ = p.Process.Signal(os.Interrupt)
	}()
	said, err := io.ReadAll(stderr)
	assert.NilError(t, err)
	_ = p.Wait()
	assert.Equal(t, p.ProcessState.ExitCode(), exitInterrupted, string(said))
	assert.Assert(t, !strings.Contains(string(said), "the replay differs"), string(said))
}

// Three children are cut off in one moment: two within an answer, one before the
// first byte of its second try. What they had written by then is in their reports, and the
// replay is cut off at the same points and reports the same.
func TestCtrlCInTheAnswersOfChildrenReplays(t *testing.T) {
	var asked sync.WaitGroup
	asked.Add(3)
	var mu sync.Mutex
	tries := 0
	p := newProcess(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body := string(raw)
		brief := briefOf.FindStringSubmatch(body)
		if brief == nil {
			answerTasks(w)
			return
		}
		if brief[1] == "three" {
			mu.Lock()
			tries++
			first := tries == 1
			mu.Unlock()
			if first {
				sayFrame(w, "First of three", "null")
				return
			}
		} else {
			sayFrame(w, "Half of "+brief[1], "null")
		}
		asked.Done()
		<-r.Context().Done()
	}, append(recording, "--profile", "mini")...)
	stderr, err := p.readStderr()
	assert.NilError(t, err)
	assert.NilError(t, p.Start())
	p.interruptAfter(t, &asked, stderr)
	golden, err := os.ReadFile(filepath.Join(p.dir, "golden", "r.txt"))
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(golden), "      | First of three"), string(golden))
	p.replays(t)
	code, stdout, news := run("replay", "--dir", p.dir, "--shuffle", "5")
	assert.Equal(t, code, 0, stdout+news)
}

// A session that is interrupted holds the children that had a place by then. Its
// replay gives as many a place, whatever --child-jobs says.
func TestAnInterruptedSessionKeepsItsPlaces(t *testing.T) {
	for recorded, asking := range map[string]int{"2": 2, "8": 3} {
		var asked sync.WaitGroup
		asked.Add(asking)
		p := newProcess(t, func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			if briefOf.FindSubmatch(raw) == nil {
				answerTasks(w)
				return
			}
			asked.Done()
			<-r.Context().Done()
		}, append(recording, "--profile", "mini", "--child-jobs", recorded)...)
		stderr, err := p.readStderr()
		assert.NilError(t, err)
		assert.NilError(t, p.Start())
		p.interruptAfter(t, &asked, stderr)
		for _, jobs := range []string{"1", "2", "8"} {
			code, stdout, news := run("replay", "--dir", p.dir, "--child-jobs", jobs)
			assert.Equal(t, code, 0, stdout+news)
		}
	}
}
