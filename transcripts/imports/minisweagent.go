package imports

import (
	"bytes"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// miniSWEAgent reads the trajectories of mini-swe-agent: an object that names
// its trajectory_format, with messages that carry what came back from the model
// under "extra"; before that a bare array of messages.
var miniSWEAgent = Importer{Name: formatMini, Title: "mini-swe-agent trajectory", Detect: isMini, Read: readMini}

const formatMini = "mini-swe-agent"

// miniMarks are what tells the bare array of a mini-swe-agent from that of
// another program: how it says what a command came to, and the block in which it
// wants one.
var miniMarks = [][]byte{[]byte(`"<returncode>`), []byte("```mswea_bash_command")}

// miniLook is how far into the file the marks are looked for: the first command
// stands behind the system text and the task.
const miniLook = 1 << 20

func isMini(data []byte) bool {
	data = trim(data)
	if shapeOf(data) == shapeMessages {
		for _, mark := range miniMarks {
			if bytes.Contains(data[:min(len(data), miniLook)], mark) {
				return true
			}
		}
		return false
	}
	s := scan(data, 1)
	if s.kind() != '{' || !bytes.Contains(data, []byte(`"trajectory_format"`)) {
		return false
	}
	found := false
	_ = s.object(func(name string) error { // a fault ends the look, no more
		if name != "trajectory_format" || s.kind() != '"' {
			return s.skip()
		}
		v, _, err := s.value()
		found = bytes.HasPrefix(v, []byte(`"`+formatMini))
		return err
	})
	return found
}

func readMini(path string, data []byte) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		s := scan(trim(data), 1)
		n := &miniSession{session: newSession(path, "", formatMini)}
		var err error
		if s.kind() == '[' {
			n.list, err = elements(s)
		} else {
			err = n.body(s)
		}
		n.fault(s, err)
		n.rest(s)
		n.agent.Reserve(len(n.list))
		for _, e := range n.list {
			n.message(e)
		}
		only(path, n.session, yield)
	}
}

type miniSession struct {
	*session
	began, last float64 // seconds since 1970, 0 for not known
}

func (n *miniSession) body(s *scanner) error {
	return s.object(func(name string) (err error) {
		switch {
		case name == "messages" && s.kind() == '[':
			n.list, err = elements(s)
		case name == "trajectory_format":
			err = s.skip()
		case name == "info" && s.kind() == '{':
			var v jsontext.Value
			v, _, err = s.value()
			n.model = modelName(v)
			n.member(name)
		default:
			n.member(name)
			err = s.skip()
		}
		return err
	})
}

// modelName is the model that the configuration names; "" for none.
func modelName(info jsontext.Value) string {
	config := members(info, "config").of("config")
	return text(members(members(config, "model").of("model"), "model_name").of("model_name"))
}

// message adds one message.
func (n *miniSession) message(e element) {
	more := found{}
	if bytes.Contains(e.raw, []byte(`"extra"`)) || bytes.Contains(e.raw, []byte(`"object"`)) {
		more = members(e.raw, "extra", "object", "output")
	}
	extra := members(more.of("extra"), "timestamp", "response")
	at := n.clock(e, extra.of("timestamp"))
	if text(more.of("object")) == "response" {
		n.response(e.raw, more.of("output"), at)
		return
	}
	m, err := runtime.ParseMessage(e.raw)
	if err != nil || m.Role != runtime.RoleAssistant || extra.of("response").Kind() != '{' {
		n.take(m, err, e.raw, at)
		return
	}
	n.flush()
	answer, err := runtime.Decode(&runtime.Response{Status: 200, Body: extra.of("response")}, runtime.Dialect{})
	if err != nil {
		answer = &runtime.Answer{}
	}
	answer.Message = m
	if answer.Refusal == "" {
		answer.Refusal = refusal(e.raw)
	}
	n.answer(answer, at)
}

// response takes an answer of the wire Responses, which is kept whole.
func (n *miniSession) response(raw, output jsontext.Value, at transcripts.Spot) {
	n.flush()
	items, _ := elements(scan(output, at.Line))
	for _, item := range items {
		n.item(item.raw, at)
	}
	answer := n.merged()
	if answer == nil {
		answer = &runtime.Answer{Message: runtime.MergeAssistant(nil)}
	}
	told, err := runtime.Decode(&runtime.Response{Wire: runtime.WireResponses, Status: 200, Body: raw}, runtime.Dialect{})
	if err == nil {
		answer.Usage, answer.Model, answer.Finish = told.Usage, told.Model, told.Finish
	}
	n.answer(answer, at)
}

// clock reads when a message was made. An answer was asked for when the message
// before it was made.
func (n *miniSession) clock(e element, stamp jsontext.Value) transcripts.Spot {
	at := transcripts.Spot{Line: e.line}
	now, err := strconv.ParseFloat(string(stamp), 64)
	if err != nil || !(now > 0) || now > 1<<33 {
		return at
	}
	if n.began == 0 {
		n.began = now
		whole, part := math.Modf(now)
		n.builder.Began(time.Unix(int64(whole), int64(part*1e6)*1000).UTC())
	}
	if n.last > 0 && n.last <= now {
		at.Timed, at.Start, at.End = true, n.since(n.last), n.since(now)
	}
	n.last = now
	return at
}

func (n *miniSession) since(at float64) time.Duration {
	return time.Duration(math.Round((at-n.began)*1e6)) * time.Microsecond
}
