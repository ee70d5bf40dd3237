package record

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// FaultKind is the first word of what a Fault does.
type FaultKind string

// The kinds of faults. Status and delay come before the answer; the others
// change its bytes.
const (
	FaultStatus    FaultKind = "status"
	FaultDelay     FaultKind = "delay"
	FaultCut       FaultKind = "cut"
	FaultNoDone    FaultKind = "no-done"
	FaultArguments FaultKind = "arguments"
	FaultIDs       FaultKind = "ids"
	FaultError     FaultKind = "error"
)

// Fault is something that goes wrong with an answer on purpose, to see how an
// agent copes. ParseFault reads one, String writes it.
type Fault struct {
	Agent runtime.Path // "": any
	Turn  int          // 0: any
	Kind  FaultKind

	Status     int           // of status: 400 to 599
	RetryAfter string        // of status: seconds; "": no such header
	Times      int           // of status: how many tries of the turn meet it
	Delay      time.Duration // of delay
	Bytes      int           // of cut: how many bytes of the body come; Word "arguments" in their place
	Word       string        // of cut, arguments, ids: what is cut or how it is spoilt
	Message    string        // of error; "" is a text of ours
}

// faultForms shows each kind as it is written.
var faultForms = []string{
	"status CODE [retry-after=SECONDS] [times=N]", "delay DURATION", "cut BYTES|arguments", "no-done",
	"arguments malformed|duplicated", "ids duplicated|empty", "error [MESSAGE]",
}

// ParseFault reads AGENT#TURN KIND [ARGS], such as
//
//	root/2.1#1 status 429 retry-after=2 times=2
//	root#* cut arguments
//
// AGENT and TURN may be *. An error names the line and shows the form.
func ParseFault(line string) (Fault, error) {
	var f Fault
	where, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	cut := strings.LastIndexByte(where, '#')
	if cut < 0 {
		return f, fmt.Errorf("parse fault %q: it begins with AGENT#TURN, as in root/2.1#1 status 429", line)
	}
	agent, turn := where[:cut], where[cut+1:]
	if agent != "*" {
		if !transcripts.IsAgent(runtime.Path(agent)) {
			return f, fmt.Errorf("parse fault %q: %q is no agent path; write root, root/2.1, root~compact.1, or *", line, agent)
		}
		f.Agent = runtime.Path(agent)
	}
	if turn != "*" {
		n, ok := wholeNumber(turn)
		if !ok || n == 0 {
			return f, fmt.Errorf("parse fault %q: turn %q is no number from 1, and not *", line, turn)
		}
		f.Turn = n
	}
	kind, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
	f.Kind = FaultKind(kind)
	if msg := f.parseArgs(strings.TrimSpace(args)); msg != "" {
		return Fault{}, fmt.Errorf("parse fault %q: %s", line, msg)
	}
	return f, nil
}

// wholeNumber reads a number from 0 without sign or leading zero.
func wholeNumber(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == text
}

// parseArgs reads what follows the kind and returns what is wrong with it.
func (f *Fault) parseArgs(args string) string {
	form := ""
	for _, known := range faultForms {
		if word, _, _ := strings.Cut(known, " "); word == string(f.Kind) {
			form = known
		}
	}
	if form == "" {
		return fmt.Sprintf("there is no kind %q; allowed are %s", f.Kind, strings.Join(faultForms, ", "))
	}
	ok := true
	switch f.Kind {
	case FaultStatus:
		ok = f.parseStatus(strings.Fields(args))
	case FaultDelay:
		d, err := time.ParseDuration(args)
		f.Delay, ok = d, err == nil && d > 0
	case FaultCut:
		f.Bytes, ok = wholeNumber(args)
		if args == "arguments" {
			f.Bytes, f.Word, ok = 0, args, true
		}
	case FaultNoDone:
		ok = args == ""
	case FaultArguments:
		f.Word, ok = args, args == "malformed" || args == "duplicated"
	case FaultIDs:
		f.Word, ok = args, args == "duplicated" || args == "empty"
	case FaultError:
		f.Message = args
	}
	if !ok {
		return fmt.Sprintf("after the agent stands %s", form)
	}
	return ""
}

func (f *Fault) parseStatus(args []string) bool {
	if len(args) == 0 {
		return false
	}
	ok := false
	if f.Status, ok = wholeNumber(args[0]); !ok || f.Status < 400 || f.Status > 599 {
		return false
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		n, isNumber := wholeNumber(value)
		switch {
		case name == "retry-after" && isNumber && f.RetryAfter == "":
			f.RetryAfter = value
		case name == "times" && isNumber && n > 0 && f.Times == 0:
			f.Times = n
		default:
			return false
		}
	}
	f.Times = cmp.Or(f.Times, 1)
	return true
}

// String writes the fault as ParseFault reads it.
func (f Fault) String() string {
	agent, turn := cmp.Or(string(f.Agent), "*"), "*"
	if f.Turn > 0 {
		turn = strconv.Itoa(f.Turn)
	}
	return agent + "#" + turn + " " + f.what()
}

// what is the fault without its place.
func (f Fault) what() string {
	text := string(f.Kind)
	switch f.Kind {
	case FaultStatus:
		text += " " + strconv.Itoa(f.Status)
		if f.RetryAfter != "" {
			text += " retry-after=" + f.RetryAfter
		}
		if f.Times > 1 {
			text += " times=" + strconv.Itoa(f.Times)
		}
	case FaultDelay:
		text += " " + f.Delay.String()
	case FaultCut:
		text += " " + cmp.Or(f.Word, strconv.Itoa(f.Bytes))
	case FaultArguments, FaultIDs:
		text += " " + f.Word
	case FaultError:
		if f.Message != "" {
			text += " " + f.Message
		}
	}
	return text
}

// meets reports whether the fault is meant for a turn.
func (f Fault) meets(at place) bool {
	return (f.Agent == "" || f.Agent == at.Agent) && (f.Turn == 0 || f.Turn == at.Turn)
}
