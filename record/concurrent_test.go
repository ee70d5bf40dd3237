package record

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// placed is an upstream that answers by the place a request stands at.
type placed func(at runtime.Place) string

func (p placed) RoundTrip(req *http.Request) (*http.Response, error) {
	at, _ := runtime.PlaceOf(req.Context())
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	body := p(at)
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// wordy makes the team's children write long notes, so that they compact.
func (tm *team) wordy(at runtime.Place) string {
	switch base, side, isSide := strings.Cut(string(at.Agent), "~"); {
	case isSide:
		return completion(fmt.Sprintf("what %s had done before %s", base, side))
	case at.Agent.Depth() > 0 && at.Turn < tm.turns:
		text := fmt.Sprintf("%s#%d %s", at.Agent, at.Turn, strings.Repeat("and so on ", 60))
		return completion("", fmt.Sprintf(`n%d note {"text":"%s"}`, at.Turn, text))
	default:
		return tm.answer(at)
	}
}

const teamBudget = 1500 // tokens: about four of the long notes with their results

// recordTeam records a team whose children compact, in the order of answers of
// a seed, and returns the transcript and its bytes without the timing line.
func recordTeam(t *testing.T, seed int64) (*transcripts.File, string, *runtime.Run) {
	t.Helper()
	rec := newRecording(t, nil)
	tm := &team{children: 3, turns: 10, observe: rec.Observe}
	s := NewSchedule(ScheduleOptions{Shuffle: true, Seed: seed})
	tm.model = s.Model(&runtime.Live{BaseURL: "http://upstream.example/v1", HTTP: rec.Transport(placed(tm.wordy))})
	r := tm.runner(t)
	r.Budget.Tokens = teamBudget
	s.Attach(r)
	r.Gate = rec
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, runtime.StopAnswer)
	f, text := rec.finish(t)
	lines := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return strings.HasPrefix(line, `{"kind":"timing"`) })
	return f, strings.Join(lines, ""), run
}

// case 6.05: what completes first changes nothing of a transcript but its
// clocks, also with side conversations.
func TestTheSameSessionIsTheSameBytesInAnyOrder(t *testing.T) {
	first, want, _ := recordTeam(t, 1)
	orders := map[string]bool{fmt.Sprint(first.Timing.Order): true}
	for seed := int64(2); seed <= 10; seed++ {
		f, got, _ := recordTeam(t, seed)
		assert.Equal(t, got, want, "seed %d", seed)
		orders[fmt.Sprint(f.Timing.Order)] = true
	}
	assert.Assert(t, len(orders) >= 8, "only %d orders", len(orders))
}

// After a compaction a request's line says what was put in the place of what,
// and nothing that stands above.
func TestACompactedListIsWrittenByWhatChanged(t *testing.T) {
	_, text, _ := recordTeam(t, 1)
	var heads []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, `{"kind":"exchange","agent":"root/1.1`) {
			continue
		}
		_, list, _ := strings.Cut(line, `"params":{"stream":false},`)
		list, _, _ = strings.Cut(list, `,"sum":`)
		place, _, _ := strings.Cut(strings.TrimPrefix(line, `{"kind":"exchange","agent":`), `,"wire"`)
		heads = append(heads, place+" "+list)
	}
	compacted := slices.DeleteFunc(slices.Clone(heads), func(head string) bool { return !strings.Contains(head, "edits") })
	assert.DeepEqual(t, compacted, []string{
		`"root/1.1","turn":6 "edits":[[1,6,[{"role":"user","content":"[The history got too long. This is a summary of 6 older messages that stood here.]\n\nwhat root/1.1 had done before compact.1"}]]],"add":[{"echo":1},{"tool":"5.1"}]`,
		`"root/1.1","turn":9 "edits":[[1,7,[{"role":"user","content":"[The history got too long. This is a summary of 7 older messages that stood here.]\n\nwhat root/1.1 had done before compact.2"}]]],"add":[{"echo":1},{"tool":"8.1"}]`,
	})
	t.Log(strings.Join(heads, "\n"))
}

// A session with side conversations replays: each is answered from its own
// exchange, counts as used, and is graded.
func TestSideConversationsReplay(t *testing.T) {
	f, _, recorded := recordTeam(t, 1)
	replayed := func(seed int64, edit func(f *transcripts.File)) (*Report, *runtime.Run) {
		copied := *f
		copied.Exchanges = slices.Clone(f.Exchanges)
		end := *f.End
		copied.End = &end
		edit(&copied)
		r, err := NewReplayer(&copied, ReplayOptions{Live: allLive})
		assert.NilError(t, err)
		s := NewSchedule(ScheduleOptions{Tape: &copied, Live: allLive, Shuffle: true, Seed: seed})
		tm := &team{children: 3, turns: 10, observe: r.Observe, model: s.Model(r)}
		runner := tm.runner(t)
		runner.Tape, runner.Budget.Tokens = r, teamBudget
		s.Attach(runner)
		run, err := runner.Run(t.Context(), "go")
		assert.NilError(t, err)
		return r.Report(), run
	}
	for seed := range int64(5) {
		report, run := replayed(seed, func(*transcripts.File) {})
		assert.DeepEqual(t, findings(report), []string(nil))
		assert.Equal(t, report.Grade, Exact)
		assert.Equal(t, report.Used, len(f.Exchanges))
		assert.Equal(t, run.Tree, recorded.Tree)
	}
	report, _ := replayed(1, func(f *transcripts.File) {
		more := *exchangeAt(f, "root/1.2~compact.1", 1)
		more.Agent = "root/1.2~compact.9"
		f.Exchanges = append(f.Exchanges, &more)
		f.End.Exchanges++
	})
	assert.DeepEqual(t, findings(report), []string{"replay/extra root/1.2~compact.9#1 exchange root/1.2~compact.9#1 was never asked for"})
	report, _ = replayed(1, func(f *transcripts.File) {
		other := *exchangeAt(f, "root/1.2~compact.1", 1)
		var h runtime.History
		h.Append(other.Messages.Messages()[0], runtime.UserMessage("something else"))
		other.Messages = h.View()
		f.Exchanges[slices.Index(f.Exchanges, exchangeAt(f, "root/1.2~compact.1", 1))] = &other
	})
	assert.Equal(t, len(report.Findings), 1)
	assert.Equal(t, report.Findings[0].Code, "replay/history")
	assert.Equal(t, report.Findings[0].Agent, runtime.Path("root/1.2~compact.1"))
	assert.Equal(t, report.Grade, GradeHistory)
}

// The session as the transcript tells it has the compactions that were done.
func TestCompactionsStandInTheSession(t *testing.T) {
	f, _, recorded := recordTeam(t, 1)
	told, err := f.Session()
	assert.NilError(t, err)
	list := func(run *runtime.Run) []string {
		var all []string
		run.Walk(func(r *runtime.Run) {
			all = append(all, fmt.Sprintf("%s %d/%d", r.Agent, r.Usage.Input, r.Usage.Output))
			for _, turn := range r.Turns {
				if turn.Compact != nil {
					all = append(all, fmt.Sprintf("%s#%d %+v", r.Agent, turn.Number, *turn.Compact))
				}
			}
		})
		return all
	}
	assert.DeepEqual(t, list(told), list(recorded))
	assert.Assert(t, len(list(told)) >= 3*2+4, "%v", list(told))
}

// A call that can change something starts, for the recorded order, when it runs:
// after the question it had to wait for.
func TestTheRecordedOrderIsThatOfRunning(t *testing.T) {
	rec := newRecording(t, nil)
	event := func(kind runtime.EventKind, agent runtime.Path) {
		rec.Observe(runtime.Event{Kind: kind, Agent: agent, Turn: 1, Call: &runtime.CallRecord{Number: 1, Name: "note"}})
	}
	event(runtime.EventCallStart, "root/1.1")
	event(runtime.EventCallStart, "root/1.2")
	for _, agent := range []runtime.Path{"root/1.2", "root/1.1"} {
		leave, err := rec.Enter(t.Context(), runtime.Place{Agent: agent, Turn: 1, Try: 1}, runtime.CallRecord{Number: 1})
		assert.NilError(t, err)
		leave()
		event(runtime.EventCallEnd, agent)
	}
	assert.DeepEqual(t, rec.order, []string{"+root/1.2#1.1", "-root/1.2#1.1", "+root/1.1#1.1", "-root/1.1#1.1"})
}

// What an interrupted session was still asking is told from what it only did
// not come to.
func TestCutOff(t *testing.T) {
	exchange := func(agent runtime.Path, turn int, end runtime.End) *transcripts.Exchange {
		return &transcripts.Exchange{Agent: agent, Turn: turn, Try: 1, Status: 200, StreamEnd: end}
	}
	r, err := NewReplayer(&transcripts.File{
		Exchanges: []*transcripts.Exchange{
			exchange("root", 1, ""), exchange("root/1.1", 1, ""), exchange("root/1.1", 2, runtime.EndClientClosed), exchange("root/1.2", 1, ""),
		},
		End: &transcripts.End{Stops: []transcripts.Stop{
			{Agent: "root", Reason: runtime.StopCancelled}, {Agent: "root/1.1", Reason: runtime.StopCancelled},
			{Agent: "root/1.2", Reason: runtime.StopAnswer}, {Agent: "root/1.3", Reason: runtime.StopCancelled},
		}},
	}, ReplayOptions{})
	assert.NilError(t, err)
	for at, want := range map[runtime.Place]bool{
		{Agent: "root", Turn: 1}: false, {Agent: "root", Turn: 2}: true,
		{Agent: "root/1.1", Turn: 1}: false, {Agent: "root/1.1", Turn: 2}: true, {Agent: "root/1.1~compact.1", Turn: 1}: true,
		{Agent: "root/1.2", Turn: 2}: false, {Agent: "root/1.3", Turn: 1}: true, {Agent: "root/1.4", Turn: 1}: false,
	} {
		assert.Equal(t, r.CutOff(at), want, "%+v", at)
	}
}

// Answers of children that asked another upstream are read in its dialect.
func TestChildrenOfAnotherUpstream(t *testing.T) {
	exchange := func(agent runtime.Path) *transcripts.Exchange {
		return &transcripts.Exchange{Agent: agent, Turn: 1, Try: 1, Status: 200, Response: []byte(completion("", "c1 note {}"))}
	}
	r, err := NewReplayer(&transcripts.File{
		Exchanges: []*transcripts.Exchange{exchange("root"), exchange("root/1.1")}, End: &transcripts.End{Exchanges: 2},
	}, ReplayOptions{SubDialect: &runtime.Dialect{Content: runtime.ContentAbsent}})
	assert.NilError(t, err)
	for agent, want := range map[runtime.Path]bool{"root": true, "root/1.1": false} {
		answer, err := r.Complete(t.Context(), &runtime.Request{Place: runtime.Place{Agent: agent, Turn: 1, Try: 1}, Model: "m"})
		assert.NilError(t, err)
		assert.Equal(t, strings.Contains(string(answer.Message.Raw), `"content"`), want, "%s", answer.Message.Raw)
	}
}
