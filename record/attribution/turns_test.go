package attribution

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
)

// raw is a message as a client wrote it.
func raw(s *story, text string) runtime.Message {
	s.t.Helper()
	m, err := runtime.ParseMessage([]byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// TestEchoes holds that a conversation is known again although its client does
// not send back what it got: what was answered, what came back.
func TestEchoes(t *testing.T) {
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"call_a1","type":"function","function":{"name":"calc","arguments":"{\"a\":1,\"b\":2}"}}]}`
	for name, pair := range map[string][]string{
		"content null, empty":        {call, `{"role":"assistant","content":"","tool_calls":[{"id":"call_a1","type":"function","function":{"name":"calc","arguments":"{\"a\":1,\"b\":2}"}}]}`},
		"content absent":             {call, `{"role":"assistant","tool_calls":[{"id":"call_a1","type":"function","function":{"name":"calc","arguments":"{\"a\":1,\"b\":2}"}}]}`},
		"further members":            {call, `{"role":"assistant","refusal":null,"parsed":null,"annotations":[],"name":"model","content":[],"tool_calls":[{"index":0,"id":"call_a1","type":"function","function":{"name":"calc","arguments":"{\"a\":1,\"b\":2}"}}]}`},
		"arguments written anew":     {call, `{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"calc","arguments":"{\"b\": 2, \"a\": 1}"}}]}`},
		"arguments no longer JSON":   {call, `{"role":"assistant","tool_calls":[{"id":"call_a1","type":"function","function":{"name":"calc","arguments":"1 + 2"}}]}`},
		"no arguments":               {`{"role":"assistant","tool_calls":[{"id":"","function":{"name":"now","arguments":""}}]}`, `{"role":"assistant","tool_calls":[{"id":"","function":{"name":"now","arguments":"{}"}}]}`},
		"an id made up":              {`{"role":"assistant","tool_calls":[{"id":"","function":{"name":"now","arguments":"{\"a\":1}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"pyd_ai_1","function":{"name":"now","arguments":"{\"a\":1}"}}]}`},
		"text beside calls":          {`{"role":"assistant","content":" I'll add and..","tool_calls":[{"id":"a","function":{"name":"add","arguments":"{}"}}]}`, `{"role":"assistant","content":" ","tool_calls":[{"id":"b","function":{"name":"add","arguments":"{}"}}]}`},
		"thinking put into the text": {`{"role":"assistant","content":"25 * 4 = 100."}`, `{"role":"assistant","content":"<think>\nlet me see\n</think>\n25 * 4 = 100."}`},
		"text in parts":              {`{"role":"assistant","content":"Hello there"}`, `{"role":"assistant","content":[{"type":"text","text":"Hello there"}]}`},
		"white space around":         {`{"role":"assistant","content":"\nHello\n"}`, `{"role":"assistant","content":"Hello"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			s.ask("root#1", user("Calculate.")).says(raw(s, pair[0]))
			s.ask("root2#1", user("Calculate.")).says(said("That is for somebody else."))
			s.ask("root#2", user("Calculate."), raw(s, pair[1]), result("any", "3"))
			s.end()
		})
	}
	t.Run("one answer as two messages", func(t *testing.T) {
		s := tell(t)
		s.ask("root#1", user("Calculate.")).says(calls("llm_version:0 llm_version {}"))
		s.ask("root2#1", user("Calculate.")).says(said("That is for somebody else."))
		s.ask("root#2", user("Calculate."), said(""), calls("0 llm_version {}"), result("0", "1.0"))
		s.end()
	})
}

func TestTurns(t *testing.T) {
	for name, run := range map[string]func(*story){
		"a handoff changes system text and tools": func(s *story) {
			before := list(user("What is the weather?"))
			s.ask("root#1", system("You triage."), tools("t1"), before).says(calls("call_a1 transfer {}"))
			s.ask("root#2", system("You are the specialist."), tools("t2"), before, calls("call_a1 transfer {}"), result("call_a1", "ok")).says(said("Sunny."))
		},
		"old results cleared": func(s *story) {
			before := opened(s, "call_a1 read {}")
			s.ask("root#2", tools("parent"), before, result("call_a1", "a long text")).says(calls("call_b1 read {}"))
			s.ask("root#3", tools("parent"), before, result("call_a1", "[cleared]"), calls("call_b1 read {}"), result("call_b1", "x"))
		},
		"an older turn with another system text is a side conversation": func(s *story) {
			before := opened(s, "call_a1 read {}")
			s.ask("root#2", tools("parent"), before, result("call_a1", "x")).says(calls("call_b1 read {}"))
			s.ask("root~compact.1#1", system("You summarize the chat history."), before[1:], result("call_a1", "x"), user("Write the summary.")).says(said("Summary."))
			s.ask("root#3", tools("parent"), before, result("call_a1", "x"), calls("call_b1 read {}"), result("call_b1", "y"))
		},
		"a summary of all, then the real one: they change places": func(s *story) {
			before := opened(s, "call_a1 read {}")
			s.ask("root~compact.1#1", system("You summarize the chat history."), before[1:], result("call_a1", "x"), user("Write the summary.")).says(said("Summary."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "x")).says(calls("call_b1 read {}"))
			s.ask("root#3", tools("parent"), before, result("call_a1", "x"), calls("call_b1 read {}"), result("call_b1", "y"))
		},
		"two that go on alike cannot be told apart": func(s *story) {
			before := opened(s, "call_a1 read {}")
			s.ask("root#2 (ambiguous [root root~side.1])", tools("parent"), before, result("call_a1", "x")).says(said("One."))
			s.ask("root~side.1#1 (ambiguous [root root~side.1])", tools("parent"), before, result("call_a1", "x"), user("and more")).says(said("Two."))
		},
		"one request asked twice: it goes on from the first answer": func(s *story) {
			before := opened(s, "call_a1 read {}")
			asks := with(before, result("call_a1", "x"))
			s.ask("root#2 (twin [root root~side.1 root~side.2])", tools("parent"), asks).says(calls("call_b1 read {}"))
			s.ask("root~side.1#1 (twin [root root~side.1])", tools("parent"), asks).says(calls("call_c1 read {}"))
			s.ask("root~side.2#1 (twin [root root~side.2])", tools("parent"), asks).says(calls("call_d1 read {}"))
			s.ask("root#3", tools("parent"), asks, calls("call_b1 read {}"), result("call_b1", "y"))
		},
		"one request asked twice: it goes on from the second answer": func(s *story) {
			before := opened(s, "call_a1 read {}")
			asks := with(before, result("call_a1", "x"))
			s.ask("root#2 (twin [root root~side.1])", tools("parent"), asks).says(calls("call_b1 read {}"))
			s.ask("root~side.1#1 (twin [root root~side.1])", tools("parent"), asks).says(calls("call_c1 read {}"))
			s.ask("root~side.1#2 (twin [root root~side.1])", tools("parent"), asks, calls("call_c1 read {}"), result("call_c1", "y"))
		},
		"one request asked twice: two equal answers": func(s *story) {
			before := opened(s, "call_a1 read {}")
			asks := with(before, result("call_a1", "x"))
			s.ask("root#2 (twin [root root~side.1])", tools("parent"), asks).says(said("It is done now."))
			s.ask("root~side.1#1 (twin [root root~side.1])", tools("parent"), asks).says(said("It is done now."))
			s.ask("root#3", tools("parent"), asks, said("It is done now."), user("Thanks."))
		},
		"an answer without text and calls is not sent back": func(s *story) {
			before := opened(s, "call_a1 read {}")
			s.ask("root#2", tools("parent"), before, result("call_a1", "x")).says(said(""))
			s.ask("root#3", tools("parent"), before, result("call_a1", "x"), user("Well?")).says(said("Yes."))
		},
		"a fork with the history of its parent": func(s *story) {
			before := opened(s, "call_a1 read {}")
			before = with(before, result("call_a1", "x"))
			s.ask("root#2", tools("parent"), before).says(calls(task("call_b1", readBrief), task("call_b2", countBrief)))
			s.ask("root/2.2#1", tools("parent"), before, user(countBrief)).says(said("Two words."))
			s.ask("root/2.1#1", tools("parent"), before, calls(task("call_b1", readBrief), task("call_b2", countBrief)), result("call_b1", "forked"), result("call_b2", "forked"), user(readBrief)).says(said("Hello."))
			s.ask("root#3", tools("parent"), before, calls(task("call_b1", readBrief), task("call_b2", countBrief)), result("call_b1", "Hello."), result("call_b2", "Two words."))
		},
		"one id for every call": func(s *story) {
			before := opened(s, `call_0 read {"n":1}`)
			before = with(before, result("call_0", "x"))
			s.ask("root#2", tools("parent"), before).says(calls(`call_0 read {"n":2}`))
			before = with(before, calls(`call_0 read {"n":2}`), result("call_0", "y"))
			s.ask("root#3", tools("parent"), before).says(calls(`call_0 read {"n":3}`))
		},
		"the same history of two agents: ids tell them apart": func(s *story) {
			opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.1#1 (twin [root/1.1 root/1.2])", child(readBrief)).says(calls("call_b1 read {}"))
			s.ask("root/1.2#1 (twin [root/1.1 root/1.2])", child(readBrief)).says(calls("call_c1 read {}"))
			s.ask("root/1.2#2 (twin [root/1.1 root/1.2])", child(readBrief), calls("call_c1 read {}"), result("call_c1", "x")).says(said("hello"))
			s.ask("root/1.1#2 (twin [root/1.1 root/1.2])", child(readBrief), calls("call_b1 read {}"), result("call_b1", "x")).says(said("hello"))
			s.ask("root/1.2#3 (twin [root/1.1 root/1.2])", child(readBrief), calls("call_c1 read {}"), result("call_c1", "x"), said("hello"), user("more"))
			s.ask("root/1.1#3 (twin [root/1.1 root/1.2])", child(readBrief), calls("call_b1 read {}"), result("call_b1", "x"), said("hello"), user("more"))
		},
		"an id says more than the content": func(s *story) {
			s.ask("root#1", user("Read.")).says(calls(`call_a1 read {"path":"/tmp/a"}`))
			s.ask("root2#1", user("Read.")).says(calls(`call_b1 read {"path":"/tmp/b"}`))
			s.ask("root2#2", user("Read."), calls(`call_b1 read {"path":"/tmp/a"}`), result("call_b1", "x"))
		},
		"the same conversation twice: the one that has not gone on yet": func(s *story) {
			s.ask("root#1", user("Tell.")).says(said("Told."))
			s.ask("root#2", user("Tell."), said("Told."), user("More.")).says(said("More is told."))
			s.ask("root2#1", user("Tell.")).says(said("Told."))
			s.ask("root2#2", user("Tell."), said("Told."), user("More."))
		},
		"a short text after an older answer that is found": func(s *story) {
			before := opened(s, "call_a1 read {}")
			s.ask("root#2", tools("parent"), before, result("call_a1", "x")).says(said("All done."))
			s.ask("root#3", tools("parent"), system("You are the parent."), user("Summary: .."), calls("call_a1 read {}"), result("call_a1", "x"), said("All done."), user("Again."))
		},
		"an answer that the client made up": func(s *story) {
			s.ask("root#1", user("Call the tool.")).Failed()
			s.ask("root#1.2", user("Call the tool."), calls("made_up load {}"), result("made_up", "x")).says(said("Good."))
		},
		"goes on from the id of an answer": func(s *story) {
			previous := func(id string) func(*Request) { return func(r *Request) { r.Previous = id } }
			s.ask("root#1", user("One.")).Done(said("First."), "resp_1")
			s.ask("root#2", previous("resp_1"), user("Two.")).Done(said("Second."), "resp_2")
			s.ask("root#3", previous("resp_2"), user("Three.")).Done(said("Third."), "resp_3")
			s.ask("root~side.1#1", previous("resp_1"), tools("x"), user("Aside.")).Done(said("Fourth."), "resp_4")
			s.ask("root~side.1#2", previous("resp_4"), tools("x"), user("Aside.")).Done(said("Fifth."), "resp_5")
			s.ask("root2#1", previous("resp_none"), user("Else."))
		},
		"a client that names its agents": func(s *story) {
			agent := func(path runtime.Path) func(*Request) { return func(r *Request) { r.Agent = path } }
			s.ask("root#1", agent("root"), user("One.")).says(calls(task("call_a1", readBrief)))
			s.ask("root/7.7#1", agent("root/7.7"), child(readBrief)).Failed()
			s.ask("root/7.7#1.2", agent("root/7.7"), user("Anything.")).says(said("Hello."))
			s.ask("root#2", agent("root"), user("Something else.")).says(said("Done."))
			s.ask("root2#1", user("Who is this?"))
		},
		"the name of a thread that was inferred before": func(s *story) {
			agent := func(r *Request) { r.Agent = "root" }
			s.ask("root#1", user("One.")).says(said("Two."))
			s.ask("root#2", agent, user("Three.")).says(said("Four."))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			run(s)
			s.end()
		})
	}
}

func TestCompaction(t *testing.T) {
	summary := "Summary: the user wants the notes read, and they were."
	for name, run := range map[string]func(*story, []runtime.Message){
		"opencode": func(s *story, before []runtime.Message) {
			s.ask("root~compact.1#1", system("You are a context summarization agent."), user("Here is the conversation so far: [User]: Do the work, please.")).says(said(summary))
			s.ask("root#3", tools("parent"), before[0], user("What did we do so far?"), said(summary), calls("call_b1 read {}"), result("call_b1", "y"), user("Continue.")).says(said("Done."))
		},
		"qwen-code": func(s *story, before []runtime.Message) {
			s.ask("root~compact.1#1", system("You are the component that summarizes internal chat history."), before[1:4], user("First, reason.")).says(said(summary))
			s.ask("root#3", tools("parent"), before[0], user(summary), said("Got it. Thanks!"), user("Continue."), calls("call_a1 read {}"), result("call_a1", "x"), calls("call_b1 read {}"), result("call_b1", "y")).says(said("Done."))
		},
		"pi": func(s *story, before []runtime.Message) {
			s.ask("root~compact.1#1", system("You are a context summarization assistant."), user("<conversation></conversation>The messages above are a conversation to summarize.")).says(said(summary))
			s.ask("root~compact.2#1", system("You are a context summarization assistant."), user("<conversation></conversation>The messages above are a conversation to summarize.")).says(said(summary))
			s.ask("root#3", tools("parent"), before[0], user("The history was compacted: "+summary), before[1:], calls("call_b1 read {}"), result("call_b1", "y")).says(said("Done."))
		},
		"only the summary is kept, as an answer": func(s *story, before []runtime.Message) {
			s.ask("root~compact.1#1", system("You are a context summarization agent."), user("Here is the conversation so far: [User]: Do the work, please.")).says(said(summary))
			s.ask("root#3", tools("parent"), before[0], user("What did we do so far?"), said(summary), user("Continue.")).says(said("Done."))
		},
		"only the summary is kept, as a user text": func(s *story, before []runtime.Message) {
			s.ask("root~compact.1#1", system("You are a context summarization agent."), user("Here is the conversation so far: [User]: Do the work, please.")).says(said(summary))
			s.ask("root#3", tools("parent"), before[0], user("So far: "+summary+" Go on."))
		},
		"none of our answers is kept, the summary is": func(s *story, before []runtime.Message) {
			s.ask("root~compact.1#1", system("You summarize the chat history."), before[1:4], user("Write it.")).says(said(summary))
			s.ask("root#3", tools("parent"), before[0], user("Context so far: "+summary+" Go on.")).says(said("Done."))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			before := opened(s, "call_a1 read {}")
			before = with(before, result("call_a1", "x"))
			s.ask("root#2", tools("parent"), before).says(calls("call_b1 read {}"))
			run(s, before)
			s.end()
		})
	}
}

func TestRoots(t *testing.T) {
	title := list(system("You are a title generator."), user("Generate a title for this conversation:"), user("Do the work, please."))
	for name, run := range map[string]func(*story){
		"the title comes first": func(s *story) {
			s.ask("root~title.1#1", title).says(said("Work"))
			opened(s, "call_a1 read {}")
		},
		"the title comes first, in a session": func(s *story) {
			s.ask("root~title.1#1", session("ses_1", ""), title).says(said("Work"))
			s.ask("root#1", session("ses_1", ""), tools("x"), user("Other words.")).says(said("Done."))
		},
		"a title of nothing is a root": func(s *story) {
			s.ask("root#1", title).says(said("Work"))
		},
		"a title of one of two": func(s *story) {
			s.ask("root#1", tools("x"), user("Build the house.")).says(said("Done."))
			s.ask("root2#1", tools("x"), user("Do the work, please.")).says(said("Done."))
			s.ask("root2~title.1#1", title)
		},
		"a title of one whose prompt holds that of another": func(s *story) {
			s.ask("root#1", tools("x"), user("Do the work, please")).says(said("Done."))
			s.ask("root2#1", tools("x"), user("Do the work, please.")).says(said("Done."))
			s.ask("root2~title.1#1", title)
		},
		"a short answer ties no root to a call": func(s *story) {
			before := opened(s, `call_a1 run {"agent":"reader"}`)
			s.ask("root2#1", user("Read the notes now.")).says(said("It is ok."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It is ok."))
		},
		"a title of either of two": func(s *story) {
			s.ask("root#1", tools("x"), user("Do the work, please.")).says(said("Done."))
			s.ask("root2#1", tools("y"), user("Do the work, please.")).says(said("Done."))
			s.ask("root~title.1#1 (ambiguous [root2~title.1 root~title.1])", title)
		},
		"a judge": func(s *story) {
			opened(s, "call_a1 read {}")
			s.ask("root#2", tools("parent"), opening2(), result("call_a1", "x")).says(said("The notes say hello to everyone who reads."))
			s.ask("root~judge.1#1", system("You are a judge."), user("Score this: The notes say hello to everyone who reads."))
		},
		"a child of a session that is known": func(s *story) {
			s.ask("root#1", session("ses_1", ""), tools("x"), user("Do it.")).says(said("Done."))
			s.ask("root/?1#1", session("ses_2", "ses_1"), tools("x"), user("No call says this.")).says(said("Done."))
			s.ask("root/?2#1", session("ses_3", "ses_1"), tools("x"), user("No call says this.")).says(said("Done."))
		},
		"a child of a session that is not": func(s *story) {
			s.ask("root#1", session("ses_2", "ses_1"), tools("x"), user("No call says this.")).says(said("Done."))
		},
		"a child before its parent, in a call of the client": func(s *story) {
			s.ask("root/?1#1", child(readBrief)).says(said("It says hello to everyone."))
			s.ask("root#1", tools("x"), user("The tool was run by the user."), calls(task("made", readBrief)), result("made", "<result>It says hello to everyone.</result>"), user("Go on."))
		},
		"a child before its parent, in a call with other words": func(s *story) {
			s.ask("root/?1#1", child(readBrief)).says(said("It says hello to everyone."))
			s.ask("root#1", tools("x"), user("The tool was run by the user."), calls("made read {}"), result("made", "It says hello to everyone."), user("Go on."))
		},
		"a root whose answer is the result of a call": func(s *story) {
			before := opened(s, `call_a1 run {"agent":"reader"}`)
			s.ask("root/1.1#1", user("Read the notes now.")).says(said("It says hello to everyone."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says hello to everyone."))
		},
		"two roots with that answer": func(s *story) {
			before := opened(s, `call_a1 run {"agent":"reader"}`)
			s.ask("root2#1", user("Read the notes now.")).says(said("It says hello to everyone."))
			s.ask("root3#1", user("Read the notes then.")).says(said("It says hello to everyone."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says hello to everyone."))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			run(s)
			s.end()
		})
	}
}

func opening2() []runtime.Message {
	return list(system("You are the parent."), user("Do the work, please."), calls("call_a1 read {}"))
}

func TestRetries(t *testing.T) {
	for name, run := range map[string]func(*story){
		"the same bytes": func(s *story) {
			s.ask("root#1", user("Do it.")).Failed()
			s.ask("root#1.2", user("Do it.")).Failed()
			s.ask("root#1.3", user("Do it.")).says(said("Done."))
			s.ask("root#2", user("Do it."), said("Done."), user("Again.")).Failed()
			s.ask("root#2.2", user("Do it."), said("Done."), user("Again.")).says(said("Done again."))
		},
		"another model or other tools": func(s *story) {
			s.ask("root#1", tools("x"), user("Do it.")).Failed()
			s.ask("root#1.2", tools("y"), user("Do it.")).says(said("Done."))
		},
		"something else after a failed answer": func(s *story) {
			s.ask("root#1", user("Do it.")).says(said("Done."))
			s.ask("root#2", user("Do it."), said("Done."), user("Again.")).Failed()
			s.ask("root#2.2", user("Do it."), said("Done."), user("No, leave it.")).says(said("Left."))
		},
		"another session": func(s *story) {
			s.ask("root#1", session("ses_1", ""), tools("x"), user("Do it.")).Failed()
			s.ask("root2#1", session("ses_2", ""), tools("x"), user("Do it.")).says(said("Done."))
		},
		"the client says that it repeats an answer it did not get": func(s *story) {
			s.ask("root#1", retry("0"), user("Do it.")).says(said("Done."))
			s.ask("root#1.2", retry("1"), user("Do it.")).says(said("Done."))
		},
		"a call of a failed answer is made again": func(s *story) {
			root := s.ask("root#1", user("Do it."))
			root.Call(1, calls(task("call_a1", readBrief)).Calls[0])
			root.Failed()
			s.ask("root#1.2", user("Do it.")).says(calls(task("call_b1", readBrief)))
			s.ask("root/1.1#1", child(readBrief)).says(said("Hello."))
		},
		"ends are told once": func(s *story) {
			root := s.ask("root#1", user("Do it."))
			root.Failed()
			root.says(said("Done."))
			root.Call(1, calls(task("call_a1", readBrief)).Calls[0])
			done := s.ask("root#1.2", user("Do it.")).says(said("Done."))
			done.Failed()
			s.ask("root#2", user("Do it."), said("Done."), user("Again."))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			run(s)
			s.end()
		})
	}
}
