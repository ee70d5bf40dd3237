package transcripts

import (
	"strings"
	"time"

	"github.com/tapetree/tapetree/runtime"
)

// History is one session as any file tells it: the trees of its agents, each
// with the messages it had, the answers that it gave and the calls that it made.
// Transcripts give one, and so do the files of other programs, which know
// nothing of requests: there every answer of an assistant is a turn, and what
// stands before it is what was sent.
//
// A run without turns and without history is an agent that is known only by the
// call that started it (see Delegates); why it stopped is not known, Stop is "".
type History struct {
	Path   string // the file, as messages name it
	Part   string // which session of the file, such as "line 3" or "task 17"; "" when it has one
	Format string // the name of the format, such as "transcript" or "claude-code"
	Began  time.Time
	Roots  []*runtime.Run
	// File is the transcript, where there is one: with requests, side
	// conversations, parameters and tool lists. nil for a history of messages.
	File *File
	// Spots says where and when turns were, as far as the file says it.
	Spots map[TurnKey]Spot
	// Copied says of agents that were begun with a copy of their parent's history,
	// by intent, with how many messages. nil: none was.
	Copied map[runtime.Path]int
	// Answered is set where the file holds what came after the last answer, so
	// that a call without a result there has none, rather than one that nobody
	// saw.
	Answered bool
	// Warnings name what could not be read; the rest is there.
	Warnings []Warning
	// Lost names what the file holds and a history has no place for, each kind
	// once, with how often, such as "3 file-history-snapshot lines".
	Lost []string
}

// TurnKey names one turn of one agent.
type TurnKey struct {
	Agent runtime.Path
	Turn  int
}

// Spot is where and when one turn was.
type Spot struct {
	Line       int           // of the answer, from 1; 0: not known
	Start, End time.Duration // of the request and the answer since History.Began
	Timed      bool          // Start and End are known
}

// Warning is a place of a file that could not be read.
type Warning struct {
	Line int // from 1; 0: the file as a whole
	Msg  string
	Text string // of a file of lines: the line as it stands, where it was left out
}

// Name is the history as messages name it: the file, and which session of it.
func (h *History) Name() string {
	if h.Part == "" {
		return h.Path
	}
	return h.Path + " (" + h.Part + ")"
}

// Walk visits every agent, parents before children, in tree order.
func (h *History) Walk(visit func(*runtime.Run)) {
	for _, root := range h.Roots {
		root.Walk(visit)
	}
}

// Agent returns the run of one agent, nil when there is none.
func (h *History) Agent(path runtime.Path) *runtime.Run {
	var found *runtime.Run
	h.Walk(func(r *runtime.Run) {
		if r.Agent == path {
			found = r
		}
	})
	return found
}

// Foreign reports that a program that is not our own runner had the session.
func (h *History) Foreign() bool { return h.File == nil || h.File.Foreign() }

// History returns the transcript as a history.
func (f *File) History() (*History, error) {
	roots, err := f.Sessions()
	if err != nil {
		return nil, err
	}
	if f.Foreign() {
		for _, root := range roots {
			nameAgents(root)
		}
	}
	h := &History{Path: f.Path, Format: "transcript", Roots: roots, File: f, Spots: map[TurnKey]Spot{}}
	if began, err := time.Parse(time.RFC3339, f.Header.Recorded); err == nil {
		h.Began = began
	}
	for _, x := range f.Exchanges {
		if !strings.Contains(string(x.Agent), "~") {
			h.Spots[TurnKey{x.Agent, x.Turn}] = Spot{Line: x.Line}
		}
	}
	if f.Timing != nil && f.Timing.Clock == "" {
		for _, t := range f.Timing.Exchanges {
			key := TurnKey{t.Agent, t.Turn}
			spot, known := h.Spots[key]
			if !known {
				continue
			}
			if !spot.Timed {
				spot.Start = sinceStart(t.Start)
			}
			spot.End, spot.Timed = sinceStart(t.End), true
			h.Spots[key] = spot
		}
	}
	if f.Torn > 0 {
		h.Warnings = append(h.Warnings, Warning{Line: f.Torn, Msg: "the line breaks off, and was left out"})
	}
	return h, nil
}

func sinceStart(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
