package imports

import (
	"bytes"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
)

// What is wrong with a line of a session file.
const (
	lineTorn   = "the line breaks off, and was left out"
	lineBroken = "no JSON, left out"
	lineOther  = "no JSON object, left out"
)

// lineMembers are the members of a line that were asked for.
type lineMembers = found

// objectLines gives of every line of data that is a JSON object the members that
// are asked for, with the line's number. Others are warnings.
func objectLines(data []byte, names []string, warn func(line int, msg string), each func(line int, raw jsontext.Value, m lineMembers)) {
	data = trim(data)
	whole := bytes.HasSuffix(data, []byte{'\n'})
	held := 0 // the number of a line that is no JSON and may be the last
	for number, line := range lines(data) {
		if held > 0 {
			warn(held, lineBroken)
			held = 0
		}
		raw := jsontext.Value(bytes.TrimSpace(line))
		switch m, object, err := wholeMembers(raw, names); {
		case err != nil:
			held = number
		case !object:
			warn(number, lineOther)
		default:
			each(number, raw, m)
		}
	}
	switch {
	case held > 0 && whole:
		warn(held, lineBroken)
	case held > 0:
		warn(held, lineTorn)
	}
}

// wholeMembers returns the members of an object that are asked for, and whether
// the text is an object. Text that is no JSON is an error, wherever the fault is.
func wholeMembers(raw jsontext.Value, names []string) (m found, object bool, err error) {
	s := scanner{text: raw, line: 1}
	if object = s.kind() == '{'; object {
		m, err = s.members(names)
	} else {
		err = s.skip()
	}
	if err == nil && !s.ended() {
		err = errors.New("more than one value")
	}
	return m, object, err
}

// firstLines reports whether one of the first lines that are JSON objects is
// one of a format.
func firstLines(data []byte, one func(raw jsontext.Value) bool) bool {
	seen := 0
	for _, line := range lines(trim(data)) {
		if seen++; seen > looks {
			return false
		}
		if len(line) > longestFirst {
			continue
		}
		if raw := jsontext.Value(bytes.TrimSpace(line)); raw.Kind() == '{' && one(raw) {
			return true
		}
	}
	return false
}

// longestFirst is how long a line may be that says what a file is; a whole file of
// JSON may stand in one line.
const longestFirst = 16 << 20

// clock turns times of day into times since the session began.
type clock struct{ began time.Time }

// at reads a time as RFC 3339 has it; zero of what is none.
func at(v jsontext.Value) time.Time {
	t, err := time.Parse(time.RFC3339, text(v))
	if err != nil {
		return time.Time{}
	}
	return t
}

// spot is the place of an answer in a file: sent is when the message before it
// was written, done when its last part was. Zero times are not known.
func (c clock) spot(line int, sent, done time.Time) transcripts.Spot {
	spot := transcripts.Spot{Line: line}
	if c.began.IsZero() || done.IsZero() {
		return spot
	}
	if sent.IsZero() || sent.After(done) {
		sent = done
	}
	spot.Start, spot.End, spot.Timed = max(sent.Sub(c.began), 0), max(done.Sub(c.began), 0), true
	return spot
}
