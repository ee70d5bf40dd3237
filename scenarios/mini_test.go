package scenarios

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

// placed is an upstream that answers by the place a request stands at: with a
// text, or with calls, each written `NAME ARGUMENTS`.
type placed func(at runtime.Place) (text string, calls []string)

func (p placed) RoundTrip(req *http.Request) (*http.Response, error) {
	at, _ := runtime.PlaceOf(req.Context())
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	text, calls := p(at)
	message, finish := `"content":`+quoted(text), "stop"
	if len(calls) > 0 {
		list := make([]string, len(calls))
		for i, c := range calls {
			name, arguments, _ := strings.Cut(c, " ")
			id := fmt.Sprintf("call_%d_%d", at.Turn, i+1)
			list[i] = fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, name, quoted(arguments))
		}
		message, finish = `"content":null,"tool_calls":[`+strings.Join(list, ",")+`]`, "tool_calls"
	}
	body := fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",%s},"finish_reason":%q}],"usage":{"prompt_tokens":%d,"completion_tokens":7,"total_tokens":%d}}`,
		message, finish, 100*at.Turn, 100*at.Turn+7)
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// readers is a parent that has some children look at files, each of which reads
// in every turn but its last.
func readers(children, turns int) placed {
	return func(at runtime.Place) (string, []string) {
		switch {
		case at.Agent == runtime.Root && at.Turn == 1:
			var calls []string
			for n := range children {
				calls = append(calls, fmt.Sprintf(`task {"description":"part %d","prompt":"Read part %d and report."}`, n+1, n+1))
			}
			return "", calls
		case at.Agent == runtime.Root:
			return "All parts are read.", nil
		case at.Turn < turns:
			return "", []string{fmt.Sprintf(`read_file {"path":"part.txt","offset":%d}`, at.Turn)}
		default:
			return fmt.Sprintf("%s has read its part.", at.Agent), nil
		}
	}
}

const readersScenario = `profile: mini
-- prompt --
Have every part read.
-- work/part.txt --
one
two
three
four
five
six
`

// recordMini records a scenario of the profile mini against upstream, writes
// its golden history, and returns the project's folder.
func recordMini(t testing.TB, text string, upstream http.RoundTripper, o LiveOptions) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "scenarios", "x.txtar")
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o644))
	source := DirSource(dir)
	scenario, err := source.Load("x")
	assert.NilError(t, err)
	o.BaseURL, o.Model, o.Transport = "http://upstream.invalid/v1", "m", upstream
	o.Environ, o.OS, o.By = []string{}, "Linux", "tapetree test"
	o.Now = func() time.Time { return time.Date(2026, time.January, 2, 0, 0, 0, 0, time.UTC) }
	_, err = Live(context.Background(), source, scenario, source.TranscriptPath("x"), o)
	assert.NilError(t, err)
	result := Replay(context.Background(), source, "x", ReplayOptions{Update: true, Environ: []string{}, AllowShell: true, ChildJobs: o.ChildJobs})
	assert.NilError(t, result.Err)
	assert.Equal(t, len(result.Findings), 0, "%v\n%s", result.Findings, strings.Join(result.Details, "\n"))
	return dir
}
