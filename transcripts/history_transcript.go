package transcripts

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// Transcript returns the history as a transcript: each answer is an exchange,
// asked with the messages before it. What no exchange can hold is told in words.
// A history that is of a transcript gives that one.
func (h *History) Transcript() (*File, []string) { return h.TranscriptWith(nil) }

// TranscriptWith is Transcript with every message changed on its way, as to
// take out of it what must not be written; nil changes nothing.
func (h *History) TranscriptWith(change func(jsontext.Value) jsontext.Value) (*File, []string) {
	if h.File != nil {
		return h.File, slices.Clone(h.Lost)
	}
	t := &tellingFile{history: h, change: change, file: &File{Path: h.Path, Header: Header{Imported: h.Format}}, paths: map[runtime.Path]runtime.Path{}}
	if !h.Began.IsZero() {
		t.file.Header.Recorded = h.Began.UTC().Format(time.RFC3339)
	}
	t.lost = slices.Clone(h.Lost)
	h.Walk(t.agent)
	if t.anew > 0 {
		t.lost = append(t.lost, plainCount(t.anew, "message")+" written anew, for chat completions has no such form")
	}
	t.file.End = &End{Exchanges: len(t.file.Exchanges)}
	t.timing()
	return t.file, t.lost
}

// tellingFile is a transcript in the making.
type tellingFile struct {
	history *History
	change  func(jsontext.Value) jsontext.Value
	file    *File
	lost    []string
	anew    int // messages that could not stay as they are

	paths map[runtime.Path]runtime.Path // of agents below a turn with another number
	spots []Spot                        // of the exchanges
}

// agent writes the exchanges of one agent. Messages are looked at once, however
// many requests hold them. A request that was never answered is no exchange, and
// the turns behind it move up.
func (t *tellingFile) agent(run *runtime.Run) {
	var list runtime.History
	var before, last runtime.View
	answers := 0
	for i := range run.Turns {
		turn := &run.Turns[i]
		if turn.Answer == nil {
			if asked := turn.Sent.Len() - last.Len() - 1; asked > 0 {
				t.lost = append(t.lost, fmt.Sprintf("%s: %s that no answer follows, at turn %d", run.Agent, plainCount(asked, "message"), turn.Number))
			}
			continue
		}
		sent := turn.Sent.Messages()
		if turn.Sent.Extends(before) {
			sent = sent[before.Len():]
		} else {
			list = runtime.History{}
		}
		for _, m := range sent {
			list.Append(t.message(m))
		}
		before, last = turn.Sent, turn.Sent
		answers++
		t.exchange(run, turn, answers, list.View())
		t.moved(run, turn, answers)
	}
	switch rest := leftBehind(run, last, answers); {
	case answers == 0 && rest > 0:
		t.lost = append(t.lost, fmt.Sprintf("%s: %s that no answer follows", run.Agent, plainCount(rest, "message")))
	case answers == 0 && run.History.Len() == 0 && run.Agent != runtime.Root && len(run.Turns) == 0:
		t.lost = append(t.lost, fmt.Sprintf("%s: known only by the call that started it", run.Agent))
	case rest > 0:
		t.lost = append(t.lost, fmt.Sprintf("%s: %s after the last answer", run.Agent, plainCount(rest, "message")))
	}
}

// leftBehind counts the messages of an agent that stand after its last answer.
func leftBehind(run *runtime.Run, last runtime.View, answers int) int {
	if answers == 0 {
		return run.History.Len()
	}
	return max(run.History.Len()-last.Len()-1, 0)
}

func plainCount(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// moved notes the paths of the agents that a turn started, if it, or an agent
// above it, has another number now.
func (t *tellingFile) moved(run *runtime.Run, turn *runtime.Turn, number int) {
	if turn.Number == number && t.path(run.Agent) == run.Agent {
		return
	}
	for _, call := range turn.Calls {
		if call.Child == nil {
			continue
		}
		step := strings.TrimPrefix(string(call.Child.Agent), string(run.Agent)+"/")
		if rest, ok := strings.CutPrefix(step, strconv.Itoa(turn.Number)+"."); ok {
			step = strconv.Itoa(number) + "." + rest
		}
		t.paths[call.Child.Agent] = t.path(run.Agent) + "/" + runtime.Path(step)
	}
}

// path is the path of an agent in the transcript.
func (t *tellingFile) path(agent runtime.Path) runtime.Path {
	if path, ok := t.paths[agent]; ok {
		return path
	}
	return agent
}

func (t *tellingFile) exchange(run *runtime.Run, turn *runtime.Turn, number int, sent runtime.View) {
	model := turn.Answer.Model
	if model == "" {
		model = run.Model
	}
	if model != "" && !slices.Contains(t.file.Header.Models, model) {
		t.file.Header.Models = append(t.file.Header.Models, model)
	}
	spot := t.history.Spots[TurnKey{run.Agent, turn.Number}]
	t.spots = append(t.spots, spot)
	t.file.Exchanges = append(t.file.Exchanges, &Exchange{
		Line: spot.Line, Agent: t.path(run.Agent), Turn: number, Try: 1, Wire: string(runtime.WireChat), Model: model,
		Messages: sent, Status: 200, Response: t.response(turn.Answer, model),
	})
}

// message brings a message into the form that a transcript can hold: as it is,
// if that says in the words of chat completions what was understood of it.
func (t *tellingFile) message(m runtime.Message) runtime.Message {
	raw := m.Raw
	if bytes.ContainsAny(raw, "\r\n") {
		raw = raw.Clone()
		_ = raw.Compact() // what is no JSON is seen next
	}
	read, err := runtime.ParseMessage(raw)
	if err != nil || !raw.IsValid() || !sameMessage(read, m) {
		t.anew++
		raw = plainRaw(m)
		read = m
		read.Raw = raw
	}
	if t.change == nil {
		return read
	}
	raw = t.change(raw)
	if read, err = runtime.ParseMessage(raw); err != nil { // its role is none: it stays as it was read
		read = m
		read.Raw = raw
	}
	return read
}

func sameMessage(a, b runtime.Message) bool {
	return a.Role == b.Role && a.CallID == b.CallID && a.Content == b.Content &&
		slices.EqualFunc(a.Calls, b.Calls, func(x, y runtime.Call) bool {
			return x.ID == y.ID && x.Name == y.Name && x.Arguments == y.Arguments
		})
}

// plainRaw writes a message from what was understood of it.
func plainRaw(m runtime.Message) jsontext.Value {
	raw := appendQuote([]byte(`{"role":`), string(m.Role))
	raw = appendQuote(append(raw, `,"content":`...), m.Content)
	if m.CallID != "" {
		raw = appendQuote(append(raw, `,"tool_call_id":`...), m.CallID)
	}
	for i, c := range m.Calls {
		raw = append(raw, map[bool]string{true: `,"tool_calls":[`, false: `,`}[i == 0]...)
		raw = appendQuote(append(raw, `{"id":`...), c.ID)
		raw = appendQuote(append(raw, `,"type":"function","function":{"name":`...), c.Name)
		raw = appendQuote(append(raw, `,"arguments":`...), c.Arguments)
		raw = append(raw, `}}`...)
	}
	if len(m.Calls) > 0 {
		raw = append(raw, ']')
	}
	return append(raw, '}')
}

// finishes are the words of the Messages wire for how an answer ended, as chat
// completions has them.
var finishes = map[string]string{"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}

// response writes an answer as chat completions has it.
func (t *tellingFile) response(a *runtime.Answer, model string) jsontext.Value {
	body := []byte(`{"object":"chat.completion"`)
	if a.ID != "" {
		body = appendQuote(append(body, `,"id":`...), a.ID)
	}
	if model != "" {
		body = appendQuote(append(body, `,"model":`...), model)
	}
	body = append(append(body, `,"choices":[{"index":0,"message":`...), t.message(a.Message).Raw...)
	body = append(body, `,"finish_reason":`...)
	finish := a.Finish
	if word, ok := finishes[finish]; ok {
		finish = word
	}
	if finish == "" {
		body = append(body, "null"...)
	} else {
		body = appendQuote(body, finish)
	}
	body = append(body, `}]`...)
	if u := a.Usage; u != (runtime.Usage{}) {
		body = fmt.Appendf(body, `,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d`, u.Input, u.Output, u.Input+u.Output)
		if u.Cached > 0 {
			body = fmt.Appendf(body, `,"prompt_tokens_details":{"cached_tokens":%d}`, u.Cached)
		}
		if u.Reasoning > 0 {
			body = fmt.Appendf(body, `,"completion_tokens_details":{"reasoning_tokens":%d}`, u.Reasoning)
		}
		body = append(body, '}')
	}
	return append(body, '}')
}

// timing writes the clocks, if every turn has them.
func (t *tellingFile) timing() {
	clocks := &Timing{}
	for i, x := range t.file.Exchanges {
		at := t.spots[i]
		if !at.Timed {
			return
		}
		clocks.Exchanges = append(clocks.Exchanges, ExchangeTime{
			Agent: x.Agent, Turn: x.Turn, Try: 1, Start: milliseconds64(at.Start), First: milliseconds64(at.End), End: milliseconds64(at.End),
		})
	}
	order := keys{}
	slices.SortStableFunc(clocks.Exchanges, func(a, b ExchangeTime) int {
		if a.Agent == b.Agent {
			return a.Turn - b.Turn
		}
		return slices.Compare(order.agent(a.Agent), order.agent(b.Agent))
	})
	t.file.Timing = clocks
}

// milliseconds64 is a time of the session; what lies before its beginning is at
// its beginning.
func milliseconds64(d time.Duration) float64 {
	return max(float64(d.Round(100*time.Microsecond))/float64(time.Millisecond), 0)
}
