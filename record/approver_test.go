package record

import (
	"context"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// person allows all but b, and says why.
type person struct{ asked []string }

func (p *person) Ask(_ context.Context, q runtime.Question) (runtime.Reply, error) {
	p.asked = append(p.asked, string(q.Agent)+" "+q.Arguments)
	if q.Arguments == `{"text":"b"}` {
		return runtime.Reply{Reason: "b is private"}, nil
	}
	return runtime.Reply{Allow: true}, nil
}

// What a person answered while recording is answered again in a replay, with
// nobody there (case 4.02: a denial hurts only its own call).
func TestAnswersOfAPersonReplay(t *testing.T) {
	asking := func(who runtime.Approver) runtime.Policy {
		return &runtime.Permissions{
			Rules:    map[string]runtime.Rule{"note": runtime.RuleAsk, "task": runtime.RuleAllow},
			Approver: who,
		}
	}
	who := &person{}
	u := newUpstream(t, family)
	f, _, run := record(t, u, session{policy: asking(who)})
	assert.DeepEqual(t, who.asked, []string{`root/1.1 {"text":"child"}`, `root {"text":"a"}`, `root {"text":"b"}`})

	r, err := NewReplayer(f, ReplayOptions{Live: func(string) bool { return true }})
	assert.NilError(t, err)
	again, err := session{model: r, tape: r, observe: r.Observe, policy: asking(r.Approver())}.run(t)
	assert.NilError(t, err)
	assert.Equal(t, len(r.Report().Findings), 0)
	assert.Equal(t, r.Report().Grade, Exact)
	for i, want := range []string{"noted a", "Error [permission_denied]: Denied: b is private"} {
		assert.Equal(t, again.Turns[1].Calls[i].Result, want)
		assert.Equal(t, again.Turns[1].Calls[i].Verdict, run.Turns[1].Calls[i].Verdict)
	}
}
