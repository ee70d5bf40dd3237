package attribution

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// story tells a scope of requests and compares where they stand in the end.
type story struct {
	t     *testing.T
	scope *Scope
	asked []*told
}

// told is one request of a story.
type told struct {
	*Exchange
	want string // PATH#TURN[.TRY] and, where flagged, the flag and the candidates
}

func tell(t *testing.T) *story { return &story{t: t, scope: New(Options{})} }

// ask begins a request: messages, and before them any number of settings.
func (s *story) ask(want string, parts ...any) *told {
	s.t.Helper()
	r := &Request{Header: http.Header{}}
	for _, part := range parts {
		switch p := part.(type) {
		case runtime.Message:
			r.Messages = append(r.Messages, p)
		case []runtime.Message:
			r.Messages = append(r.Messages, p...)
		case func(*Request):
			p(r)
		default:
			s.t.Fatalf("no part of a request: %v", part)
		}
	}
	if r.Body == "" {
		r.Body = bodyOf(r)
	}
	x := &told{Exchange: s.scope.Begin(r), want: want}
	s.asked = append(s.asked, x)
	return x
}

// bodyOf stands for the bytes of a request.
func bodyOf(r *Request) string {
	var body strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&body, "%q %q %q %q\n", m.Role, m.Content, m.CallID, m.Calls)
	}
	return body.String() + r.Tools
}

// says ends a request with an answer.
func (x *told) says(m runtime.Message) *told {
	x.Done(m, "")
	return x
}

// end compares the final places with what was told, and looks at the first
// ones.
func (s *story) end() {
	s.t.Helper()
	var got, want []string
	for _, x := range s.asked {
		got = append(got, shown([]Place{s.scope.Place(x.Exchange)}))
		want = append(want, x.want)
	}
	assert.Equal(s.t, strings.Join(got, "\n"), strings.Join(want, "\n"))
	checkNames(s.t, s.scope, s.exchanges())
}

func (s *story) exchanges() []*Exchange {
	var all []*Exchange
	for _, x := range s.asked {
		all = append(all, x.Exchange)
	}
	return all
}

// pathForm is the grammar of transcripts.
var pathForm = regexp.MustCompile(`^root([2-9]|[1-9][0-9]+)?(/([1-9][0-9]*\.[1-9][0-9]*(#([2-9]|[1-9][0-9]+))?|\?[1-9][0-9]*))*(~(title|compact|judge|side)\.[1-9][0-9]*)?$`)

// checkNames holds the labels and places of a scope to their rules.
func checkNames(t *testing.T, s *Scope, all []*Exchange) {
	t.Helper()
	seen := map[string]bool{}
	once := func(kind string, p Place) {
		key := fmt.Sprintf("%s %s#%d.%d", kind, p.Path, p.Turn, p.Try)
		assert.Assert(t, !seen[key], "%s stands twice", key)
		assert.Assert(t, p.Turn > 0 && p.Try > 0, key)
		seen[key] = true
		checkLabel(t, p.Label)
	}
	for _, x := range all {
		once("first", x.First)
		once("final", s.Place(x))
	}
	for _, l := range s.Threads() {
		assert.Assert(t, !seen[string(l.Path)], "%s is the path of two threads", l.Path)
		seen[string(l.Path)] = true
		checkLabel(t, l)
	}
}

func checkLabel(t *testing.T, l Label) {
	t.Helper()
	for i, path := range append([]runtime.Path{l.Path}, l.Candidates...) {
		assert.Assert(t, pathForm.MatchString(string(path)), "%q is no path", path)
		assert.Assert(t, i < 2 || l.Candidates[i-2] < path, "%v is not sorted", l.Candidates)
	}
	assert.Assert(t, (l.Flag == "") == (len(l.Candidates) == 0), "%v", l)
}

// Parts of requests and answers.

func system(text string) runtime.Message { return runtime.SystemMessage(text) }
func user(text string) runtime.Message   { return runtime.UserMessage(text) }
func result(id, text string) runtime.Message {
	return runtime.ToolMessage(id, text)
}
func said(text string) runtime.Message {
	return runtime.Message{Role: runtime.RoleAssistant, Content: text}
}

// calls is an answer of calls, each ID NAME ARGUMENTS.
func calls(all ...string) runtime.Message {
	m := runtime.Message{Role: runtime.RoleAssistant}
	for _, text := range all {
		parts := strings.SplitN(text, " ", 3)
		m.Calls = append(m.Calls, runtime.Call{ID: parts[0], Name: parts[1], Arguments: parts[2]})
	}
	return m
}

// task is a call that delegates a brief.
func task(id, brief string) string { return fmt.Sprintf("%s task {%q:%q}", id, "prompt", brief) }

func tools(digest string) func(*Request) { return func(r *Request) { r.Tools = digest } }

func header(name, value string) func(*Request) {
	return func(r *Request) { r.Header.Set(name, value) }
}

// session is the headers of opencode.
func session(id, parent string) func(*Request) {
	return func(r *Request) {
		r.Header.Set("x-session-id", id)
		if parent != "" {
			r.Header.Set("x-parent-session-id", parent)
		}
	}
}

func retry(n string) func(*Request) { return header("x-stainless-retry-count", n) }

func list(messages ...runtime.Message) []runtime.Message { return messages }

func with(before []runtime.Message, more ...runtime.Message) []runtime.Message {
	return append(before[:len(before):len(before)], more...)
}

// opened is the beginning of most stories: a root that has called.
func opened(s *story, made ...string) []runtime.Message {
	before := list(system("You are the parent."), user("Do the work, please."))
	s.ask("root#1", tools("parent"), before).says(calls(made...))
	return with(before, calls(made...))
}
