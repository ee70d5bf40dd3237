package transcripts

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// killedWriter names the file that a child process of the test writes to until
// it is killed.
const killedWriter = "TAPETREE_TEST_KILLED_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedWriter); path != "" {
		writeUntilKilled(path)
	}
	os.Exit(m.Run())
}

// writeUntilKilled records a session again and again under new paths and tells
// after each exchange that it is written.
func writeUntilKilled(path string) {
	f := longSession(0, 30)
	w, err := Create(path, f.Header)
	for turn := 1; err == nil; turn++ {
		x := *f.Exchanges[turn%len(f.Exchanges)]
		x.Turn = turn
		if err = w.Exchange(&x); err == nil {
			fmt.Println(turn)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestKilledRecordingKeepsEveryFinishedExchange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	program, err := os.Executable()
	assert.NilError(t, err)
	child := exec.Command(program)
	child.Env = append(os.Environ(), killedWriter+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, child.Start())
	told := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if told++; told == 100 {
			assert.NilError(t, child.Process.Kill())
		}
	}
	assert.ErrorContains(t, child.Wait(), "") // killed

	f, err := Parse("p", []byte(readText(t, path+".partial")))
	assert.NilError(t, err)
	assert.Assert(t, f.Partial())
	assert.Assert(t, len(f.Exchanges) >= told && told >= 100, "%d exchanges, %d told", len(f.Exchanges), told)

	w, err := Create(path, Header{Name: "a", By: "tapetree v0"}) // the lock went with its owner
	assert.NilError(t, err)
	assert.Equal(t, filepath.Base(w.Leftover()), "a.1.partial")
	_, err = w.Keep()
	assert.NilError(t, err)
}
