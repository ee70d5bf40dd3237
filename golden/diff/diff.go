// Package diff shows where two sessions part: their agents are put beside each
// other, children under the calls that started them, then the messages of each
// pair of agents. It also holds each child of one session against its parent:
// what it was told, what came back, and what stayed with the child.
package diff

import (
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Options of a comparison. The zero value compares texts as they are.
type Options struct {
	// Volatile rules are applied to every text before it is compared.
	Volatile *record.Volatile
	// Fold puts placeholders for paths; nil changes nothing.
	Fold func(string) string
	// Agent limits the diff to this agent and those below it; "" is all. A child
	// is named as either side names it.
	Agent runtime.Path
	// Full keeps the texts of equal messages too, not only how they begin.
	Full bool
	// Steps, where it is not nil, counts what aligning costs.
	Steps *int
}

// Kind says what became of a message, or of an agent.
type Kind string

// The kinds, seen from the left side.
const (
	Same    Kind = "same"
	Changed Kind = "changed"
	Moved   Kind = "moved" // equal, in another place
	Removed Kind = "removed"
	Added   Kind = "added"
)

// Version is the version of the JSON form of a Diff and of Delegations.
const Version = 1

// Diff is how two sessions differ.
type Diff struct {
	Version int    `json:"version"`
	Left    string `json:"left"` // the names of the two histories
	Right   string `json:"right"`
	Equal   bool   `json:"equal"`
	// Agents in tree order of the left side, those of the right side alone where
	// they would stand.
	Agents []*Agent `json:"agents"`
	// Covered counts what the volatile rules covered, by rule.
	Covered []Use `json:"covered,omitempty"`
}

// Use is how often a volatile rule covered something, on both sides together.
type Use struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// Agent is one agent on both sides, or on one.
type Agent struct {
	Kind  Kind   `json:"kind"`            // same, changed, removed or added
	Left  string `json:"left,omitempty"`  // its path on each side; "" where it is missing
	Right string `json:"right,omitempty"` //
	Label string `json:"label,omitempty"` // its title, of the left side where both have one
	// Settings are what differs beside the messages: prompt, tools, model,
	// parameters, stop, tries.
	Settings []Setting `json:"settings,omitempty"`
	Counts   Counts    `json:"counts"`
	// First is the row of the first difference, -1 when no message differs.
	First  int    `json:"first"`
	Tokens Tokens `json:"tokens"`
	Rows   []Row  `json:"rows"`
}

// Setting is a difference of what a request has beside its messages.
type Setting struct {
	Grade string `json:"grade"` // prompt, tools, model, parameters, stop or tries
	Left  string `json:"left"`
	Right string `json:"right"`
	Parts []Part `json:"parts,omitempty"` // of a prompt: what differs, by words
}

// Counts are numbers of messages.
type Counts struct {
	Same    int `json:"same"`
	Changed int `json:"changed"`
	Moved   int `json:"moved"`
	Removed int `json:"removed"`
	Added   int `json:"added"`
}

// Tokens are the tokens that an agent used on each side.
type Tokens struct {
	Left  Usage `json:"left"`
	Right Usage `json:"right"`
}

// Usage is what the requests of an agent took in and gave out.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// Row is a message on both sides, or on one. A moved message has two rows, one
// where it stands on each side; Side tells which of them it is.
type Row struct {
	Kind  Kind     `json:"kind"`
	Side  string   `json:"side,omitempty"` // of a moved message: left or right
	Left  *Message `json:"left,omitempty"`
	Right *Message `json:"right,omitempty"`
	Parts []Part   `json:"parts,omitempty"` // of a changed text: the whole of it, by words
	// Pairing says that the texts are equal, and the ids are not the same under
	// any one-to-one renaming: a result answers another call.
	Pairing bool `json:"pairing,omitempty"`
	// Calls are those of a changed answer, in pairs.
	Calls []CallRow `json:"calls,omitempty"`
}

// Message is one message of one side.
type Message struct {
	Number int    `json:"number"`         // in the agent's own count, from 1, system texts apart
	Turn   int    `json:"turn,omitempty"` // of the answer, or of the request that first has it
	Role   string `json:"role"`           // user, assistant, tool, note …
	Tool   string `json:"tool,omitempty"` // of a result: the tool that was called
	// Text is the whole text where the message differs; of an equal one it is the
	// beginning, unless Options.Full was set.
	Text  string `json:"text,omitempty"`
	Size  int    `json:"size"`          // bytes of the text
	Cut   bool   `json:"cut,omitempty"` // Text is only the beginning
	Calls []Call `json:"calls,omitempty"`
}

// Call is a call of an answer.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"` // members of objects in one order; "" of equal messages
	Child     string `json:"child,omitempty"`     // the agent that it started
}

// CallRow is a call on both sides, or on one, by index into the Calls of the
// messages; -1: none.
type CallRow struct {
	Kind  Kind   `json:"kind"`
	Left  int    `json:"left"`
	Right int    `json:"right"`
	Parts []Part `json:"parts,omitempty"` // of changed arguments
}

// Part is a piece of a text that changed.
type Part struct {
	Kind Kind   `json:"kind"` // same, removed or added
	Text string `json:"text"`
}

// Compare puts two sessions beside each other.
func Compare(a, b *transcripts.History, o Options) *Diff {
	left, right := Outline(a, o), Outline(b, o)
	d := Align(left, right, o)
	d.Fill(a, nil)
	d.Fill(nil, b)
	d.Finish()
	return d.Diff
}
