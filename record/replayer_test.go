package record

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// requestOf is the request that led to e.
func requestOf(e *transcripts.Exchange) *runtime.Request {
	req := &runtime.Request{
		Place: runtime.Place{Agent: e.Agent, Turn: e.Turn, Try: e.Try},
		Model: e.Model, Messages: e.Messages, Tools: e.Tools,
	}
	for _, p := range e.Params {
		switch p.Name {
		case "stream":
			req.Stream = string(p.Value) == "true"
		case "stream_options":
		default:
			req.Params = append(req.Params, p)
		}
	}
	return req
}

// exchange returns the exchange of f at a place.
func exchangeAt(f *transcripts.File, agent runtime.Path, turn int) *transcripts.Exchange {
	for _, e := range f.Exchanges {
		if e.Agent == agent && e.Turn == turn {
			return e
		}
	}
	return nil
}

func callAt(f *transcripts.File, agent runtime.Path, turn, call int) *transcripts.Call {
	for _, c := range f.Calls {
		if c.Agent == agent && c.Turn == turn && c.Call == call {
			return c
		}
	}
	return nil
}

// replaced changes text in the messages of every exchange of an agent from a
// turn on, as an edited file would read.
func replaced(t *testing.T, f *transcripts.File, agent runtime.Path, turn int, pairs ...string) {
	t.Helper()
	changed := false
	for _, e := range f.Exchanges {
		if e.Agent != agent || e.Turn < turn {
			continue
		}
		var h runtime.History
		for _, m := range e.Messages.Messages() {
			raw := strings.NewReplacer(pairs...).Replace(string(m.Raw))
			changed = changed || raw != string(m.Raw)
			parsed, err := runtime.ParseMessage([]byte(raw))
			assert.NilError(t, err)
			h.Append(parsed)
		}
		e.Messages = h.View()
	}
	assert.Assert(t, changed, "nothing to replace")
}

// Every way in which a session can depart from its transcript has its own code,
// and says it once.
func TestReplayFindings(t *testing.T) {
	u := newUpstream(t, family)
	const file = "session.jsonl"
	for _, c := range []struct {
		name   string
		change func(t *testing.T, f *transcripts.File)
		grade  Grade
		want   []string
		missed bool
	}{
		{"nothing changed", func(*testing.T, *transcripts.File) {}, Exact, nil, false},
		{"case 6.10: an exchange left unused", func(_ *testing.T, f *transcripts.File) {
			more := *exchangeAt(f, "root", 3)
			more.Turn = 4
			f.Exchanges = append(f.Exchanges, &more)
			f.End.Exchanges++
		}, Exact, []string{"replay/extra root#4 exchange root#4 was never asked for"}, false},
		{"an exchange that stands twice", func(_ *testing.T, f *transcripts.File) {
			more := *exchangeAt(f, "root", 3)
			f.Exchanges = append(f.Exchanges, &more)
			f.End.Exchanges++
		}, Exact, []string{"replay/extra root#3 exchange root#3 was never asked for"}, false},
		{"an agent left unused", func(_ *testing.T, f *transcripts.File) {
			for turn := range 2 {
				more := *exchangeAt(f, "root/1.1", turn+1)
				more.Agent = "root/2.1"
				f.Exchanges = append(f.Exchanges, &more)
				f.End.Exchanges++
			}
		}, Exact, []string{"replay/extra root/2.1#1 2 exchanges from root/2.1#1 to root/2.1#2 were never asked for"}, false},
		{"once more than recorded", func(_ *testing.T, f *transcripts.File) {
			f.Exchanges = slices.DeleteFunc(f.Exchanges, func(e *transcripts.Exchange) bool { return e.Agent == "root" && e.Turn == 3 })
			f.End.Exchanges--
		}, Exact, []string{"replay/missing root#3 no exchange left: the agent asks once more than was recorded"}, true},
		{"a child that was not recorded", func(_ *testing.T, f *transcripts.File) {
			f.Exchanges = slices.DeleteFunc(f.Exchanges, func(e *transcripts.Exchange) bool { return e.Agent != "root" })
			f.End.Exchanges -= 2
		}, Exact, []string{
			"replay/extra root#2 2 exchanges from root#2 to root#3 were never asked for",
			"replay/missing root/1.1#1 no exchange left: no exchange of this agent was recorded",
		}, true},
		{"lines of one agent out of order", func(_ *testing.T, f *transcripts.File) {
			slices.Reverse(f.Exchanges)
		}, Exact, []string{
			"replay/order root#2 exchange root#2 stands after root#3 in the file",
			"replay/order root/1.1#1 exchange root/1.1#1 stands after root/1.1#2 in the file",
		}, false},
		{"another model", func(_ *testing.T, f *transcripts.File) {
			for _, e := range f.Exchanges {
				e.Model = "m2"
			}
		}, GradeTools, []string{`replay/tools root#1 /model: recorded "m2", sent "m" (and so in 1 more agent)`}, false},
		{"another schema", func(_ *testing.T, f *transcripts.File) {
			e := exchangeAt(f, "root/1.1", 1)
			e.Tools = jsontext.Value(strings.Replace(string(e.Tools), "Notes a", "Wrote a", 1))
		}, GradeTools, []string{`replay/tools root/1.1#1 /tools/0/function/description: recorded "Wrote a text.", sent "Notes a text."`}, false},
		{"another parameter", func(_ *testing.T, f *transcripts.File) {
			e := exchangeAt(f, "root", 2)
			e.Params = append([]runtime.Param{{Name: "top_p", Value: jsontext.Value("1")}}, e.Params...)
		}, GradeTools, []string{`replay/tools root#2 /top_p: recorded 1, sent (nothing)`}, false},
		{"streams where none were", func(_ *testing.T, f *transcripts.File) {
			exchangeAt(f, "root", 1).Params = []runtime.Param{{Name: "stream", Value: jsontext.Value("true")}}
		}, GradeTools, []string{`replay/tools root#1 /stream: recorded true, sent false`}, false},
		{"another system text", func(t *testing.T, f *transcripts.File) {
			replaced(t, f, "root/1.1", 1, "a child", "a kid")
		}, GradePrompt, []string{`replay/prompt root/1.1#1 /messages/0/content: recorded "You are a kid.", sent "You are a child."`}, false},
		{"another prompt", func(t *testing.T, f *transcripts.File) {
			replaced(t, f, "root", 1, `"go"`, `"stop"`)
		}, GradeHistory, []string{`replay/history root#1 /messages/1/content: recorded "stop", sent "go" (and new differences in 2 later requests)`}, false},
		{"another result in the request", func(t *testing.T, f *transcripts.File) {
			replaced(t, f, "root/1.1", 2, "noted child", "noted kid")
		}, GradeHistory, []string{`replay/history root/1.1#2 /messages/3/content: recorded "noted kid", sent "noted child"`}, false},
		{"results with their ids swapped", func(t *testing.T, f *transcripts.File) {
			replaced(t, f, "root", 3, `tool_call_id":"c2"`, `tool_call_id":"c3"`, `tool_call_id":"c3"`, `tool_call_id":"c2"`)
		}, GradeHistory, []string{`replay/history root#3 /messages/5/tool_call_id: recorded "c3", sent "c2", and 1 more difference`}, false},
		{"a result left out", func(_ *testing.T, f *transcripts.File) {
			e := exchangeAt(f, "root", 3)
			e.Messages = e.Messages.Head(e.Messages.Len() - 1)
		}, GradeHistory, []string{`replay/history root#3 /messages/6: recorded (nothing), sent {"role":"tool","tool_call_id":"c3","content":"noted b"}`}, false},
		{"other arguments in a tool line", func(_ *testing.T, f *transcripts.File) {
			callAt(f, "root", 2, 1).Arguments = `{"text":"z"}`
		}, Exact, []string{`replay/tool-result root#2 root#2.1 arguments: recorded {"text":"z"}, sent {"text":"a"}`}, false},
		{"another name in a tool line", func(_ *testing.T, f *transcripts.File) {
			callAt(f, "root", 2, 1).Name = "notice"
		}, Exact, []string{`replay/tool-result root#2 root#2.1 name: recorded notice, sent note`}, false},
		{"another result in a tool line", func(_ *testing.T, f *transcripts.File) {
			callAt(f, "root", 2, 2).Result = "noted z"
		}, Exact, []string{`replay/tool-result root#2 root#2.2 result: recorded noted z, sent noted b`}, false},
		{"another child in a tool line", func(_ *testing.T, f *transcripts.File) {
			callAt(f, "root", 1, 1).Child = ""
		}, Exact, []string{`replay/tool-result root#1 root#1.1 child: recorded (nothing), sent root/1.1`}, false},
		{"another verdict", func(_ *testing.T, f *transcripts.File) {
			callAt(f, "root", 2, 1).Verdict = runtime.VerdictDeny
		}, Exact, []string{`replay/verdict root#2 root#2.1 verdict: recorded deny, sent allow`}, false},
		{"the same class of verdict", func(_ *testing.T, f *transcripts.File) {
			callAt(f, "root", 2, 1).Verdict = runtime.VerdictAskAllow
		}, Exact, nil, false},
		{"a tool line left out", func(_ *testing.T, f *transcripts.File) {
			f.Calls = slices.DeleteFunc(f.Calls, func(c *transcripts.Call) bool { return c.Agent == "root" && c.Turn == 2 && c.Call == 2 })
		}, Exact, []string{`replay/missing root#2 no tool line for call root#2.2 (note)`}, false},
		{"a tool line too many", func(_ *testing.T, f *transcripts.File) {
			more := *callAt(f, "root", 2, 2)
			more.Call = 3
			f.Calls = append(f.Calls, &more)
		}, Exact, []string{`replay/extra root#2 the tool line of call root#2.3 (note) was never used`}, false},
		{"a tool line that stands twice", func(_ *testing.T, f *transcripts.File) {
			more := *callAt(f, "root", 2, 2)
			more.Line = 99
			f.Calls = append(f.Calls, &more)
		}, Exact, []string{`replay/extra root#2 a second tool line for call root#2.2 (` + file + `:99)`}, false},
		{"another stop", func(_ *testing.T, f *transcripts.File) {
			f.End.Stops[0].Reason = runtime.StopEmpty
		}, Exact, []string{`replay/stop root#0 recorded stop empty, now answer`}, false},
		{"a stop too many, another left out", func(_ *testing.T, f *transcripts.File) {
			f.End.Stops[1].Agent = "root/2.1"
		}, Exact, []string{
			`replay/stop root/1.1#0 no stop recorded, now answer`,
			`replay/stop root/2.1#0 recorded stop answer, now the agent did not end`,
		}, false},
		{"the recording broke off", func(_ *testing.T, f *transcripts.File) {
			f.End = nil
		}, Exact, []string{`replay/partial #0 the recording broke off after 5 exchanges; record it again: tapetree record session`}, false},
		{"a count that does not hold", func(_ *testing.T, f *transcripts.File) {
			f.End.Exchanges = 6
		}, Exact, []string{`replay/partial #0 the end line counts 6 exchanges, the file holds 5; record it again: tapetree record session`}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _, _ := record(t, u, session{})
			f.Path = file
			c.change(t, f)
			report, _, err := replay(t, f, ReplayOptions{}, session{})
			assert.DeepEqual(t, findings(report), c.want)
			assert.Equal(t, report.Grade, c.grade)
			assert.Equal(t, errors.Is(err, ErrMissing), c.missed, "%v", err)
			for _, detail := range slices.Concat(report.Details, report.Warnings) {
				assert.Assert(t, strings.Count(detail, "\n") < maxDetail, detail)
			}
		})
	}
}

// A report says where, what is nearest, what differs and what would accept it.
func TestReportOfAHistoryDifference(t *testing.T) {
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	f.Path = "transcripts/session.jsonl"
	replaced(t, f, "root", 3, "noted", "written down, as was asked,")
	exchangeAt(f, "root", 3).Model = "other"
	report, _, err := replay(t, f, ReplayOptions{Name: "family"}, session{})
	assert.NilError(t, err)
	assert.DeepEqual(t, report.Details, []string{
		`root turn 3: the messages differ from the recorded ones
  nearest: exchange root#3 (transcripts/session.jsonl:14)
  /messages/5/content
    recorded: "written down, as was asked, a"
    sent:     "noted a"
  /messages/6/content
    recorded: "written down, as was asked, b"
    sent:     "noted b"
  to accept it: tapetree rebase family`,
	})
	assert.DeepEqual(t, report.Warnings, []string{
		`root turn 3: schemas, model or parameters differ from the recorded ones
  nearest: exchange root#3 (transcripts/session.jsonl:14)
  /model
    recorded: "other"
    sent:     "m"
  to accept it: tapetree rebase family`,
	})
}

// A report stays within twelve lines however much differs and however long the
// texts are.
func TestReportIsShort(t *testing.T) {
	r, err := NewReplayer(&transcripts.File{Path: "f.jsonl"}, ReplayOptions{Name: "n"})
	assert.NilError(t, err)
	long := strings.Repeat("é", 500)
	for n := 1; n < 20; n++ {
		var found []difference
		for i := range n {
			found = append(found, difference{fmt.Sprintf("/%d", i), long + "old\n" + long, long + "new\n" + long, nil})
		}
		detail := r.detail(place{Agent: "root", Turn: 1, Try: 2}, "they differ", &transcripts.Exchange{Agent: "root", Turn: 1}, found)
		lines := strings.Split(detail, "\n")
		assert.Assert(t, len(lines) <= maxDetail, detail)
		for _, line := range lines {
			assert.Assert(t, len(line) < 200, line)
		}
		assert.Assert(t, strings.Contains(detail, `old\n`) && strings.Contains(detail, `new\n`), detail)
	}
}

// Each exchange answers once, and one asked for before its time is said so.
func TestExchangesAreUsedInOrderAndOnce(t *testing.T) {
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	r, err := NewReplayer(f, ReplayOptions{})
	assert.NilError(t, err)
	f.End = nil
	for _, turn := range []int{2, 1, 3} {
		_, err := r.Complete(t.Context(), requestOf(exchangeAt(f, "root", turn)))
		assert.NilError(t, err)
	}
	_, err = r.Complete(t.Context(), requestOf(exchangeAt(f, "root", 3)))
	assert.ErrorIs(t, err, ErrMissing)
	_, isUpstream := err.(*runtime.UpstreamError)
	assert.Assert(t, !isUpstream)
	report := r.Report()
	assert.DeepEqual(t, findings(report)[1:], []string{
		"replay/order root#2 exchange root#2 was asked for before root#1",
		"replay/missing root#3 no exchange left: exchange root#3 was already used",
		"replay/extra root/1.1#1 2 exchanges from root/1.1#1 to root/1.1#2 were never asked for",
	})
	assert.Equal(t, report.Used, 3)
}

// TestSameRequestTwice is case 6.04: the same request twice gets the first answer, then the second; a
// third is a miss.
func TestSameRequestTwice(t *testing.T) {
	asked := 0
	u := newUpstream(t, func(w http.ResponseWriter, _ string) {
		asked++
		if asked == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			return
		}
		saying(w, "fine")
	})
	f, _, run := record(t, u, session{})
	assert.Equal(t, run.Final, "fine")
	report, again, err := replay(t, f, ReplayOptions{}, session{})
	assert.NilError(t, err)
	assert.Equal(t, again.Final, "fine")
	assert.DeepEqual(t, again.Turns[0].Failed, run.Turns[0].Failed)
	assert.DeepEqual(t, report, &Report{Grade: Exact, Exchanges: 2, Used: 2, VolatileUses: map[string]int{}})

	r, err := NewReplayer(f, ReplayOptions{})
	assert.NilError(t, err)
	for try := 1; try <= 3; try++ {
		req := requestOf(f.Exchanges[0])
		req.Place.Try = try
		_, err = r.Complete(t.Context(), req)
	}
	assert.ErrorIs(t, err, ErrMissing)
}

// TestTwins is case 6.05: children with identical prompts and different answers get their
// own, whoever asks first; the report does not depend on the order.
func TestTwins(t *testing.T) {
	const twins = 8
	f := &transcripts.File{Path: "twins.jsonl", End: &transcripts.End{Exchanges: twins}}
	for n := 1; n <= twins; n++ {
		req := ask(runtime.Root.Child(1, n), 1, 1, false, "the same")
		f.Exchanges = append(f.Exchanges, &transcripts.Exchange{
			Agent: req.Place.Agent, Turn: 1, Try: 1, Model: "other", Messages: ask("", 1, 1, false, "recorded otherwise").Messages, Status: 200,
			Params: sentParams(req), Response: jsontext.Value(completion(fmt.Sprint("answer ", n))),
		})
	}
	var first *Report
	for round := range 20 {
		r, err := NewReplayer(f, ReplayOptions{})
		assert.NilError(t, err)
		var all sync.WaitGroup
		for n := 1; n <= twins; n++ {
			all.Go(func() {
				answer, err := r.Complete(t.Context(), ask(runtime.Root.Child(1, n), 1, 1, false, "the same"))
				assert.Check(t, err)
				assert.Check(t, answer.Message.Content == fmt.Sprint("answer ", n))
			})
		}
		all.Wait()
		report := r.Report()
		if round == 0 {
			first = report
		}
		assert.DeepEqual(t, report, first)
	}
	assert.Equal(t, len(first.Findings), twins+1)
	assert.Equal(t, findings(first)[0], `replay/history root/1.1#1 /messages/1/content: recorded "recorded otherwise", sent "the same"`)
	assert.Equal(t, findings(first)[1], `replay/tools root/1.1#1 /model: recorded "other", sent "m" (and so in 7 more agents)`)
}

// A turn compares only what it adds: of a history of any length, the messages
// that an earlier turn compared are not read again.
func TestComparingATurnReadsOnlyWhatIsNew(t *testing.T) {
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	r, err := NewReplayer(f, ReplayOptions{})
	assert.NilError(t, err)
	second, third := exchangeAt(f, "root", 2), exchangeAt(f, "root", 3)
	for _, e := range []*transcripts.Exchange{exchangeAt(f, "root", 1), second} {
		_, err := r.Complete(t.Context(), requestOf(e))
		assert.NilError(t, err)
	}
	// What was compared is spoilt behind the comparer's back: nobody looks.
	spoilt := third.Messages.Messages()
	for i := range second.Messages.Len() {
		defer func(m runtime.Message) { spoilt[i] = m }(spoilt[i])
		spoilt[i].Raw = jsontext.Value("no JSON")
	}
	_, err = r.Complete(t.Context(), requestOf(third))
	assert.NilError(t, err)
	assert.Equal(t, r.Report().Grade, Exact)
}

// A cancelled context is its error, and uses nothing up.
func TestCancelledBeforeAnswer(t *testing.T) {
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	r, err := NewReplayer(f, ReplayOptions{})
	assert.NilError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Complete(ctx, requestOf(f.Exchanges[0]))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, r.Report().Used, 0)
	_, err = NewReplayer(nil, ReplayOptions{})
	assert.ErrorContains(t, err, "no transcript")
}

// An exchange in which the recorded person broke the session off need not be
// asked for.
func TestExchangeBrokenOffByUserIsNotExtra(t *testing.T) {
	f := &transcripts.File{End: &transcripts.End{Exchanges: 1, Stops: []transcripts.Stop{{Agent: "root", Reason: runtime.StopCancelled}}}}
	f.Exchanges = []*transcripts.Exchange{{Agent: "root", Turn: 1, Try: 1, Status: 200, SSE: []string{}, StreamEnd: runtime.EndClientClosed}}
	r, err := NewReplayer(f, ReplayOptions{})
	assert.NilError(t, err)
	r.Observe(runtime.Event{Kind: runtime.EventRunEnd, Agent: "root", Run: &runtime.Run{Stop: runtime.StopCancelled}})
	assert.Equal(t, len(r.Report().Findings), 0)
	f.End.Stops[0].Reason = runtime.StopUpstreamError
	assert.DeepEqual(t, findings(r.Report())[0], "replay/extra root#1 exchange root#1 was never asked for")
}

// A session that was interrupted while it waited for another try has failed
// tries of the turn it was interrupted in; an answer that nobody asks for is
// extra all the same.
func TestFailedTryBeforeAnInterruptionIsNotExtra(t *testing.T) {
	for body, want := range map[string]int{`{"error":"busy"}`: 0, completion("hi"): 1} {
		f := &transcripts.File{End: &transcripts.End{Exchanges: 1, Stops: []transcripts.Stop{{Agent: "root", Reason: runtime.StopCancelled}}}}
		f.Exchanges = []*transcripts.Exchange{{Agent: "root", Turn: 1, Try: 1, Status: 200, Response: []byte(body)}}
		r, err := NewReplayer(f, ReplayOptions{})
		assert.NilError(t, err)
		r.Observe(runtime.Event{Kind: runtime.EventRunEnd, Agent: "root", Run: &runtime.Run{Stop: runtime.StopCancelled}})
		assert.Equal(t, len(r.Report().Findings), want, body)
	}
}
