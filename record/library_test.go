package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// post sends one chat request with a user text and returns status and body.
func post(t *testing.T, tape http.RoundTripper, url, text string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: tape}
	resp, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(harAsk(false, harSays("system", "s"), harSays("user", text))))
	assert.NilError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	assert.NilError(t, err)
	return resp.StatusCode, string(body)
}

// recordedTape records one exchange, whose text is "hello", and returns its path.
func recordedTape(t *testing.T) (path, url string) {
	t.Helper()
	u := newUpstream(t, func(w http.ResponseWriter, _ string) { saying(w, "hi") })
	path = filepath.Join(t.TempDir(), "deep", "talk.jsonl")
	tape, err := Create(path, TapeOptions{Environ: []string{}})
	assert.NilError(t, err)
	assert.Assert(t, tape.Recording())
	_, body := post(t, tape, u.URL, "hello")
	assert.Equal(t, body, completion("hi"))
	assert.NilError(t, tape.Close())
	assert.Assert(t, tape.Report() == nil)
	u.Close()
	return path, u.URL
}

func TestWhatATapeRecords(t *testing.T) {
	path, url := recordedTape(t)
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	f, err := transcripts.Parse(path, data)
	assert.NilError(t, err)
	assert.Equal(t, f.Header.Name, "talk")
	assert.Equal(t, f.Header.Upstream, url+"/v1")
	assert.Assert(t, f.Foreign())
	assert.Equal(t, len(f.Exchanges), 1)
	assert.Equal(t, f.Exchanges[0].Agent, runtime.Root)
}

func TestATapeIsReplayedWithoutAnUpstream(t *testing.T) {
	path, url := recordedTape(t)
	tape, err := Open(path, TapeOptions{Environ: []string{}})
	assert.NilError(t, err)
	assert.Assert(t, !tape.Recording() && tape.Report() == nil)
	status, body := post(t, tape, url, "hello")
	assert.Equal(t, fmt.Sprint(status, body), "200"+completion("hi"))
	assert.NilError(t, tape.Close())
	assert.Equal(t, tape.Report().Grade, Exact)
}

func TestCloseSaysWhatWasNotAsRecorded(t *testing.T) {
	path, url := recordedTape(t)
	for _, c := range []struct {
		name    string
		options TapeOptions
		asked   []string
		want    string
	}{
		{"another text", TapeOptions{}, []string{"good day"}, `replay PATH:
replay/history root#1: /messages/1/content: recorded "hello", sent "good day"

root turn 1: the messages differ from the recorded ones
  nearest: exchange root#1 (PATH:3)
  /messages/1/content
    recorded: "hello"
    sent:     "good day"
  to accept it: record it again, with record.Create, or with TAPETREE_RECORD=1 where the test uses record.ForTest`},
		{"another text that a rule covers", TapeOptions{Volatile: []string{"/^(hello|good day)$/"}}, []string{"good day"}, "<nil>"},
		{"nothing asked", TapeOptions{}, nil, `replay PATH:
replay/extra root#1: exchange root#1 was never asked for`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Environ = []string{}
			tape, err := Open(path, c.options)
			assert.NilError(t, err)
			for _, text := range c.asked {
				post(t, tape, url, text)
			}
			assert.Equal(t, strings.ReplaceAll(fmt.Sprint(tape.Close()), path, "PATH"), c.want)
		})
	}
}

// TestWarningsFailOnlyUnderStrict: here the system text is another one.
func TestWarningsFailOnlyUnderStrict(t *testing.T) {
	path, url := recordedTape(t)
	for strict, want := range map[bool]int{false: 0, true: 1} {
		tape, err := Open(path, TapeOptions{Environ: []string{}, Strict: strict})
		assert.NilError(t, err)
		resp, err := tape.RoundTrip(newChat(t, url, harAsk(false, harSays("system", "another"), harSays("user", "hello"))))
		assert.NilError(t, err)
		_ = resp.Body.Close() // a body that was read already
		var found *FindingsError
		errors.As(tape.Close(), &found)
		if want == 0 {
			assert.Assert(t, found == nil)
			continue
		}
		assert.Equal(t, len(found.Findings), want)
		assert.Equal(t, found.Findings[0].Code, codePrompt)
		assert.Equal(t, len(found.Details), 1)
	}
}

func newChat(t *testing.T, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	assert.NilError(t, err)
	return req
}

func TestATapeThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	bad, blocked := filepath.Join(dir, "bad.jsonl"), filepath.Join(dir, "file", "x.jsonl")
	assert.NilError(t, os.WriteFile(bad, []byte("{}\n"), 0o644))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	good, _ := recordedTape(t)

	_, err := Open(filepath.Join(dir, "none.jsonl"), TapeOptions{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	var syntax *transcripts.SyntaxError
	_, err = Open(bad, TapeOptions{})
	assert.Assert(t, errors.As(err, &syntax))
	_, err = Open(good, TapeOptions{Volatile: []string{"datse"}})
	assert.ErrorContains(t, err, `parse volatile rule "datse"`)
	_, err = Open(good, TapeOptions{Speed: -1})
	assert.ErrorContains(t, err, "speed -1")
	_, err = Create(blocked, TapeOptions{})
	assert.ErrorContains(t, err, "record "+blocked)
}

func TestARecordingOfNothingLeavesTheOldOne(t *testing.T) {
	path, _ := recordedTape(t)
	before, err := os.ReadFile(path)
	assert.NilError(t, err)
	tape, err := Create(path, TapeOptions{})
	assert.NilError(t, err)
	assert.ErrorIs(t, tape.Close(), transcripts.ErrEmpty)
	after, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Equal(t, string(after), string(before))
}

// fakeTest is a TestingT that notes what is said and stops at Fatalf.
type fakeTest struct {
	said    []string
	cleanup []func()
}

func (f *fakeTest) Helper() {}
func (f *fakeTest) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}
func (f *fakeTest) Fatalf(format string, args ...any) { f.Errorf(format, args...) }
func (f *fakeTest) Cleanup(end func())                { f.cleanup = append(f.cleanup, end) }

// ended runs what a test runs at its end and returns all that was said.
func (f *fakeTest) ended() string {
	for _, end := range f.cleanup {
		end()
	}
	return strings.Join(f.said, "\n")
}

func TestForTestReplaysAndRecordsOnlyWhenToldTo(t *testing.T) {
	path, url := recordedTape(t)
	t.Setenv("CI", "")
	t.Setenv(recordVariable, "")

	f := &fakeTest{}
	tape := ForTest(f, path, TapeOptions{Environ: []string{}})
	post(t, tape, url, "hello")
	assert.Equal(t, f.ended(), "")
	assert.Equal(t, tape.Report().Grade, Exact)

	f = &fakeTest{}
	ForTest(f, path, TapeOptions{Environ: []string{}})
	assert.Equal(t, f.ended(), "replay "+path+":\nreplay/extra root#1: exchange root#1 was never asked for")

	f = &fakeTest{}
	missing := filepath.Join(t.TempDir(), "none.jsonl")
	assert.Assert(t, ForTest(f, missing, TapeOptions{}) == nil)
	assert.Equal(t, f.ended(), "replay "+missing+": open "+missing+": no such file or directory; record.Create records one (TAPETREE_RECORD=1 go test does)")

	t.Setenv(recordVariable, "1")
	f = &fakeTest{}
	assert.Assert(t, ForTest(f, path, TapeOptions{}).Recording())
	assert.Equal(t, f.ended(), "record "+path+": no exchange was recorded, nothing was written")

	t.Setenv("CI", "true")
	f = &fakeTest{}
	assert.Assert(t, ForTest(f, path, TapeOptions{}) == nil)
	assert.Equal(t, f.ended(), "TAPETREE_RECORD=1 is refused where CI is set: record on your own machine and commit "+path)
}
