package transcripts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// Session builds the session tree as recorded, in placeholder form: what show
// and checks read. It is the tree of the first root; the others that a foreign
// program may have are in Sessions.
func (f *File) Session() (*runtime.Run, error) {
	runs, err := f.Sessions()
	if err != nil {
		return nil, err
	}
	return runs[0], nil
}

// Sessions builds the tree of every root, in order. Of side conversations only
// compactions are part of them: each stands in the turn before whose request it
// was held. A child whose call is not known (the recording broke off)
// hangs under a call made up for it, so that no agent is lost.
func (f *File) Sessions() ([]*runtime.Run, error) {
	s := &sessionBuilder{file: f, agents: map[runtime.Path]*agentLines{}, stops: map[runtime.Path]runtime.StopReason{}, sides: f.compactions(), sent: f.ChatForm()}
	for _, x := range f.Exchanges {
		if _, side := sideOf(x.Agent); !side {
			s.agent(x.Agent).exchanges = append(s.agent(x.Agent).exchanges, x)
		}
	}
	for _, c := range f.Calls {
		if _, side := sideOf(c.Agent); !side {
			s.agent(c.Agent).calls = append(s.agent(c.Agent).calls, c)
		}
	}
	if len(s.agents) == 0 {
		return nil, fmt.Errorf("read session of %s: no agent's exchange is recorded", cmp.Or(f.Path, "transcript"))
	}
	if f.End != nil {
		for _, stop := range f.End.Stops {
			s.stops[stop.Agent] = stop.Reason
		}
	}
	return s.build()
}

// agentLines are the lines of one agent.
type agentLines struct {
	exchanges []*Exchange
	calls     []*Call
}

type sessionBuilder struct {
	file   *File
	agents map[runtime.Path]*agentLines
	stops  map[runtime.Path]runtime.StopReason
	sides  map[runtime.Path][]sideTries
	sent   func(*Exchange) runtime.View // in chat form
}

// agent returns the lines of an agent; agents above it come to exist too.
func (s *sessionBuilder) agent(path runtime.Path) *agentLines {
	lines := s.agents[path]
	if lines == nil {
		lines = &agentLines{}
		s.agents[path] = lines
		if parent, _, _ := startedBy(path); parent != "" {
			s.agent(parent)
		}
	}
	return lines
}

// startedBy returns the agent and the call that started path. The second child
// of one call counts as that call's; turn is 0 for a child of no visible call;
// parent is "" for a root.
func startedBy(path runtime.Path) (parent runtime.Path, turn, call int) {
	cut := strings.LastIndexByte(string(path), '/')
	if cut < 0 {
		return "", 0, 0
	}
	step, _, _ := strings.Cut(string(path[cut+1:]), "#")
	_, turn, call, _ = splitCallPlace("", step) // zero for ?N
	return path[:cut], turn, call
}

// build makes every agent's run, parents before children, and hangs each under
// its call.
func (s *sessionBuilder) build() ([]*runtime.Run, error) {
	order := keys{}
	paths := make([]runtime.Path, 0, len(s.agents))
	for path := range s.agents {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b runtime.Path) int {
		return cmp.Or(slices.Compare(order.agent(a), order.agent(b)), cmp.Compare(a, b))
	})
	made, err := s.runs(paths)
	if err != nil {
		return nil, err
	}
	runs := map[runtime.Path]*runtime.Run{}
	var roots []*runtime.Run
	for i, path := range paths {
		run := made[i]
		runs[path] = run
		if parent, turn, call := startedBy(path); parent != "" {
			hang(runs[parent], run, turn, call)
		} else {
			roots = append(roots, run)
		}
	}
	for _, root := range roots {
		total(root)
	}
	return roots, nil
}

// total fills the usage of every tree below run.
func total(run *runtime.Run) {
	run.Tree = run.Usage
	for _, child := range run.Children() {
		total(child)
		run.Tree = run.Tree.Add(child.Tree)
	}
}

// hang puts child under the call that started it. A call that has no record,
// or has a child already, gets one more record.
func hang(parent, child *runtime.Run, turn, call int) {
	at := slices.IndexFunc(parent.Turns, func(t runtime.Turn) bool { return t.Number == turn })
	if at < 0 {
		if len(parent.Turns) == 0 {
			parent.Turns = []runtime.Turn{{Number: max(turn, 1)}}
		}
		at = len(parent.Turns) - 1
	}
	t := &parent.Turns[at]
	for i := range t.Calls {
		if t.Number == turn && t.Calls[i].Number == call && t.Calls[i].Child == nil {
			t.Calls[i].Child = child
			child.Label = cmp.Or(taskTitle(t.Calls[i].Arguments), child.Label)
			return
		}
	}
	made := runtime.CallRecord{
		Number: call, Name: runtime.TaskToolName, Verdict: runtime.VerdictInterrupted, Child: child,
	}
	after := slices.IndexFunc(t.Calls, func(c runtime.CallRecord) bool { return call > 0 && c.Number > call })
	if after < 0 {
		after = len(t.Calls)
	}
	t.Calls = slices.Insert(t.Calls, after, made)
}

// taskTitle is the label of the agent that a call with these arguments starts.
func taskTitle(arguments string) string {
	value := jsontext.Value(arguments)
	if !value.IsValid() {
		return ""
	}
	for _, m := range membersOf(value) {
		if m.Name == "description" {
			return strings.TrimSpace(stringOf(m.Value))
		}
	}
	return ""
}

// runs builds the agents' runs, several at once: nothing of one is in another.
// Of several errors the first agent's is returned.
func (s *sessionBuilder) runs(paths []runtime.Path) ([]*runtime.Run, error) {
	made, failed := make([]*runtime.Run, len(paths)), make([]error, len(paths))
	var group sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, path := range paths {
		slots <- struct{}{}
		group.Go(func() {
			made[i], failed[i] = s.run(path)
			<-slots
		})
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// run builds one agent's run without its children.
func (s *sessionBuilder) run(path runtime.Path) (*runtime.Run, error) {
	lines := s.agents[path]
	slices.SortStableFunc(lines.exchanges, func(a, b *Exchange) int {
		return cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Try, b.Try))
	})
	slices.SortStableFunc(lines.calls, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Call, b.Call))
	})
	b := &runBuilder{run: &runtime.Run{Agent: path, Label: string(path)}, calls: lines.calls, sides: s.sides[path], sent: s.sent}
	for i := 0; i < len(lines.exchanges); {
		n := i + 1
		for n < len(lines.exchanges) && lines.exchanges[n].Turn == lines.exchanges[i].Turn {
			n++
		}
		if err := b.turn(lines.exchanges[i:n]); err != nil {
			return nil, fmt.Errorf("read session of %s: %s: %w", cmp.Or(s.file.Path, "transcript"), path, err)
		}
		i = n
	}
	b.strays(math.MaxInt)
	if err := b.unplaced(); err != nil {
		return nil, fmt.Errorf("read session of %s: %s: %w", cmp.Or(s.file.Path, "transcript"), path, err)
	}
	b.finish(s.stops[path])
	return b.run, nil
}
