//go:build unix

package cli

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
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

// Ctrl-C ends the commands of all children with everything they started:
// afterwards not one of their process groups has a member.
func TestCtrlCLeavesNoProcessOfAnyChild(t *testing.T) {
	names := []string{"one", "two", "three"}
	p := newProcess(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		brief := briefOf.FindSubmatch(raw)
		if brief == nil {
			answerTasks(w)
			return
		}
		// The command writes down its process group, then waits for good, as does one that it started.
		command := "echo $$ > " + string(brief[1]) + ".pid; sleep 3600 & sleep 3600; true"
		answerCalls(w, callJSON("r_"+string(brief[1]), "run_bash", `{"command":"`+command+`"}`), 50, 40)
	}, append(recording, "--profile", "mini")...)
	assert.NilError(t, p.Start())
	for _, name := range names {
		for groupOf(p, name) == 0 {
			goruntime.Gosched()
		}
	}
	assert.NilError(t, p.Process.Signal(os.Interrupt))
	_ = p.Wait()
	assert.Equal(t, p.ProcessState.ExitCode(), exitInterrupted, p.stderr.String())
	var groups []int
	for _, name := range names {
		groups = append(groups, groupOf(p, name))
	}
	assert.DeepEqual(t, membersOf(t, groups), []string(nil))
}

// membersOf lists the processes of the groups that are alive; one that has
// ended and waits for its parent's look is not.
func membersOf(t *testing.T, groups []int) []string {
	t.Helper()
	list, err := exec.Command("ps", "-eo", "pgid=,stat=,args=").Output()
	assert.NilError(t, err)
	var members []string
	for _, line := range strings.Split(string(list), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[1], "Z") {
			continue
		}
		if group, err := strconv.Atoi(fields[0]); err == nil && slices.Contains(groups, group) {
			members = append(members, line)
		}
	}
	return members
}

// groupOf reads the process group that a child's command wrote down; 0 for none
// yet.
func groupOf(p *process, name string) int {
	data, err := os.ReadFile(filepath.Join(p.dir, "work", name+".pid"))
	if err != nil {
		return 0
	}
	group, _ := strconv.Atoi(strings.TrimSpace(string(data))) // a half-written file is read again
	return group
}
