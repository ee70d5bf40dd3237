package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// fence is a Boundary: inside is what has no "..".
type fence struct{}

func (fence) Inside(path string) bool { return !strings.Contains(path, "..") && path[0] != '/' }

// approverFunc is an Approver of one function.
type approverFunc func(ctx context.Context, q Question) (Reply, error)

func (f approverFunc) Ask(ctx context.Context, q Question) (Reply, error) { return f(ctx, q) }

func permissionsOf(mode Mode, approver Approver) *Permissions {
	return &Permissions{
		Rules: map[string]Rule{"read": RuleAllow, "write": RuleAsk, "shell": RuleAsk, "off": RuleDeny},
		Paths: map[string]PathArgument{
			"read":  {"path", AccessRead},
			"write": {"path", AccessWrite},
		},
		Boundary: fence{},
		Mode:     mode,
		Approver: approver,
	}
}

func judge(t *testing.T, p *Permissions, tool, arguments string) Judgement {
	t.Helper()
	judgement, err := p.Judge(t.Context(), &Runner{}, Place{Root, 1, 1}, &CallRecord{Number: 1, Name: tool, Arguments: arguments})
	assert.NilError(t, err)
	return judgement
}

// TestJudge: the table of tools and modes. The boundary holds in each mode, and
// nobody is asked about what it refuses.
func TestJudge(t *testing.T) {
	const (
		reading = "Reading outside the workspace is forbidden"
		writing = "Writing outside the workspace is forbidden"
	)
	allow := Judgement{Verdict: VerdictAllow}
	asked := Judgement{Verdict: VerdictAskAllow}
	for _, tt := range []struct {
		tool, arguments                         string
		inDefault, acceptEdits, yolo, readOnly_ Judgement
	}{
		{"read", `{"path":"a"}`, allow, allow, allow, allow},
		{"read", `{}`, allow, allow, allow, allow},
		{"read", ``, allow, allow, allow, allow},
		{"read", `{"path":""}`, allow, allow, allow, allow},
		{"write", `{"path":"a"}`, asked, allow, allow, Judgement{VerdictDeny, "Denied: the session is read-only"}},
		{"shell", `{}`, asked, asked, allow, Judgement{VerdictDeny, "Denied: the session is read-only"}},
		{"unlisted", `{}`, asked, asked, allow, Judgement{VerdictDeny, "Denied: the session is read-only"}},
		{"off", `{}`, denied(VerdictDeny, reasonRule), denied(VerdictDeny, reasonRule), denied(VerdictDeny, reasonRule), Judgement{VerdictDeny, "Denied: this tool is switched off"}},
		{"read", `{"path":"../a"}`, Judgement{VerdictDeny, reading}, Judgement{VerdictDeny, reading}, Judgement{VerdictDeny, reading}, Judgement{VerdictDeny, reading}},
		{"write", `{"path":"/a"}`, Judgement{VerdictDeny, writing}, Judgement{VerdictDeny, writing}, Judgement{VerdictDeny, writing}, Judgement{VerdictDeny, writing}},
		{"write", `{"path":`, Judgement{VerdictDeny, writing}, Judgement{VerdictDeny, writing}, Judgement{VerdictDeny, writing}, Judgement{VerdictDeny, writing}},
	} {
		t.Run(tt.tool+" "+tt.arguments, func(t *testing.T) {
			for mode, want := range map[Mode]Judgement{
				"": tt.inDefault, ModeDefault: tt.inDefault, ModeAcceptEdits: tt.acceptEdits, ModeYolo: tt.yolo, ModeReadOnly: tt.readOnly_,
			} {
				questions := 0
				p := permissionsOf(mode, approverFunc(func(context.Context, Question) (Reply, error) {
					questions++
					return Reply{Allow: true}, nil
				}))
				assert.Equal(t, judge(t, p, tt.tool, tt.arguments), want, "mode %q", mode)
				assert.Equal(t, questions == 1, want.Verdict == VerdictAskAllow, "mode %q", mode)
			}
		})
	}
}

// TestReplies: what the user may say, and what becomes of it.
func TestReplies(t *testing.T) {
	assert.Equal(t, judge(t, permissionsOf(ModeDefault, nil), "shell", "{}"),
		Judgement{VerdictDeny, "Denied: nobody is there to ask"})
	say := func(reply Reply) *Permissions {
		return permissionsOf(ModeDefault, approverFunc(func(context.Context, Question) (Reply, error) { return reply, nil }))
	}
	assert.Equal(t, judge(t, say(Reply{Reason: "not now"}), "shell", "{}"), Judgement{VerdictAskDeny, "Denied: not now"})
	assert.Equal(t, judge(t, say(Reply{}), "shell", "{}"), Judgement{VerdictAskDeny, "Denied: the user said no"})
	assert.Equal(t, judge(t, say(Reply{Always: true}), "shell", "{}"), Judgement{VerdictAskDeny, "Denied: the user said no"})
}

// TestAlways: "allow for this session" holds for the tool, whichever agent
// calls it, and the boundary still comes first.
func TestAlways(t *testing.T) {
	var asked []string
	p := permissionsOf(ModeDefault, approverFunc(func(_ context.Context, q Question) (Reply, error) {
		asked = append(asked, q.Tool)
		return Reply{Allow: true, Always: q.Tool == "write"}, nil
	}))
	child := &Runner{Agent: Root.Child(1, 1)}
	for _, tool := range []string{"write", "write", "shell", "shell"} {
		judgement, err := p.Judge(t.Context(), child, Place{child.Agent, 1, 1}, &CallRecord{Name: tool, Arguments: `{"path":"a"}`})
		assert.NilError(t, err)
		assert.Equal(t, judgement.Verdict.Class(), "allowed")
		judge(t, p, tool, `{"path":"a"}`)
	}
	assert.DeepEqual(t, asked, []string{"write", "shell", "shell", "shell", "shell"})
	assert.Equal(t, judge(t, p, "write", `{"path":"../a"}`).Verdict, VerdictDeny)
}

// TestOneQuestionAtATime is case 4.01: questions of agents that run at once wait
// for each other, each has its own id, each is answered once, none is lost.
func TestOneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ids []int // not locked: one at a time is what is promised
		open := 0
		p := permissionsOf(ModeDefault, approverFunc(func(_ context.Context, q Question) (Reply, error) {
			open++
			assert.Check(t, open == 1)
			ids = append(ids, q.ID)
			time.Sleep(time.Minute) // virtual: the user thinks while the others come
			open--
			return Reply{Allow: q.ID%2 == 0}, nil
		}))
		verdicts := make([]Verdict, 8)
		var all sync.WaitGroup
		for i := range verdicts {
			all.Go(func() { verdicts[i] = judge(t, p, "shell", "{}").Verdict })
		}
		all.Wait()
		assert.DeepEqual(t, ids, []int{1, 2, 3, 4, 5, 6, 7, 8})
		slices.Sort(verdicts)
		assert.DeepEqual(t, verdicts, []Verdict{
			VerdictAskAllow, VerdictAskAllow, VerdictAskAllow, VerdictAskAllow,
			VerdictAskDeny, VerdictAskDeny, VerdictAskDeny, VerdictAskDeny,
		})
	})
}

// TestQuestion: it tells parent from child and says for whom.
func TestQuestion(t *testing.T) {
	var log eventLog
	var got Question
	p := permissionsOf(ModeDefault, approverFunc(func(_ context.Context, q Question) (Reply, error) {
		got = q
		return Reply{Allow: true}, nil
	}))
	child := &Runner{Agent: "root/2.1", Label: "look", Identity: "alice", Observe: log.observe}
	_, err := p.Judge(t.Context(), child, Place{"root/2.1", 3, 1}, &CallRecord{Number: 2, Name: "shell", Arguments: `{"command":"ls"}`})
	assert.NilError(t, err)
	assert.Equal(t, got, Question{
		ID: 1, Agent: "root/2.1", Label: "look", Identity: "alice", Turn: 3, Call: 2, Tool: "shell", Arguments: `{"command":"ls"}`,
	})
	assert.DeepEqual(t, log.lines, []string{`ask root/2.1 [look] 3 2 shell  Allow shell {"command":"ls"} for root/2.1 (look)?`})
}

// TestAskingFails: an approver that breaks is a fault of ours; a context that
// ends while asking, or while waiting to ask, is none.
func TestAskingFails(t *testing.T) {
	call := &CallRecord{Number: 1, Name: "shell"}
	place := Place{Root, 1, 1}
	ask := func(ctx context.Context, approver approverFunc) error {
		_, err := permissionsOf(ModeDefault, approver).Judge(ctx, &Runner{}, place, call)
		return err
	}
	assert.Error(t, ask(t.Context(), func(context.Context, Question) (Reply, error) { return Reply{}, errors.New("no terminal") }),
		"ask about call 1.1 of root: no terminal")
	assert.Error(t, ask(t.Context(), func(context.Context, Question) (Reply, error) { panic("boom") }),
		"ask about call 1.1 of root: the approver crashed: boom")

	ctx, cancel := context.WithCancel(t.Context())
	assert.ErrorIs(t, ask(ctx, func(context.Context, Question) (Reply, error) { cancel(); select {} }), context.Canceled)
	assert.ErrorIs(t, ask(ctx, nil), context.Canceled)

	p := permissionsOf(ModeYolo, nil)
	p.Boundary = nil
	_, err := p.Judge(t.Context(), &Runner{}, place, &CallRecord{Name: "read"})
	assert.Error(t, err, "judge call of read: the policy has no workspace boundary")
}

// TestInterruptedWhileAsking: the call is interrupted, the run cancelled.
func TestInterruptedWhileAsking(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := runnerOf(newScript(t).on(Root, calling(`a echo {}`, `b echo {}`)))
	r.Policy = permissionsOf(ModeDefault, approverFunc(func(context.Context, Question) (Reply, error) {
		cancel()
		return Reply{Allow: true}, nil
	}))
	run, err := r.Run(ctx, "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, StopCancelled)
	assert.DeepEqual(t, outcomes(run), []string{"1.1 a echo interrupted: " + interrupted, "1.2 b echo interrupted: " + interrupted})
}

// TestAuto: what a tool's Auto lets go is not asked about in any mode; the
// boundary and a switched-off tool come first, and one that crashes lets
// nothing go.
func TestAuto(t *testing.T) {
	for _, tt := range []struct {
		arguments                               string
		inDefault, acceptEdits, yolo, readOnly_ Verdict
	}{
		{`{"text":"plain"}`, VerdictAllow, VerdictAllow, VerdictAllow, VerdictAllow},
		{`{"text":"other"}`, VerdictAskDeny, VerdictAskDeny, VerdictAllow, VerdictDeny},
		{`{"text":"crash"}`, VerdictAskDeny, VerdictAskDeny, VerdictAllow, VerdictDeny},
	} {
		for mode, want := range map[Mode]Verdict{
			ModeDefault: tt.inDefault, ModeAcceptEdits: tt.acceptEdits, ModeYolo: tt.yolo, ModeReadOnly: tt.readOnly_,
		} {
			p := permissionsOf(mode, approverFunc(func(context.Context, Question) (Reply, error) { return Reply{}, nil }))
			var seen []string
			plain := func(arguments string) bool {
				seen = append(seen, arguments)
				if strings.Contains(arguments, "crash") {
					panic("boom")
				}
				return strings.Contains(arguments, "plain")
			}
			p.Auto = map[string]func(string) bool{"shell": plain, "off": plain, "write": plain, "read": nil}
			assert.Equal(t, judge(t, p, "shell", tt.arguments).Verdict, want, "mode %s, %s", mode, tt.arguments)
			assert.DeepEqual(t, seen, []string{tt.arguments})
			assert.Equal(t, judge(t, p, "off", `{"text":"plain"}`).Verdict, VerdictDeny)
			assert.Equal(t, judge(t, p, "write", `{"path":"../plain"}`).Verdict, VerdictDeny)
			assert.Equal(t, len(seen), 1, "nothing else is judged")
		}
	}
}

// TestChildMode: the stricter of the two modes holds for a child, the session's
// own for the root; the parent's denials are a ceiling.
func TestChildMode(t *testing.T) {
	order := []Mode{ModeReadOnly, ModeDefault, ModeAcceptEdits, ModeYolo}
	outcome := func(mode, childMode Mode, agent Path, tool string) string {
		p := permissionsOf(mode, approverFunc(func(context.Context, Question) (Reply, error) { return Reply{Allow: true}, nil }))
		p.ChildMode = childMode
		judgement, err := p.Judge(t.Context(), &Runner{Agent: agent}, Place{agent, 1, 1}, &CallRecord{Name: tool, Arguments: `{"path":"a"}`})
		assert.NilError(t, err)
		return string(judgement.Verdict) + " " + judgement.Reason
	}
	for i, mode := range order {
		for j, childMode := range order {
			for _, tool := range []string{"read", "write", "shell", "off"} {
				assert.Equal(t, outcome(mode, childMode, Root, tool), outcome(mode, "", Root, tool))
				for _, child := range []Path{"root/1.1", "root/1.1/2.1"} {
					want := outcome(order[min(i, j)], "", Root, tool)
					if mode != ModeReadOnly {
						want = strings.ReplaceAll(want, reasonReadOnly, reasonChildren)
					}
					assert.Equal(t, outcome(mode, childMode, child, tool), want, "%s, children %s, %s", mode, childMode, tool)
				}
			}
		}
		assert.Equal(t, outcome(mode, "", "root/1.1", "write"), outcome(mode, "", Root, "write"))
		assert.Equal(t, outcome("", mode, Root, "write"), outcome("", "", Root, "write"))
	}

	for _, p := range []*Permissions{permissionsOf("wild", nil), {ChildMode: "wild"}} {
		_, err := p.Judge(t.Context(), &Runner{}, Place{Root, 1, 1}, &CallRecord{Name: "shell"})
		assert.Error(t, err, `judge call of shell: the policy has the unknown mode "wild"`)
	}
}

// TestAlwaysDoesNotLiftReadOnly: what the user allowed for the session is not
// allowed to a child that must not write, also if it was a child that asked.
func TestAlwaysDoesNotLiftReadOnly(t *testing.T) {
	p := permissionsOf(ModeDefault, approverFunc(func(context.Context, Question) (Reply, error) {
		return Reply{Allow: true, Always: true}, nil
	}))
	p.ChildMode = ModeReadOnly
	child := func() Judgement {
		judgement, err := p.Judge(t.Context(), &Runner{}, Place{"root/1.1", 1, 1}, &CallRecord{Name: "shell"})
		assert.NilError(t, err)
		return judgement
	}
	refused := Judgement{VerdictDeny, "Denied: subagents are read-only"}
	assert.Equal(t, child(), refused)
	assert.Equal(t, judge(t, p, "shell", "{}").Verdict, VerdictAskAllow)
	assert.Equal(t, judge(t, p, "shell", "{}").Verdict, VerdictAllow, "remembered for the root")
	assert.Equal(t, child(), refused)
}

// TestThreeChildrenAsk is case 4.01: three children ask at once and a person
// answers when and how they like. Each question is put once, with an id and the
// child's title of its own, none replaces another, and (case 4.02) a denial is
// that of one child alone.
func TestThreeChildrenAsk(t *testing.T) {
	titles := []string{"first", "second", "third"}
	replies := map[string]Reply{"first": {Allow: true}, "second": {Reason: "not this"}, "third": {Allow: true}}
	for range 50 {
		questions := make(chan Question)
		answers := make(chan Reply)
		p := permissionsOf(ModeDefault, approverFunc(func(_ context.Context, q Question) (Reply, error) {
			questions <- q
			return <-answers, nil
		}))
		judgements := make([]Judgement, len(titles))
		var children sync.WaitGroup
		for i, title := range titles {
			children.Go(func() {
				child := &Runner{Agent: Root.Child(1, i+1), Label: title}
				var err error
				judgements[i], err = p.Judge(t.Context(), child, Place{child.Agent, 1, 1}, &CallRecord{Number: 1, Name: "shell", Arguments: title})
				assert.Check(t, err)
			})
		}
		asked := make(map[string]bool)
		for id := range titles {
			q := <-questions
			assert.Equal(t, q.ID, id+1)
			assert.Check(t, !asked[q.Label] && q.Arguments == q.Label && q.Agent == Root.Child(1, slices.Index(titles, q.Label)+1), "%+v", q)
			asked[q.Label] = true
			select {
			case second := <-questions:
				t.Errorf("question %d while %d is open", second.ID, q.ID)
			default:
			}
			answers <- replies[q.Label]
		}
		children.Wait()
		assert.DeepEqual(t, judgements, []Judgement{
			{Verdict: VerdictAskAllow}, {VerdictAskDeny, "Denied: not this"}, {Verdict: VerdictAskAllow},
		})
	}
}

// TestThePolicyTravelsWithItsSession is case 4.09: what one session forbids is
// forbidden to its parent and children while another session that may do
// anything runs beside it.
func TestThePolicyTravelsWithItsSession(t *testing.T) {
	strict, free := permissionsOf(ModeYolo, nil), permissionsOf(ModeYolo, nil)
	strict.Rules["shell"] = RuleDeny
	var agents sync.WaitGroup
	for _, agent := range []Path{Root, "root/1.1", "root/1.2"} {
		for p, want := range map[*Permissions]Verdict{strict: VerdictDeny, free: VerdictAllow} {
			agents.Go(func() {
				for range 200 {
					judgement, err := p.Judge(t.Context(), &Runner{Agent: agent}, Place{agent, 1, 1}, &CallRecord{Name: "shell"})
					assert.Check(t, err)
					assert.Check(t, judgement.Verdict == want)
				}
			})
		}
	}
	agents.Wait()
}
