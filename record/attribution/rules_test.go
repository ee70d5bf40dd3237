package attribution

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
)

const (
	readBrief  = "Read notes.txt and report what it says."
	countBrief = "Count the words in notes.txt and report."
)

func child(brief string) []runtime.Message {
	return list(system("You are a worker."), user(brief))
}

func TestChildren(t *testing.T) {
	for name, run := range map[string]func(*story){
		"one of two by its brief, whatever comes first": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", countBrief))
			s.ask("root/1.2#1", child(countBrief)).says(said("Two words."))
			s.ask("root/1.1#1", child(readBrief)).says(said("It says hello."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says hello."), result("call_a2", "Two words.")).says(said("Done."))
		},
		"before the parent's answer is whole": func(s *story) {
			root := s.ask("root#1", tools("parent"), user("Go on."))
			root.Call(1, calls(task("call_a1", readBrief)).Calls[0])
			s.ask("root/1.1#1", child(readBrief)).says(said("It says hello."))
			root.says(calls(task("call_a1", readBrief), task("call_a2", readBrief)))
			s.ask("root/1.2#1", child(readBrief)).says(said("It says hello."))
		},
		"brief not first and after an assistant message": func(s *story) {
			opened(s, task("call_a1", "[S] go"))
			s.ask("root/1.1#1", system("You are general."), user("This is the environment."), said("Got it. Thanks for the context!"), user("[S] go"))
		},
		"brief in a system text": func(s *story) {
			opened(s, task("call_a1", readBrief))
			s.ask("root/1.1#1", system("<task>\n"+readBrief+"\n</task>\n<expected_output>words</expected_output>"), user("Please proceed."))
		},
		"brief among other text, white space changed": func(s *story) {
			opened(s, `call_a1 delegate_work {"task":"Research the  history of\nAI","context":"For a reader in a hurry"}`)
			s.ask("root/1.1#1", system("You are Researcher."), user("Current Task: Research the history of AI\n\nContext:\nFor a reader in a hurry"))
		},
		"a model call made inside a tool": func(s *story) {
			opened(s, `call_a1 web_fetch {"url":"http://example.com/","prompt":"Say what the page is about"}`)
			s.ask("root/1.1#1", user(`The user requested the following: "Say what the page is about". The page: Example Domain`))
		},
		"a short brief has to be equal": func(s *story) {
			opened(s, task("call_a1", "go"))
			s.ask("root2#1", tools("x"), user("Let's go then"))
			opened2 := list(user("Another matter."))
			s.ask("root3#1", tools("y"), opened2).says(calls(task("call_b1", "go to the end")))
			s.ask("root4#1", tools("z"), user("Please do go to the end of it."))
			s.ask("root/1.1#1", user("go"))
		},
		"arguments that are no JSON": func(s *story) {
			opened(s, "call_a1 ask What is the capital of France?")
			s.ask("root/1.1#1", user("What is the capital of France?"))
		},
		"two children of one call": func(s *story) {
			opened(s, task("call_a1", readBrief))
			s.ask("root/1.1#1", system("You are Ann."), user(readBrief)).says(said("Ann says hello."))
			s.ask("root/1.1#2#1", system("You are Bob."), user(readBrief)).says(said("Bob says hello."))
		},
		"nested": func(s *story) {
			opened(s, task("call_a1", readBrief))
			s.ask("root/1.1#1", child(readBrief)).says(calls(task("call_b1", countBrief)))
			s.ask("root/1.1/1.1#1", child(countBrief)).says(said("Two words."))
			s.ask("root/1.1#2", child(readBrief), calls(task("call_b1", countBrief)), result("call_b1", "Two words."))
		},
		"one brief handed down: a call without a child comes first": func(s *story) {
			opened(s, task("call_a1", readBrief))
			s.ask("root/1.1#1", child(readBrief)).says(calls(task("call_b1", readBrief)))
			s.ask("root/1.1/1.1#1", child(readBrief)).says(calls(task("call_c1", readBrief)))
			s.ask("root/1.1/1.1/1.1#1", child(readBrief))
		},
		"in the background: the call is answered already": func(s *story) {
			before := opened(s, task("call_a1", readBrief))
			s.ask("root#2", tools("parent"), before, result("call_a1", "Launched.")).says(said("I wait."))
			s.ask("root/1.1#1", child(readBrief))
		},
		"the parts of a user message": func(s *story) {
			opened(s, task("call_a1", "[S] go"))
			m, err := runtime.ParseMessage([]byte(`{"role":"user","content":[{"type":"text","text":"<env/>"},{"type":"text","text":"[S] go"}]}`))
			if err != nil {
				s.t.Fatal(err)
			}
			s.ask("root/1.1#1", m)
		},
		"a coworker asked again goes on": func(s *story) {
			before := opened(s, task("call_a1", readBrief))
			s.ask("root/1.1#1", child(readBrief)).says(said("It says hello to everyone."))
			before = with(before, result("call_a1", "It says hello to everyone."))
			s.ask("root#2", tools("parent"), before).says(calls(task("call_b1", countBrief)))
			s.ask("root/1.1#2", child(readBrief), said("It says hello to everyone."), system("You are asked again."), user(countBrief))
		},
		"of a side conversation": func(s *story) {
			before := opened(s, "call_a1 read {}")
			s.ask("root#2", tools("parent"), before, result("call_a1", "x")).says(said("All of it is read."))
			s.ask("root~side.1#1", before, result("call_a1", "x"), user("Look once more")).says(calls(task("call_b1", countBrief)))
			s.ask("root/?1#1", child(countBrief))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			run(s)
			s.end()
		})
	}
}

func TestWhatIsNoChild(t *testing.T) {
	for name, run := range map[string]func(*story){
		"a word of another prompt in an argument": func(s *story) {
			opened(s, `call_a1 get_weather {"location":"San Francisco"}`)
			s.ask("root2#1", tools("x"), user("What is the weather in San Francisco?"))
		},
		"an argument from the parent's own opening": func(s *story) {
			s.ask("root#1", tools("x"), system("You work in /home/me/my new project."), user("Look around there.")).
				says(calls(`call_a1 list_directory {"path":"/home/me/my new project and more"}`, `call_a2 list_directory {"path":"/home/me/my new project"}`))
			s.ask("root2#1", tools("x"), system("You work in /home/me/my new project."), user("Something else."))
		},
		"the transcript of the parent": func(s *story) {
			before := opened(s, task("call_a1", readBrief))
			s.ask("root/1.1#1", child(readBrief)).says(said("It says hello."))
			s.ask("root~compact.1#1", system("You summarize a conversation."), user("<conversation>[User]: Do the work, please. [Assistant]: task "+readBrief+"</conversation>")).
				says(said("Summary: notes are read."))
			s.ask("root#2", tools("parent"), system("You are the parent."), user("What did we do so far?"), said("Summary: notes are read."), before[2], result("call_a1", "It says hello."), user("Continue."))
		},
		"the same question put once more": func(s *story) {
			q := list(system("You search."), user("Who wrote the first compiler?"))
			s.ask("root#1", tools("x"), q).says(calls(`call_a1 search {"query":"Who wrote the first compiler?"}`))
			s.ask("root#2", tools("x"), q, calls(`call_a1 search {"query":"Who wrote the first compiler?"}`), result("call_a1", "Grace Hopper")).says(said("Grace Hopper."))
			s.ask("root2#1", tools("x"), q)
		},
		"a call of another session": func(s *story) {
			s.ask("root#1", session("ses_one", ""), tools("x"), user("Do the work.")).says(calls(task("call_a1", readBrief)))
			s.ask("root2#1", session("ses_two", ""), tools("x"), user("Do other work.")).says(calls(task("call_b1", readBrief)))
			s.ask("root2/1.1#1", session("ses_three", "ses_two"), child(readBrief))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			run(s)
			s.end()
		})
	}
}

func TestDraws(t *testing.T) {
	both := "[root/1.1 root/1.2]"
	for name, run := range map[string]func(*story){
		"twins stay flagged without results": func(s *story) {
			opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.1#1 (twin "+both+")", child(readBrief))
			s.ask("root/1.2#1 (twin "+both+")", child(readBrief))
		},
		"twins are settled by results": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.2#1", child(readBrief)).says(said("It says hello. R1"))
			s.ask("root/1.1#1", child(readBrief)).says(said("It says hello. R10"))
			s.ask("root#2", tools("parent"), before, result("call_a1", `{"text":"It says hello. R10"}`), result("call_a2", `{"text":"It says hello. R1"}`))
		},
		"equal answers settle nothing": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.1#1 (twin "+both+")", child(readBrief)).says(said("It says hello."))
			s.ask("root/1.2#1 (twin "+both+")", child(readBrief)).says(said("It says hello."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says hello."), result("call_a2", "It says hello."))
		},
		"equal answers with sessions in the results": func(s *story) {
			before := list(user("Do the work."))
			made := calls(task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root#1", session("ses_main", ""), tools("x"), before).says(made)
			s.ask("root/1.2#1", session("ses_bbbb", "ses_main"), child(readBrief)).says(said("It says hello."))
			s.ask("root/1.1#1", session("ses_aaaa", "ses_main"), child(readBrief)).says(said("It says hello."))
			s.ask("root#2", session("ses_main", ""), tools("x"), before, made, result("call_a1", `<task id="ses_aaaa">It says hello.`), result("call_a2", `<task id="ses_bbbb">It says hello.`))
		},
		"a part of the child's text is the result": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.2#1", child(readBrief)).says(said("I thought. Final Answer: hello there"))
			s.ask("root/1.1#1", child(readBrief)).says(said("I thought. Final Answer: goodbye now"))
			s.ask("root#2", tools("parent"), before, result("call_a1", "goodbye now"), result("call_a2", "hello there"))
		},
		"the last one left is settled with the others": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.2#1", child(readBrief)).says(said("It says hello."))
			s.ask("root/1.1#1", child(readBrief)).Failed()
			s.ask("root#2", tools("parent"), before, result("call_a1", "Error: no answer"), result("call_a2", "It says hello."))
		},
		"an answer that ends after its result is there": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			one := s.ask("root/1.2#1", child(readBrief))
			two := s.ask("root/1.1#1", child(readBrief))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says R7."), result("call_a2", "It says R4."))
			one.says(said("It says R4."))
			two.says(said("It says R7."))
		},
		"two children that fit one call": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.1#1 (twin "+both+")", child(readBrief)).says(said("It says hello."))
			s.ask("root/1.2#1 (twin "+both+")", child(readBrief)).says(said("It says hello."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says hello."), result("call_a2", "Error."))
		},
		"cousins: one brief of two parents": func(s *story) {
			before := opened(s, task("call_a1", "one: delegate it"), task("call_a2", "two: delegate it"))
			s.ask("root/1.1#1", child("one: delegate it")).says(calls(task("call_b1", countBrief)))
			s.ask("root/1.2#1", child("two: delegate it")).says(calls(task("call_c1", countBrief)))
			s.ask("root/1.2/1.1#1", child(countBrief)).says(said("Ten words."))
			s.ask("root/1.1/1.1#1", child(countBrief)).says(calls("call_d1 read {}"))
			s.ask("root/1.1/1.1#2", child(countBrief), calls("call_d1 read {}"), result("call_d1", "a b")).says(said("Two words."))
			s.ask("root/1.1#2", child("one: delegate it"), calls(task("call_b1", countBrief)), result("call_b1", "Two words.")).says(said("one ok"))
			s.ask("root/1.2#2", child("two: delegate it"), calls(task("call_c1", countBrief)), result("call_c1", "Ten words.")).says(said("two ok"))
			s.ask("root#2", tools("parent"), before, result("call_a1", "one ok"), result("call_a2", "two ok"))
		},
		"a flag holds for all below": func(s *story) {
			opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.1#1 (twin "+both+")", child(readBrief)).says(calls(task("call_b1", countBrief)))
			s.ask("root/1.1/1.1#1 (twin [root/1.1/1.1 root/1.2/1.1])", child(countBrief))
		},
		"other strings of the call decide": func(s *story) {
			opened(s, `call_a1 spawn {"place":"Paris","task":"Find the weather of the place."}`, `call_a2 spawn {"place":"Oslo","task":"Find the weather of the place."}`)
			s.ask("root/1.2#1", system("You are in Oslo."), user("Find the weather of the place."))
			s.ask("root/1.1#1", system("You are in Paris."), user("Find the weather of the place."))
		},
		"what an earlier call set up decides": func(s *story) {
			before := opened(s, `call_a1 spawn {"agent":"ann","role":"You are Ann."}`, `call_a2 spawn {"agent":"bob","role":"You are Bob."}`)
			before = with(before, result("call_a1", "ok"), result("call_a2", "ok"))
			made := calls(`call_b1 run {"agent":"ann","task":"Read notes.txt and report."}`, `call_b2 run {"agent":"bob","task":"Read notes.txt and report."}`)
			s.ask("root#2", tools("parent"), before).says(made)
			s.ask("root/2.2#1", system("You are Bob."), user("Read notes.txt and report."))
			s.ask("root/2.1#1", system("You are Ann."), user("Read notes.txt and report."))
		},
		"both failed, no word of a retry": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			one := s.ask("root/1.1#1 (twin "+both+")", child(readBrief))
			two := s.ask("root/1.2#1 (twin "+both+")", child(readBrief))
			one.Failed()
			two.Failed()
			s.ask("root/1.1#1.2", child(readBrief)).says(said("It says R4."))
			s.ask("root/1.2#1.2", child(readBrief)).says(said("It says R7."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says R4."), result("call_a2", "It says R7."))
		},
		"two notices in one text": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			before = with(before, result("call_a1", "Launched."), result("call_a2", "Launched."))
			s.ask("root#2", tools("parent"), before).says(said("I wait for both of them."))
			s.ask("root/1.2#1", child(readBrief)).says(said("It says R4."))
			s.ask("root/1.1#1", child(readBrief)).says(said("It says R7."))
			s.ask("root#3", tools("parent"), before, said("I wait for both of them."), user("<n>call_a2: It says R4.</n><n>call_a1: It says R7.</n>"))
		},
		"a failed opening and its twin, no word of a retry": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.1#1 (twin "+both+")", child(readBrief)).Failed()
			s.ask("root/1.2#1", child(readBrief)).says(said("It says R4."))
			s.ask("root/1.1#1.2", child(readBrief)).says(said("It says R7."))
			s.ask("root#2", tools("parent"), before, result("call_a1", "It says R7."), result("call_a2", "It says R4."))
		},
		"a failed opening and its retry, told by the client": func(s *story) {
			opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			s.ask("root/1.1#1 (twin "+both+")", retry("0"), child(readBrief)).Failed()
			s.ask("root/1.1#1.2 (twin "+both+")", retry("1"), child(readBrief)).says(said("It says R4."))
			s.ask("root/1.2#1 (twin "+both+")", retry("0"), child(readBrief)).says(said("It says R7."))
		},
		"in the background: a notice names the call": func(s *story) {
			before := opened(s, task("call_a1", readBrief), task("call_a2", readBrief))
			before = with(before, result("call_a1", "Launched."), result("call_a2", "Launched."))
			s.ask("root#2", tools("parent"), before).says(said("I wait for both of them."))
			s.ask("root/1.2#1", child(readBrief)).says(said("It says R4."))
			s.ask("root/1.1#1", child(readBrief)).says(said("It says R7."))
			before = with(before, said("I wait for both of them."), user("<task-notification>call_a2: It says R4.</task-notification>"))
			s.ask("root#3", tools("parent"), before).says(said("And for the other one."))
			s.ask("root#4", tools("parent"), before, said("And for the other one."), user("<task-notification>call_a1: It says R7.</task-notification>"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			run(s)
			s.end()
		})
	}
}
