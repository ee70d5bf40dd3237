package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// historyOf builds messages: "s", "u", "a" (text), "a:1,2" (calls) and "t:1"
// (the result of a call), each with its size.
func historyOf(t *testing.T, words string) (messages []Message, sizes []int) {
	for _, word := range strings.Fields(words) {
		kind, size, _ := strings.Cut(word, "=")
		kind, ids, hasIDs := strings.Cut(kind, ":")
		var n int
		_, err := fmt.Sscan(size, &n)
		assert.NilError(t, err)
		sizes = append(sizes, n)
		var calls []string
		for id := range strings.SplitSeq(ids, ",") {
			if hasIDs {
				calls = append(calls, id+" echo {}")
			}
		}
		switch kind {
		case "s":
			messages = append(messages, SystemMessage("s"))
		case "u":
			messages = append(messages, UserMessage("u"))
		case "a":
			messages = append(messages, answering("", "a", calls...).Message)
		case "t":
			messages = append(messages, ToolMessage(ids, "t"))
		}
	}
	return messages, sizes
}

// TestDroppable is case 3.03: what is kept begins with a call or a user's
// words, never with a result; as many whole turns are kept as half of the room
// holds, and the last one always.
func TestDroppable(t *testing.T) {
	for _, tt := range []struct {
		name     string
		history  string
		budget   int
		from, to int
	}{
		{"case 3.03: keep the last two turns", "u=10 a:1=10 t:1=10 a:2=10 t:2=10 a:3=10 t:3=10 a=10", 110, 1, 3},
		{"case 3.03: a cut between call and result moves on", "u=10 a:1=10 t:1=10 a:2=10 t:2=10 a:3=10 t:3=10 a=10", 90, 1, 5},
		{"a turn of several results stays whole", "s=5 u=5 a:1,2=10 t:1=10 t:2=10 a:3,4=10 t:3=10 t:4=10", 40, 2, 5},
		{"the last turn stays whatever its size", "s=5 u=5 a:1=10 t:1=10 a:2=10 t:2=9000", 40, 2, 4},
		{"no budget at all", "s=500 u=5 a:1=10 t:1=10 a:2=10 t:2=10", 40, 2, 4},
		{"the tail can begin with a user's words", "s=5 u=5 a:1=10 t:1=10 u=10 a:2=10 t:2=10", 70, 2, 4},
		{"a reminder at the end is no turn", "s=5 u=5 a:1=10 t:1=10 a:2=10 t:2=10 u=10", 10, 2, 4},
		{"nothing but the beginning", "s=500 u=500", 40, 2, 2},
		{"no more than one turn", "s=500 u=500 a:1=500 t:1=500", 40, 2, 2},
		{"a summary alone is not summed up again", "s=5 u=5 u=90 a:2=90 t:2=90", 40, 2, 2},
		{"a summary and a turn are", "s=5 u=5 u=90 a:1=9 t:1=9 a:2=90 t:2=90", 40, 2, 5},
		{"an answer without calls is no place to begin", "u=5 a=5 a:1=5 t:1=5 a=5 a:2=5 t:2=5", 30, 1, 5},
		{"nothing but a system text", "s=500", 40, 1, 1},
		{"nothing", "", 40, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			messages, sizes := historyOf(t, tt.history)
			from, to := droppable(messages, sizes, tt.budget)
			assert.DeepEqual(t, []int{from, to}, []int{tt.from, tt.to})
			if from < to {
				assert.Equal(t, unpaired(append(messages[:from:from], messages[to:]...), 0), "")
			}
		})
	}
}

// longTurns lets the root read n long texts and then answer.
func longTurns(f *script, n int) *script {
	for i := range n {
		f.on(Root, calling(fmt.Sprintf(`c%d echo {"text":"%s"}`, i+1, strings.Repeat(fmt.Sprint(i+1), 400))))
	}
	return f.on(Root, saying("done"))
}

// shape renders a list of messages: roles, and texts where they are short.
func shape(messages View) []string {
	var lines []string
	for _, m := range messages.Messages() {
		text := m.Content
		if len(text) > 160 {
			text = fmt.Sprintf("%s… %d", text[:9], len(text))
		}
		for _, call := range m.Calls {
			text += call.ID
		}
		lines = append(lines, string(m.Role)+" "+text)
	}
	return lines
}

const summed = "user [The history got too long. This is a summary of %d older messages that stood here.]\n\n%s"

// TestCompactTwice is case 3.03 in a run: over the budget the older part gives
// way to a summary, once more later, and what is sent stays paired (the script
// looks at every request). The side conversations cost what they cost.
func TestCompactTwice(t *testing.T) {
	s := longTurns(newScript(t), 5)
	s.on("root~compact.1", saying(" first sum \n")).on("root~compact.2", saying("second sum"))
	r := runnerOf(s)
	r.Budget = Budget{Tokens: 560, Prompt: "Sum up."}
	r.Params, r.Stream = []Param{{"max_tokens", []byte("99")}}, true
	var told []Compaction
	r.Observe = func(e Event) {
		if e.Kind == EventCompact {
			told = append(told, *e.Compact)
		}
	}
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Final, "done")
	assert.Equal(t, run.Usage, Usage{Input: 80, Output: 8})

	assert.DeepEqual(t, shape(run.Turns[2].Sent), []string{
		"system system of root", "user go", "assistant c1", "tool echo 1111… 405", "assistant c2", "tool echo 2222… 405",
	})
	assert.DeepEqual(t, shape(run.Turns[3].Sent), []string{
		"system system of root", "user go", fmt.Sprintf(summed, 4, "first sum"), "assistant c3", "tool echo 3333… 405",
	})
	assert.DeepEqual(t, shape(run.Turns[5].Sent), []string{
		"system system of root", "user go", fmt.Sprintf(summed, 5, "second sum"), "assistant c5", "tool echo 5555… 405",
	})
	assert.Assert(t, !run.Turns[3].Sent.Extends(run.Turns[2].Sent), "a new list")
	assert.Assert(t, run.Turns[4].Sent.Extends(run.Turns[3].Sent))
	first, second := *run.Turns[3].Compact, *run.Turns[5].Compact
	assert.DeepEqual(t, told, []Compaction{first, second})
	assert.DeepEqual(t, first, Compaction{
		Side: "root~compact.1", Dropped: 4, Summary: "first sum", Before: 761, After: 296, Usage: Usage{Input: 10, Output: 1},
	})
	assert.Equal(t, second.Side, Path("root~compact.2"))
	assert.Assert(t, run.Turns[2].Compact == nil && run.Turns[4].Compact == nil)

	side := s.requestsOf("root~compact.1")[0]
	assert.Equal(t, side.Place, Place{"root~compact.1", 1, 1})
	assert.Equal(t, side.Model, "m")
	assert.DeepEqual(t, side.Params, r.Params)
	assert.Assert(t, side.Stream && side.Tools == nil)
	text := side.Messages.Messages()[1].Content
	assert.DeepEqual(t, shape(side.Messages)[0], "system Sum up.")
	assert.Equal(t, text, strings.Join([]string{
		"## call of echo", `{"text":"` + strings.Repeat("1", 400) + `"}`, "",
		"## result of echo", "echo " + strings.Repeat("1", 400), "",
		"## call of echo", `{"text":"` + strings.Repeat("2", 400) + `"}`, "",
		"## result of echo", "echo " + strings.Repeat("2", 400),
	}, "\n"))
	again := s.requestsOf("root~compact.2")[0].Messages.Messages()[1].Content
	assert.Assert(t, strings.HasPrefix(again, "## user\n[The history got too long."), again)
}

// TestCompactWithoutSummary: a side conversation that gives nothing is said so
// in the history; what it cost counts; its tries are its own.
func TestCompactWithoutSummary(t *testing.T) {
	const lost = "user [The history got too long. 4 older messages were taken out here, and no summary of them could be made. " +
		"Look again at whatever you need of them.]"
	broken := step{err: &UpstreamError{Status: 500, Kind: KindStatus, Retry: true, Usage: Usage{Input: 2}, Partial: "half"}}
	for _, tt := range []struct {
		name  string
		steps []step
		want  string
		usage Usage
		fails int
	}{
		{"upstream fails", []step{broken, broken, broken}, lost, Usage{Input: 6}, 3},
		{"upstream refuses the request", []step{failing(400, KindStatus, false)}, lost, Usage{}, 1},
		{"empty", []step{saying(" \n")}, lost, Usage{Input: 10, Output: 1}, 0},
		{"refused", []step{{answer: &Answer{Message: answering("", "no").Message, Refusal: "no"}}}, lost, Usage{}, 0},
		{"calls instead of text", []step{calling(`x echo {}`)}, lost, Usage{Input: 10, Output: 1}, 0},
		{"a second try", []step{broken, saying("sum")}, fmt.Sprintf(summed, 4, "sum"), Usage{Input: 12, Output: 1}, 1},
		{"cut off is better than nothing", []step{{answer: answering("length", "sum")}}, fmt.Sprintf(summed, 4, "sum"), Usage{Input: 10, Output: 1}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := longTurns(newScript(t), 3).on("root~compact.1", tt.steps...)
			r := runnerOf(s)
			r.Budget = Budget{Tokens: 560}
			fails := 0
			r.Observe = func(e Event) {
				if e.Kind == EventTryFailed {
					fails++
				}
			}
			run, err := r.Run(t.Context(), "go")
			assert.NilError(t, err)
			last := run.Turns[3]
			assert.Equal(t, shape(last.Sent)[2], tt.want)
			assert.Equal(t, last.Compact.Usage, tt.usage)
			assert.Equal(t, run.Usage, Usage{Input: 40, Output: 4}.Add(tt.usage))
			assert.Equal(t, fails, tt.fails)
			assert.Equal(t, len(last.Failed), 0, "the turn's own tries")
			assert.Equal(t, len(s.requestsOf("root~compact.1")), len(tt.steps))
			assert.Equal(t, s.requestsOf("root~compact.1")[0].Messages.Messages()[0].Content, strings.TrimSpace(compactPrompt))
		})
	}
}

// TestCompactInterrupted: a context that ends in the side conversation cancels
// the run, a fault of ours in it ends the session.
func TestCompactInterrupted(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(cancel func()) step
		want string
	}{
		{"cancelled", func(cancel func()) step {
			return step{act: cancel, err: &UpstreamError{Kind: KindCut, Partial: "half a sum"}}
		}, ""},
		{"cancelled with the summary", func(cancel func()) step { s := saying("sum"); s.act = cancel; return s }, ""},
		{"fault", func(func()) step { return step{err: errors.New("disk full")} }, "ask model for root~compact.1 turn 1: disk full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := longTurns(newScript(t), 3).on("root~compact.1", tt.end(cancel))
			r := runnerOf(s)
			r.Budget = Budget{Tokens: 560}
			run, err := r.Run(ctx, "go")
			if tt.want != "" {
				assert.Error(t, err, tt.want)
			} else {
				assert.NilError(t, err)
				assert.Equal(t, run.Stop, StopCancelled)
			}
			assert.Equal(t, run.Partial, "")
			assert.Equal(t, len(run.Turns), 4)
			assert.Assert(t, run.Turns[3].Compact == nil && run.Turns[3].Sent.Len() == 0)
			assert.Equal(t, run.History.Len(), 8, "nothing was dropped")
		})
	}
}

// TestOverBudgetIsTold: what cannot be made smaller is sent, and said once.
func TestOverBudgetIsTold(t *testing.T) {
	s := longTurns(newScript(t), 1)
	r := runnerOf(s)
	r.Budget = Budget{Tokens: 10}
	var told []Compaction
	r.Observe = func(e Event) {
		if e.Kind == EventCompact {
			told = append(told, *e.Compact)
		}
	}
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, len(s.requests), 1, "no side conversation")
	assert.DeepEqual(t, told, []Compaction{{Before: 18, After: 18}})
	assert.Assert(t, run.Turns[0].Compact == nil)
}

// TestChildInheritsBudget: a child keeps to the parent's budget in side
// conversations of its own.
func TestChildInheritsBudget(t *testing.T) {
	f := newTeam(t, nil)
	f.root.Budget = Budget{Tokens: 560}
	f.on(Root, calling(brief("a", "one")), saying("done"))
	for i := range 3 {
		f.on("root/1.1", calling(fmt.Sprintf(`c%d echo {"text":"%s"}`, i, strings.Repeat("x", 400))))
	}
	f.on("root/1.1", saying("report")).on("root/1.1~compact.1", saying("sum"))
	child := f.run(t.Context()).Children()[0]
	assert.Equal(t, child.Turns[3].Compact.Side, Path("root/1.1~compact.1"))
	assert.Equal(t, child.Usage, Usage{Input: 50, Output: 5})
}

// TestBudgetCountsFoldedText: where the workspace lies changes neither when a
// history is compacted nor what is left out of the digest.
func TestBudgetCountsFoldedText(t *testing.T) {
	seen := make(map[string]bool)
	for _, dir := range []string{"/w", "/a/very/long/way/down/to/the/workspace"} {
		fold := NewFolder([]string{dir}, nil, nil)
		s := newScript(t)
		for i := range 4 {
			s.on(Root, calling(fmt.Sprintf(`c%d echo {"text":"%s"}`, i, strings.Repeat(dir+"/x ", 60))))
		}
		s.on(Root, saying("done"))
		s.on("root~compact.1", saying("sum")).on("root~compact.2", saying("sum"))
		r := runnerOf(s)
		r.Budget = Budget{Tokens: 1300, Fold: fold, Prompt: strings.Repeat("Sum up. ", 300)}
		run, err := r.Run(t.Context(), "go")
		assert.NilError(t, err)
		var all strings.Builder
		for _, turn := range run.Turns {
			if turn.Compact != nil {
				text := s.requestsOf(turn.Compact.Side)[0].Messages.Messages()[1].Content
				assert.Assert(t, strings.Contains(text, dir) && strings.Contains(text, " bytes left out]"))
				fmt.Fprintln(&all, turn.Number, *turn.Compact, fold.Fold(text))
			}
		}
		assert.Assert(t, all.Len() > 0)
		seen[all.String()] = true
	}
	assert.Equal(t, len(seen), 1)
}

// TestFairShare: the long give, the short keep.
func TestFairShare(t *testing.T) {
	for _, tt := range []struct {
		sizes      []int
		room, want int
	}{
		{nil, 10, 0},
		{[]int{3, 4}, 10, 4},
		{[]int{3, 40}, 10, 7},
		{[]int{30, 2, 40}, 12, 5},
		{[]int{30, 30, 30}, 0, 0},
	} {
		assert.Equal(t, fairShare(tt.sizes, tt.room), tt.want)
	}
}

// FuzzShorten: no more than asked for is kept, both ends are, and no rune is
// cut.
func FuzzShorten(f *testing.F) {
	f.Add("a long text", 4)
	f.Add("日本語のテキスト", 7)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 0 || most >= len(text) {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		if most >= len(text) {
			return
		}
		got := shorten(text, most)
		head, rest, _ := strings.Cut(got, "\n[")
		assert.Assert(t, strings.HasPrefix(text, head) || strings.Contains(text, "\n["))
		assert.Equal(t, strings.ToValidUTF8(got, "!"), got)
		_, tail, _ := strings.Cut(rest, " bytes left out]\n")
		assert.Assert(t, strings.HasSuffix(text, tail) || strings.Contains(text, "\n["))
	})
}
