// Package transcripts reads and writes transcripts: files that hold one
// recorded session, a parent agent and all its subagents, with every request
// and response. docs/format.md describes the format.
package transcripts

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// Format is the number of the transcript format that this package writes, and
// the newest that it reads.
const Format = 1

// Authored is the header's "by" of a transcript that a person wrote: its lines
// may go without sums.
const Authored = "authored"

// The values of Exchange.Flag.
const (
	FlagTwin      = "twin"      // interchangeable with its candidates, named in call order
	FlagAmbiguous = "ambiguous" // any of its candidates
)

// SyntaxError is bad input, with its place and a way out.
type SyntaxError struct {
	File string
	Line int // from 1; 0: the file as a whole
	Msg  string
	Fix  string // a command or an action; may be ""
	Seal bool   // the line is well-formed, but its sum is wrong or missing
}

func (e *SyntaxError) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	text += ": " + clipped(e.Msg)
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Of a message that quotes a word of the file, the beginning and the end are
// shown: such a word can be as long as the file.
const messageHead, messageTail = 300, 150

func clipped(msg string) string {
	if len(msg) <= messageHead+messageTail {
		return msg
	}
	head, tail := msg[:messageHead], msg[len(msg)-messageTail:]
	return strings.ToValidUTF8(head, "") + " … " + strings.ToValidUTF8(tail, "")
}

// File is one transcript: a session tree as it was recorded, in placeholder
// form. A File that Parse returned is not changed by any method, so several
// goroutines may read it.
type File struct {
	Path      string // as named in messages
	Header    Header
	Exchanges []*Exchange // in file order
	Calls     []*Call     // the tool lines, in file order
	HTTP      []*HTTP
	Timing    *Timing
	End       *End // nil: the recording broke off (partial)
	Torn      int  // number of the unfinished last line that was left out; 0: none

	systemExtra map[string][]Member // unknown keys of system lines, by text
	toolsExtra  map[string][]Member // unknown keys of tools lines, by list
}

// Partial reports that the recording broke off: the file has no end line.
func (f *File) Partial() bool { return f.End == nil }

// Foreign reports that the file records a program that is not our own runner: it
// has no profile, and no tool lines, for such a program runs its tools itself.
func (f *File) Foreign() bool { return f.Header.Profile == "" }

// Member is one key of a JSON object with its value.
type Member struct {
	Name  string
	Value jsontext.Value
}

// Header is the first line of a transcript. Extra, here and in every other
// kind of line, holds the keys this version does not know, which are kept and
// written again in their order.
type Header struct {
	Name     string
	Profile  string // of our own runner; "": a program of someone else's was recorded
	Client   string // the User-Agent of its first model request
	Models   []string
	Upstream string
	// SubUpstream is where children asked, if not where their parent did.
	SubUpstream string
	Env         Env
	Recorded    string // RFC 3339
	By          string // "tapetree vX" or Authored
	// Imported is the format of the message history that this was made of, such as
	// "claude-code"; "" for what was recorded. Its agents are those that the history
	// names: no traffic shows them.
	Imported string
	Extra    []Member
}

// Env is what the built-in prompt says of the machine, for replay.
type Env struct {
	OS, Date string
	Extra    []Member
}

// Exchange is one request and its response, identified by agent, turn and try.
//
// Messages is the whole request list in the form of the wire, the system message
// first; where the system text stands beside the list, Params holds
// SystemReference at its place. The exchanges
// of one agent share one lineage (View.Extends holds from one to the next)
// unless a request changed older messages.
//
// Exactly one of Response, SSE, Text, Base64 and Err is set.
type Exchange struct {
	Line      int
	Agent     runtime.Path // or a side conversation PATH~WORD.N
	Turn, Try int          // Try is 1 when the line has none
	// Flag is FlagTwin or FlagAmbiguous where the agent was inferred and could not be
	// decided; Candidates are the paths that it may be.
	Flag       string
	Candidates []runtime.Path
	Wire       string // "chat", "responses" or "messages"; "" is written as "chat"
	Model      string
	Messages   runtime.View
	Tools      jsontext.Value  // the JSON array of tool definitions; nil: none
	Params     []runtime.Param // every other member of the request body in order, stream and stream_options included
	Recut      bool            // frames were cut anew to put a placeholder over their border
	Status     int
	Headers    []Member       // kept ones, lower-case names; a value is a string, or an array of strings for a repeated header
	Response   jsontext.Value // a JSON body; one that cannot stand on a line as it is becomes Text or Base64 when written
	SSE        []string       // the blocks of a stream as received; may be empty but not nil; a block need not be UTF-8
	StreamEnd  runtime.End    // how a stream, or a body that broke off, ended
	Text       *string        // a body that is no JSON
	Base64     []byte         // a body that is no UTF-8, decoded
	Err        string         // "dial", "tls" or "timeout" when Status is 0
	Extra      []Member

	answer *runtime.Answer // what was decoded in a lean reading; nil: nothing yet
}

// Call is one tool line.
type Call struct {
	Line       int
	Agent      runtime.Path
	Turn, Call int
	ID, Name   string
	Arguments  string // the text as the model wrote it
	Verdict    runtime.Verdict
	Result     string
	Child      runtime.Path // the agent this call started; "" none
	Extra      []Member
}

// HTTP is what is no model exchange: a line of kind http, whole.
type HTTP struct {
	Line int
	Raw  jsontext.Value
}

// Timing holds all clocks of a session, in milliseconds since its start, and
// the order of starts and ends of all calls over all agents.
type Timing struct {
	// Clock is ClockSequence where the milliseconds tell only in which order the
	// exchanges were, for nothing says when; else "".
	Clock     string
	Exchanges []ExchangeTime
	Order     []string // "+root#1.1" start, "-root#1.1" end
	Extra     []Member
}

// ClockSequence is the value of Timing.Clock for a session of which only the
// order of its exchanges is known.
const ClockSequence = "sequence"

// ExchangeTime is when an exchange started, when its first byte and its last
// came, and when each block of a stream did, all in milliseconds.
type ExchangeTime struct {
	Agent             runtime.Path
	Turn, Try         int
	Start, First, End float64
	Blocks            []float64
	Extra             []Member
}

// End is the last line of a whole transcript. Exchanges is counted anew when
// the file is written.
type End struct {
	Exchanges int
	Code      *int   // exit code of the command that was recorded; nil: none was
	Stops     []Stop // in tree order
	Extra     []Member
}

// Stop says why an agent ended.
type Stop struct {
	Agent  runtime.Path
	Reason runtime.StopReason
}

// place names an exchange or a turn in messages and references: AGENT#TURN.
func place(agent runtime.Path, turn int) string {
	return fmt.Sprintf("%s#%d", agent, turn)
}
