// Package docs runs the commands that the pages of this repository show.
package docs

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const rootPath = "../.."

// server plays the model of the pages: one look around, then an answer.
func server(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		delta := `{"tool_calls":[{"index":0,"id":"call_look","type":"function","function":{"name":"glob","arguments":"{\"pattern\":\"**/*.txtar\"}"}}]}`
		if bytes.Contains(body, []byte(`"role":"tool"`)) {
			delta = `{"content":"This folder holds a first scenario, its transcript and its golden history."}`
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// build makes the program and returns the folder it lies in.
func build(t *testing.T) string {
	bin := t.TempDir()
	command := exec.Command("go", "build", "-o", bin, ".")
	command.Dir = rootPath
	out, err := command.CombinedOutput()
	assert.NilError(t, err, string(out))
	return bin
}

var (
	block   = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	shBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
)

// TestConsoleBlocksShowRealOutput runs every `$ command` of every console
// block, a page in one folder from top to bottom, and compares what it prints
// on stdout.
func TestConsoleBlocksShowRealOutput(t *testing.T) {
	bin, upstream := build(t), server(t)
	ran := 0
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			data, err := os.ReadFile(page)
			assert.NilError(t, err)
			dir := t.TempDir()
			for _, match := range block.FindAllSubmatch(data, -1) {
				for _, step := range strings.Split("\n"+string(match[1]), "\n$ ")[1:] {
					command, want, _ := strings.Cut(step, "\n")
					ran++
					assert.Equal(t, shell(t, dir, bin, upstream, command), strings.TrimSuffix(want, "\n"), command)
				}
			}
		})
	}
	assert.Assert(t, ran >= 5, "only %d commands found", ran)
}

// shell runs one command with the program in its path and returns its stdout,
// the last newline dropped.
func shell(t *testing.T, dir, bin, upstream, command string) string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"OPENAI_BASE_URL="+upstream, "OPENAI_API_KEY=tapetree-offline-key", "OPENAI_MODEL=page-model", "CI=", "NO_COLOR=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !asExit(err, &exit) {
		t.Fatalf("%s: %v\n%s", command, err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n")
}

func asExit(err error, target **exec.ExitError) bool {
	exit, ok := err.(*exec.ExitError)
	*target = exit
	return ok
}

// TestReadmeCommandsAreWhatCIRuns: the newcomer's commands are run here or by
// .ci/run, word by word.
func TestReadmeCommandsAreWhatCIRuns(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(rootPath, "README.md"))
	assert.NilError(t, err)
	ci, err := os.ReadFile(filepath.Join(rootPath, ".ci", "run"))
	assert.NilError(t, err)
	module, err := os.ReadFile(filepath.Join(rootPath, "go.mod"))
	assert.NilError(t, err)
	var commands []string
	for _, match := range shBlock.FindAllSubmatch(readme, -1) {
		commands = append(commands, strings.Split(strings.TrimSpace(string(match[1])), "\n")...)
	}
	assert.DeepEqual(t, commands, []string{"go run . replay", "go test ./...", "go install github.com/tapetree/tapetree@latest"})
	for _, command := range commands[:2] {
		assert.Assert(t, strings.Contains(string(ci), "\n"+command), command)
	}
	assert.Assert(t, strings.HasPrefix(string(module), "module github.com/tapetree/tapetree\n"))
}

// TestThePackageInstalls is the newcomer's last command, at the version of this
// checkout: @latest needs a published one.
func TestThePackageInstalls(t *testing.T) {
	bin := t.TempDir()
	cmd := exec.Command("go", "install", "github.com/tapetree/tapetree")
	cmd.Dir, cmd.Env = rootPath, append(os.Environ(), "GOBIN="+bin)
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, string(out))
	out, err = exec.Command(filepath.Join(bin, "tapetree"), "version").CombinedOutput()
	assert.NilError(t, err, string(out))
	assert.Assert(t, strings.HasPrefix(string(out), "tapetree "), string(out))
}

// TestGoRunReplayHolds is the newcomer's first command.
func TestGoRunReplayHolds(t *testing.T) {
	cmd := exec.Command("go", "run", ".", "replay")
	cmd.Dir = rootPath
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, string(out))
	assert.Assert(t, strings.HasSuffix(string(out), " passed, 0 failed, 0 errors\n"), string(out))
}

var link = regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)

// TestLinksLeadSomewhere checks the pages' links to files.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		assert.NilError(t, err)
		for _, match := range link.FindAllSubmatch(data, -1) {
			target := string(match[1])
			if strings.Contains(target, "://") {
				continue
			}
			_, err := os.Stat(filepath.Join(filepath.Dir(page), target))
			assert.NilError(t, err, "%s links to %s", page, target)
		}
	}
}

// TestPagesNameNoMachine: pages speak of the product alone.
func TestPagesNameNoMachine(t *testing.T) {
	foreign := regexp.MustCompile(`/work/|/root/|/home/[a-z]|proxy\.golang\.org|registry\.npmjs|\.\./shared`)
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		assert.NilError(t, err)
		assert.Equal(t, foreign.FindString(string(data)), "", page)
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(rootPath, "*.md"))
	assert.NilError(t, err)
	more, err := filepath.Glob(filepath.Join(rootPath, "docs", "*.md"))
	assert.NilError(t, err)
	return append(list, more...)
}
