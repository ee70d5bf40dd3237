package transcripts

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// list is a list of its own, as a request of a client that begins anew has it.
func list(messages ...runtime.Message) runtime.View {
	var h runtime.History
	h.Append(messages...)
	return h.View()
}

func turn(number int, sent runtime.View, answer *runtime.Answer) runtime.Turn {
	t := runtime.Turn{Number: number, Sent: sent, Answer: answer}
	if answer != nil {
		for i, c := range answer.Message.Calls {
			t.Calls = append(t.Calls, runtime.CallRecord{Number: i + 1, ID: c.ID, Name: c.Name})
		}
	}
	return t
}

func TestCountListsThatAreSentAnew(t *testing.T) {
	system, user, more := runtime.SystemMessage("s"), runtime.UserMessage("go"), runtime.UserMessage("and")
	call, changed := says("thinking", "a f"), says("thinking hard", "a f").Message
	result, cleared := runtime.ToolMessage("a", "long text"), runtime.ToolMessage("a", "(cleared)")
	for _, tc := range []struct {
		name string
		run  *runtime.Run
		want Counts
	}{
		{"a repeated list", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), call), turn(2, list(system, user, call.Message, result), says("end"))},
			History: list(system, user, call.Message, result, says("end").Message),
		}, Counts{Agents: 1, Messages: 5, Calls: 1}},
		{"an answer that goes back changed", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), call), turn(2, list(system, user, changed, result), says("end")), turn(3, list(system, user, changed, result, says("end").Message, more), nil)},
			History: list(system, user, changed, result, says("end").Message, more),
		}, Counts{Agents: 1, Messages: 6, Calls: 1}},
		{"an answer that is dropped", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), says("lost")), turn(2, list(system, user, more), says("end"))},
			History: list(system, user, more, says("end").Message),
		}, Counts{Agents: 1, Messages: 5}},
		{"a result that is edited afterwards", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), call), turn(2, list(system, user, call.Message, result), says("more")), turn(3, list(system, user, call.Message, cleared, says("more").Message), says("end"))},
			History: list(system, user, call.Message, cleared, says("more").Message, says("end").Message),
		}, Counts{Agents: 1, Messages: 7, Calls: 1}},
		{"a list cut short", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), call), turn(2, list(system, user, call.Message, result), says("end")), turn(3, list(system, user), says("again"))},
			History: list(system, user, says("again").Message),
		}, Counts{Agents: 1, Messages: 6, Calls: 1}},
		{"one message twice in a list", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(user, user), says("end")), turn(2, list(user), says("end"))},
			History: list(user, says("end").Message),
		}, Counts{Agents: 1, Messages: 3}},
		{"a result in a list without its call", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), call), turn(2, list(system, result), says("end"))},
			History: list(system, result, says("end").Message),
		}, Counts{Agents: 1, Messages: 5, Calls: 1, Unanswered: 1, Orphaned: 1}},
		{"an end that nobody saw the results of", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), call)},
			History: list(system, user, call.Message),
		}, Counts{Agents: 1, Messages: 3, Calls: 1}},
		{"an end without answer", &runtime.Run{
			Turns:   []runtime.Turn{turn(1, list(system, user), call), turn(2, list(system, user, call.Message), nil)},
			History: list(system, user, call.Message),
		}, Counts{Agents: 1, Messages: 3, Calls: 1, Unanswered: 1}},
		{"no list at all", &runtime.Run{Turns: []runtime.Turn{{Number: 1}}}, Counts{Agents: 1}},
		{"an answer without a list", &runtime.Run{Turns: []runtime.Turn{turn(1, runtime.View{}, says("alone"))}}, Counts{Agents: 1, Messages: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := &History{Roots: []*runtime.Run{tc.run}}
			assert.Equal(t, h.Count(), tc.want)
		})
	}
}

func TestCountAnsweredToTheEnd(t *testing.T) {
	h := built(t, func(b *HistoryBuilder) {
		a := b.Root()
		a.Add(runtime.UserMessage("go"))
		a.Answer(says("", "a f"), Spot{})
	})
	assert.Equal(t, h.Count(), Counts{Agents: 1, Messages: 2, Calls: 1, Unanswered: 1})
	h.Answered = false
	assert.Equal(t, h.Count(), Counts{Agents: 1, Messages: 2, Calls: 1})
}

// Every recording of the suite counts the same from its exchanges and from its
// lists read as messages.
func TestCountSuite(t *testing.T) {
	for name, data := range suiteFiles(t) {
		f, err := Parse(name, data)
		assert.NilError(t, err)
		h, err := f.History()
		assert.NilError(t, err, name)
		c := h.Count()
		assert.Assert(t, c.Agents > 0 && c.Messages > 0, name)
		assert.Equal(t, c.Orphaned, 0, name)
	}
}

func TestDelegates(t *testing.T) {
	for name, want := range map[string]bool{
		"task": true, "Task": true, "Agent": true, "agent": true, "spawn_agent": true, "transfer_task": true,
		"delegate_work_to_coworker": true, "Delegate work to coworker": true, "Ask_question_to_coworker": true,
		"launch_agent": true, "runSubagent": true,
		"transfer_to_human_agents": false, "read_agent": false, "TaskCreate": false, "list_agents": false, "tasks": false, "": false,
	} {
		assert.Equal(t, Delegates(name), want, name)
	}
}

func TestBrief(t *testing.T) {
	for _, tc := range []struct{ arguments, title, prompt string }{
		{`{"description":"look","prompt":"look at all"}`, "look", "look at all"},
		{`{"description":" only one "}`, "only one", "only one"},
		{`{"agent":"web","task":"find it","expected_output":"a page"}`, "web", "find it"},
		{`{"task":"x","context":"y","coworker":"Researcher"}`, "Researcher", "x"},
		{`{"prompt":1,"prompt":"twice","description":""}`, "", "twice"},
		{`{"description":"torn","prompt":"goes o`, "torn", "torn"},
		{`[]`, "", ""}, {`no JSON`, "", ""}, {``, "", ""},
	} {
		title, prompt := Brief(tc.arguments)
		assert.Equal(t, title, tc.title, tc.arguments)
		assert.Equal(t, prompt, tc.prompt, tc.arguments)
	}
}
