package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
	"gotest.tools/v3/assert"
)

// screenOf is a program on a terminal of its own.
type screenOf struct {
	*exec.Cmd
	keys *os.File // what is typed

	mu    sync.Mutex
	shown bytes.Buffer
	ended chan struct{} // all that was shown has been read
}

// Wait waits for the end of the program and of what it showed.
func (s *screenOf) Wait() error {
	err := s.Cmd.Wait()
	<-s.ended
	return err
}

// onTerminal starts tapetree with a terminal as its stdin and stdout.
func onTerminal(t *testing.T, dir string, args ...string) *screenOf {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	fd := int(master.Fd())
	assert.NilError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	assert.NilError(t, err)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	assert.NilError(t, err)
	s := &screenOf{Cmd: exec.Command("tapetree", args...), keys: master, ended: make(chan struct{})}
	s.Dir, s.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + t.TempDir(), "TERM=xterm"}
	s.Stdin, s.Stdout, s.Stderr = terminal, terminal, terminal
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	assert.NilError(t, s.Start())
	assert.Assert(t, term.IsTerminal(int(terminal.Fd())))
	_ = terminal.Close() // the child has it
	go func() {
		defer close(s.ended) // the terminal gives an error once nobody has it open
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			s.mu.Lock()
			s.shown.Write(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = s.Process.Kill(); _ = master.Close() })
	return s
}

// press waits for the n-th question and types a key.
func (s *screenOf) press(t *testing.T, n int, key string) {
	t.Helper()
	for range 3000 { // 30 s on a busy machine
		s.mu.Lock()
		asked := strings.Count(s.shown.String(), " > ")
		s.mu.Unlock()
		if asked >= n {
			_, err := s.keys.WriteString(key)
			assert.NilError(t, err)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("question %d did not come:\n%s", n, s.text())
}

func (s *screenOf) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.shown.String(), "\r\n", "\n")
}

// reviewed is a project with three histories that wait: two of one kind.
func reviewed(t *testing.T) (dir string, contents func() map[string]string) {
	t.Helper()
	dir = t.TempDir()
	code, _, stderr := run("init", "--dir", dir)
	assert.Equal(t, code, 0, stderr)
	golden := filepath.Join(dir, "golden")
	text := map[string]string{"a.txt": "one\n", "a.txt.new": "two\n", "b.txt": "x\none\n", "b.txt.new": "x\n  two\n", "c.txt": "one\n", "c.txt.new": "three\n"}
	for name, text := range text {
		assert.NilError(t, os.WriteFile(filepath.Join(golden, name), []byte(text), 0o644))
	}
	return dir, func() map[string]string {
		got := map[string]string{}
		entries, err := os.ReadDir(golden)
		assert.NilError(t, err)
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), "isolation") {
				data, err := os.ReadFile(filepath.Join(golden, entry.Name()))
				assert.NilError(t, err)
				got[entry.Name()] = string(data)
			}
		}
		return got
	}
}

// TestReviewTakesSingleKeys: no line end is waited for, an arrow is no letter,
// and undo goes as far back as one likes.
func TestReviewTakesSingleKeys(t *testing.T) {
	dir, contents := reviewed(t)
	before := contents()
	s := onTerminal(t, dir, "review")
	s.press(t, 1, "r")
	s.press(t, 2, "\x1b[A")
	s.press(t, 2, "u")
	s.press(t, 3, "s")
	s.press(t, 4, "u")
	waitForFiles(t, contents, before)
	s.press(t, 5, "A") // a and b
	s.press(t, 6, "u")
	waitForFiles(t, contents, before)
	s.press(t, 7, "A")
	s.press(t, 8, "r")
	s.press(t, 9, "q")
	err := s.Wait()
	assert.NilError(t, err, s.text())
	assert.DeepEqual(t, contents(), map[string]string{"a.txt": "two\n", "b.txt": "x\n  two\n", "c.txt": "one\n"})
	text := s.text()
	for _, want := range []string{", A all 2 of this kind,", "rejected golden/a.txt.new\n", "undone: golden/a.txt: -1 +1 lines\n", "2 accepted, 1 rejected, 0 skipped\n", "\x1b[32m+two\x1b[0m\n"} {
		assert.Assert(t, strings.Contains(text, want), "%q is missing:\n%s", want, text)
	}
}

func waitForFiles(t *testing.T, contents func() map[string]string, want map[string]string) {
	t.Helper()
	for range 3000 {
		if got := contents(); fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	assert.DeepEqual(t, contents(), want)
}

// TestReviewAsksAnewWhatChangedMeanwhile and keeps decisions on Ctrl-C, which a
// raw terminal gives as a key.
func TestReviewAsksAnewWhatChangedMeanwhileAndKeepsDecisionsOnCtrlC(t *testing.T) {
	dir, contents := reviewed(t)
	s := onTerminal(t, dir, "review")
	s.press(t, 1, "a")
	s.press(t, 2, "") // the second one is shown
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "golden", "b.txt"), []byte("mine\n"), 0o644))
	s.press(t, 2, "a")
	s.press(t, 3, "\x03")
	err := s.Wait()
	assert.Equal(t, s.ProcessState.ExitCode(), 130, "%v\n%s", err, s.text())
	assert.DeepEqual(t, contents(), map[string]string{"a.txt": "two\n", "b.txt": "mine\n", "b.txt.new": "x\n  two\n", "c.txt": "one\n", "c.txt.new": "three\n"})
	text := s.text()
	for _, want := range []string{"it was changed in the meantime: golden/b.txt: look again\n", "\x1b[31m-mine\x1b[0m\n", "tapetree: interrupted: 1 accepted, 0 rejected, 0 skipped, 2 not decided\n"} {
		assert.Assert(t, strings.Contains(text, want), "%q is missing:\n%s", want, text)
	}
}
