package view

import (
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// span is where a turn or an agent lies: milliseconds since the first request,
// or steps of an order.
type span struct{ start, end int }

// places says where every turn of every agent lies, in tree order.
type places struct {
	timed  bool
	turns  [][]span // per agent
	agents []span
}

// placesOf takes the times of the file when it has one for every answer, and
// else lays the turns out in order: one step each, the children of a turn side
// by side behind it, and the next turn behind the last of them.
func placesOf(h *transcripts.History, runs []*runtime.Run) places {
	var first time.Duration
	timed, any := true, false
	for _, run := range runs {
		for i := range run.Turns {
			if run.Turns[i].Answer == nil {
				continue
			}
			spot := h.Spots[transcripts.TurnKey{Agent: run.Agent, Turn: run.Turns[i].Number}]
			if timed = timed && spot.Timed; timed && (!any || spot.Start < first) {
				first = spot.Start
			}
			any = true
		}
	}
	p := places{timed: timed && any, turns: make([][]span, len(runs)), agents: make([]span, len(runs))}
	index := make(map[*runtime.Run]int, len(runs))
	for i, run := range runs {
		index[run] = i
	}
	for _, root := range h.Roots {
		if p.timed {
			p.byTime(h, root, index, first, 0)
		} else {
			p.byOrder(root, index, 0)
		}
	}
	return p
}

// byTime places an agent that was started at the given time.
func (p *places) byTime(h *transcripts.History, run *runtime.Run, index map[*runtime.Run]int, first time.Duration, started int) {
	me := index[run]
	whole := span{-1, started}
	at := started
	for i := range run.Turns {
		turn := &run.Turns[i]
		s := span{at, at}
		if spot := h.Spots[transcripts.TurnKey{Agent: run.Agent, Turn: turn.Number}]; spot.Timed {
			s = span{max(0, int((spot.Start - first).Milliseconds())), max(0, int((spot.End - first).Milliseconds()))}
		}
		s.end = max(s.end, s.start)
		at = s.end
		p.turns[me] = append(p.turns[me], s)
		if whole.start < 0 || s.start < whole.start {
			whole.start = s.start
		}
		whole.end = max(whole.end, s.end)
		for j := range turn.Calls {
			if child := turn.Calls[j].Child; child != nil {
				p.byTime(h, child, index, first, at)
			}
		}
	}
	whole.start = max(whole.start, 0)
	if len(run.Turns) == 0 {
		whole.start = started
	}
	p.agents[me] = whole
}

// byOrder places an agent from a step on, and returns the step after it.
func (p *places) byOrder(run *runtime.Run, index map[*runtime.Run]int, from int) int {
	me, at := index[run], from
	for i := range run.Turns {
		p.turns[me] = append(p.turns[me], span{at, at + 1})
		at++
		behind := at
		for j := range run.Turns[i].Calls {
			if child := run.Turns[i].Calls[j].Child; child != nil {
				behind = max(behind, p.byOrder(child, index, at))
			}
		}
		at = behind
	}
	at = max(at, from+1)
	p.agents[me] = span{from, at}
	return at
}
