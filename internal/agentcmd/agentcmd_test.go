package agentcmd

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

// TestMain makes the test binary the programs that the tests run: what it does
// is said by the environment.
func TestMain(m *testing.M) {
	if play := plays[os.Getenv("AGENTCMD_PLAY")]; play != nil {
		os.Exit(play())
	}
	os.Exit(m.Run())
}

var plays = map[string]func() int{
	"exit 7": func() int { return 7 },
	"echo": func() int {
		_, _ = io.Copy(os.Stdout, os.Stdin)
		_, _ = os.Stderr.WriteString("words for stderr\n")
		return 0
	},
	"where": func() int {
		dir, _ := os.Getwd()
		_, _ = os.Stdout.WriteString(dir)
		return 0
	},
	"get": func() int { // asks the listener, then tries the address that it must not reach
		response, err := http.Get(os.Getenv("TAPETREE_URL"))
		if err != nil {
			_, _ = os.Stdout.WriteString(err.Error())
			return 1
		}
		_, _ = io.Copy(os.Stdout, response.Body)
		if _, err := net.Dial("tcp", os.Getenv("AGENTCMD_OTHER")); err != nil {
			_, _ = os.Stdout.WriteString(", no other host")
		}
		return 0
	},
}

// play is a command that does what the named play does.
func play(t *testing.T) Command {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	return Command{Args: []string{self}}
}

func environFor(play string) []string { return append(os.Environ(), "AGENTCMD_PLAY="+play) }

func prepare(t *testing.T, c Command) *Agent {
	t.Helper()
	agent, err := Prepare(c)
	assert.NilError(t, err)
	t.Cleanup(agent.Close)
	return agent
}

func TestStreamsAndTheExitCodePassThrough(t *testing.T) {
	var stdout, stderr bytes.Buffer
	command := play(t)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader("words"), &stdout, &stderr
	code, err := prepare(t, command).Run(t.Context(), environFor("echo"))
	assert.NilError(t, err)
	assert.DeepEqual(t, []any{code, stdout.String(), stderr.String()}, []any{0, "words", "words for stderr\n"})

	code, err = prepare(t, play(t)).Run(t.Context(), environFor("exit 7"))
	assert.NilError(t, err)
	assert.Equal(t, code, 7)
}

func TestTheCommandRunsWhereItIsTold(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	var stdout bytes.Buffer
	command := play(t)
	command.Dir, command.Stdout = dir, &stdout
	_, err = prepare(t, command).Run(t.Context(), environFor("where"))
	assert.NilError(t, err)
	assert.Equal(t, stdout.String(), dir)
}

func TestAProgramThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644))
	for name, test := range map[string]struct {
		command Command
		want    string
	}{
		"no such name":    {Command{Args: []string{"no-such-program-anywhere"}}, "cannot run the command: there is no program no-such-program-anywhere"},
		"no such path":    {Command{Args: []string{"./agent"}, Dir: dir}, "cannot run the command: there is no program ./agent"},
		"all in one word": {Command{Args: []string{"no-such-program a.py"}}, `cannot run the command: there is no program "no-such-program a.py"; did you mean its words: -- no-such-program a.py`},
		"no program":      {Command{}, "cannot run the command: no program is named"},
		"no right to it":  {Command{Args: []string{"./notes.txt"}, Dir: dir}, "cannot run the command: ./notes.txt: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Prepare(test.command)
			assert.Error(t, err, test.want)
			assert.ErrorIs(t, err, ErrNotFound)
		})
	}
}

// serve answers every request at the listener, and gives the address of a
// listener of this host.
func serve(t *testing.T, l net.Listener) (host string) {
	t.Helper()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "it is us") })}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	other, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = other.Close() })
	return other.Addr().String()
}

func TestOnlyAnOfflineCommandCannotReachOtherHosts(t *testing.T) {
	for want, offline := range map[string]bool{"it is us": false, "it is us, no other host": true} {
		t.Run(want, func(t *testing.T) {
			var stdout bytes.Buffer
			command := play(t)
			command.Stdout, command.Offline = &stdout, offline
			agent := prepareOffline(t, command)
			other := serve(t, agent.Listener())
			environ := Environ(append(environFor("get"), "AGENTCMD_OTHER="+other), "http://"+agent.Listener().Addr().String(), true)
			code, err := agent.Run(t.Context(), environ)
			assert.NilError(t, err)
			assert.DeepEqual(t, []any{code, stdout.String()}, []any{0, want})
		})
	}
}

// prepareOffline skips the test where a program cannot have a network of its
// own.
func prepareOffline(t *testing.T, command Command) *Agent {
	t.Helper()
	agent, err := Prepare(command)
	if command.Offline && err != nil {
		assert.ErrorIs(t, err, ErrNoNetwork)
		t.Skip(err)
	}
	assert.NilError(t, err)
	t.Cleanup(agent.Close)
	return agent
}

func TestAnOfflineCommandThatCannotBegin(t *testing.T) {
	script := filepath.Join(t.TempDir(), "agent")
	assert.NilError(t, os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755))
	agent := prepareOffline(t, Command{Args: []string{script}, Offline: true})
	_, err := agent.Run(t.Context(), os.Environ())
	assert.Error(t, err, "cannot run the command: "+script+": no such file or directory")
}

func TestEnviron(t *testing.T) {
	base := []string{"PATH=/bin", "OPENAI_API_KEY=sk-real", "GROQ_API_KEY=gsk-real", "HF_TOKEN=hf-real", "EMPTY_API_KEY=", "OPENAI_BASE_URL=https://real", "no_proxy=corp"}
	pointed := []string{
		"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_BASE=http://127.0.0.1:1/v1", "OPENAI_BASE=http://127.0.0.1:1/v1", "OPENAI_API_BASE_URL=http://127.0.0.1:1/v1",
		"TAPETREE_URL=http://127.0.0.1:1", "OPENAI_HOST=http://127.0.0.1:1",
		"ANTHROPIC_BASE_URL=http://127.0.0.1:1", "ANTHROPIC_API_URL=http://127.0.0.1:1", "ANTHROPIC_API_BASE=http://127.0.0.1:1", "ANTHROPIC_HOST=http://127.0.0.1:1",
	}
	direct := []string{"NO_PROXY=corp,127.0.0.1,localhost", "no_proxy=corp,127.0.0.1,localhost"}
	record := append(append([]string{"PATH=/bin", "OPENAI_API_KEY=sk-real", "GROQ_API_KEY=gsk-real", "HF_TOKEN=hf-real", "EMPTY_API_KEY="}, pointed...), direct...)
	replay := append(append([]string{"PATH=/bin", "GROQ_API_KEY=" + OfflineKey, "HF_TOKEN=" + OfflineKey, "EMPTY_API_KEY="}, pointed...),
		append([]string{"OPENAI_API_KEY=" + OfflineKey, "ANTHROPIC_API_KEY=" + OfflineKey}, direct...)...)
	assert.DeepEqual(t, Environ(base, "http://127.0.0.1:1", false), record)
	assert.DeepEqual(t, Environ(base, "http://127.0.0.1:1", true), replay)
	if diff := cmp.Diff(Environ(nil, "http://127.0.0.1:1", false), append(pointed, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")); diff != "" {
		t.Error(diff)
	}
}

func TestACancelledContextEndsTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	command := play(t)
	command.Stdin = in
	agent := prepare(t, command)
	cancel()
	code, err := agent.Run(ctx, environFor("echo"))
	assert.NilError(t, err)
	assert.Equal(t, code, endedBySIGTERM)
	_ = out.Close()
}
