package export

import (
	"regexp"
	"strconv"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// spanner writes the spans of one session.
type spanner struct {
	w         *otlpWriter
	h         *transcripts.History
	trace     string
	exchanges map[transcripts.TurnKey]*transcripts.Exchange
	timed     bool
	now       time.Time // where nothing says when something was, it is now
	untimed   int
	spans     int
}

// step is how long what has no time of its own takes.
const step = time.Millisecond

func newSpanner(w *otlpWriter, h *transcripts.History) *spanner {
	s := &spanner{w: w, h: h, trace: traceOf(h), exchanges: map[transcripts.TurnKey]*transcripts.Exchange{}, timed: true, now: h.Began}
	if h.Began.IsZero() {
		s.now = time.Unix(0, 0)
	}
	if h.File != nil {
		for _, x := range h.File.Exchanges {
			s.exchanges[transcripts.TurnKey{Agent: x.Agent, Turn: x.Turn}] = x
		}
		s.timed = h.File.Timing == nil || h.File.Timing.Clock != transcripts.ClockSequence
	}
	return s
}

func (s *spanner) write(one *span) {
	if s.spans++; s.spans > 1 {
		_, _ = s.w.out.WriteString(",\n")
	}
	one.TraceID = s.trace
	_, _ = s.w.out.Write(encode(one))
}

// when is the time of a turn; from is the earliest that it can be where the file
// does not say.
func (s *spanner) when(agent runtime.Path, turn int, from time.Time) (start, end time.Time) {
	spot := s.h.Spots[transcripts.TurnKey{Agent: agent, Turn: turn}]
	if !spot.Timed || !s.timed {
		s.untimed++
		return from, from.Add(step)
	}
	began := s.h.Began
	if began.IsZero() {
		began = time.Unix(0, 0)
	}
	start, end = began.Add(spot.Start), began.Add(spot.End)
	if end.Before(start) {
		end = start
	}
	return start, end
}

// agent writes the spans of an agent and of those below it, and returns when it
// began and ended. Spans are written as they end.
func (s *spanner) agent(run *runtime.Run, parent string, from time.Time) (start, end time.Time) {
	id := spanID(s.trace, "agent", run.Agent)
	start, end = from, from
	seen := 0
	for i := range run.Turns {
		t := &run.Turns[i]
		began, ended := end, end
		if t.Answer != nil || len(t.Failed) > 0 {
			began, ended = s.when(run.Agent, t.Number, end)
			s.chat(run, t, id, began, ended, seen)
		}
		seen = t.Sent.Len()
		if i == 0 {
			start, end = began, ended
		}
		end = later(end, ended)
		for _, c := range t.Calls {
			end = later(end, s.call(run, t, &c, id, ended))
		}
	}
	one := &span{
		SpanID: id, ParentID: parent, Name: "invoke_agent " + agentName(run), Kind: kindInternal, Start: unixNano(start), End: unixNano(end),
		Attributes: append([]attribute{textAttribute("gen_ai.operation.name", "invoke_agent")}, s.about(run, run.Model)...),
	}
	one.Attributes = append(one.Attributes, textAttribute("gen_ai.agent.id", string(run.Agent)), textAttribute("gen_ai.agent.name", agentName(run)))
	one.Attributes = append(one.Attributes, usageAttributes(run.Usage)...)
	if s.w.options.Contents && known(run) {
		if first := run.Turns; len(first) > 0 && first[0].Sent.Len() > 0 && first[0].Sent.Messages()[0].Role == runtime.RoleSystem {
			one.Attributes = append(one.Attributes, textAttribute("gen_ai.system_instructions", string(textParts(first[0].Sent.Messages()[0].Content))))
		}
	}
	if run.Stop != "" {
		one.Attributes = append(one.Attributes, textAttribute("tapetree.stop", string(run.Stop)))
	}
	if run.Stop != "" && run.Stop != runtime.StopAnswer {
		one.fail(string(run.Stop), "the agent ended without an answer")
	}
	if !known(run) {
		s.w.lose(1, "agents known only by their calls, whose spans are empty")
	}
	s.write(one)
	return start, end
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func agentName(run *runtime.Run) string {
	if run.Label != "" && run.Label != run.Prompt { // what was said goes into no name
		return run.Label
	}
	return string(run.Agent)
}

// about are the attributes of every span that concerns a model.
func (s *spanner) about(run *runtime.Run, model string) []attribute {
	wire := ""
	if x := s.exchanges[transcripts.TurnKey{Agent: run.Agent, Turn: 1}]; x != nil {
		wire = x.Wire
	}
	list := []attribute{textAttribute("gen_ai.provider.name", providerOf(wire, model)), textAttribute("gen_ai.conversation.id", s.trace)}
	if model != "" {
		list = append(list, textAttribute("gen_ai.request.model", model))
	}
	return list
}

// chat writes a span for each try of a turn.
func (s *spanner) chat(run *runtime.Run, t *runtime.Turn, parent string, start, end time.Time, seen int) {
	model := run.Model
	if x := s.exchanges[transcripts.TurnKey{Agent: run.Agent, Turn: t.Number}]; x != nil && x.Model != "" {
		model = x.Model
	}
	name := "chat"
	if model != "" {
		name += " " + model
	}
	begin := func(try int, ended time.Time) *span {
		return &span{
			SpanID: spanID(s.trace, "chat", run.Agent, "#", t.Number, ".", try), ParentID: parent, Name: name, Kind: kindClient,
			Start: unixNano(start), End: unixNano(ended),
			Attributes: append(append([]attribute{textAttribute("gen_ai.operation.name", "chat")}, s.about(run, model)...), intAttribute("tapetree.turn", t.Number)),
		}
	}
	s.w.lose(len(t.Failed), "tries that gave no answer, whose spans have no time of their own")
	for i, failed := range t.Failed {
		one := begin(i+1, start)
		kind := failed.Kind
		if failed.Status >= 400 {
			kind = strconv.Itoa(failed.Status)
		}
		one.fail(kind, "the try gave no answer")
		s.write(one)
	}
	if t.Answer == nil {
		return
	}
	one := begin(len(t.Failed)+1, end)
	if t.Answer.Model != "" {
		one.Attributes = append(one.Attributes, textAttribute("gen_ai.response.model", t.Answer.Model))
	}
	if t.Answer.ID != "" {
		one.Attributes = append(one.Attributes, textAttribute("gen_ai.response.id", t.Answer.ID))
	}
	if t.Answer.Finish != "" {
		one.Attributes = append(one.Attributes, listAttribute("gen_ai.response.finish_reasons", t.Answer.Finish))
	}
	one.Attributes = append(one.Attributes, usageAttributes(t.Answer.Usage)...)
	if s.w.options.Contents {
		one.Attributes = append(one.Attributes, s.contents(t, seen)...)
	}
	s.write(one)
}

// contents are the messages of a request that are new since the agent's request
// before, and the answer: the whole list in every span would grow with the
// square of the turns.
func (s *spanner) contents(t *runtime.Turn, seen int) []attribute {
	sent := t.Sent.Messages()
	if len(sent) < seen || t.Compact != nil {
		seen = 0
	}
	return []attribute{
		intAttribute("tapetree.input.offset", seen),
		textAttribute("gen_ai.input.messages", string(inputMessages(sent[seen:]))),
		textAttribute("gen_ai.output.messages", string(outputMessages(t.Answer))),
	}
}

func usageAttributes(u runtime.Usage) []attribute {
	if u == (runtime.Usage{}) {
		return nil
	}
	list := []attribute{intAttribute("gen_ai.usage.input_tokens", u.Input), intAttribute("gen_ai.usage.output_tokens", u.Output)}
	if u.Cached > 0 {
		list = append(list, intAttribute("gen_ai.usage.cache_read.input_tokens", u.Cached))
	}
	return list
}

// call writes the span of a call, and below it those of the agent that it
// started, and returns when it ended. A call itself has no clock: it goes from
// the answer to the end of what it started.
func (s *spanner) call(run *runtime.Run, t *runtime.Turn, c *runtime.CallRecord, parent string, start time.Time) time.Time {
	if c.Child != nil && c.ID == "" && c.Arguments == "" && c.Verdict == runtime.VerdictInterrupted {
		_, end := s.agent(c.Child, parent, start) // of no call of its own
		return end
	}
	id, end := spanID(s.trace, "call", run.Agent, "#", t.Number, ".", c.Number), start
	if c.Child != nil {
		began, ended := s.agent(c.Child, id, start)
		if began.Before(start) {
			start = began
		}
		end = later(end, ended)
	}
	one := &span{
		SpanID: id, ParentID: parent, Name: "execute_tool " + c.Name, Kind: kindInternal, Start: unixNano(start), End: unixNano(end),
		Attributes: []attribute{
			textAttribute("gen_ai.operation.name", "execute_tool"), textAttribute("gen_ai.tool.name", c.Name), textAttribute("gen_ai.tool.type", "function"),
			textAttribute("gen_ai.tool.call.id", c.ID), textAttribute("gen_ai.conversation.id", s.trace),
		},
	}
	if c.Verdict != "" {
		one.Attributes = append(one.Attributes, textAttribute("tapetree.verdict", string(c.Verdict)))
	}
	if s.w.options.Contents {
		one.Attributes = append(one.Attributes, textAttribute("gen_ai.tool.call.arguments", c.Arguments), textAttribute("gen_ai.tool.call.result", c.Result))
	}
	if kind := callError(c); kind != "" {
		one.fail(kind, "the call failed")
	}
	s.write(one)
	return end
}

// fail gives a span the status of an error.
func (s *span) fail(kind, message string) {
	s.Attributes = append(s.Attributes, textAttribute("error.type", kind))
	s.Status = &status{statusError, message}
}

var errorResult = regexp.MustCompile(`^Error \[([a-z_]+)\]: `)

// callError is the kind of a call's failure, "" for none: the verdict that kept
// it from running, or the code of a result in our form. Other programs' results
// are text, of which nothing is guessed.
func callError(c *runtime.CallRecord) string {
	if class := c.Verdict.Class(); class != "" && class != "allowed" {
		return class
	}
	if found := errorResult.FindStringSubmatch(c.Result); found != nil {
		return found[1]
	}
	return ""
}
