package main

// brief is a task call of the profile mini.
func brief(title, prompt string) toolCall {
	return call("task", `{"description":`+str(title)+`,"prompt":`+str(prompt)+`}`)
}

func list(path string) toolCall { return call("list_files", `{"path":`+str(path)+`}`) }

func bash(command string) toolCall { return call("run_bash", `{"command":`+str(command)+`}`) }

// using says what the upstream reports for a reply instead of the usual count.
func (r reply) using(input, output int) reply {
	r.input, r.output = input, output
	return r
}

func miniScripts() map[string]script {
	return mergeScripts(miniParallelScripts(), miniFailureScripts(), miniToolScripts(), miniBudgetScripts())
}

// module is the work of one child of the parallel scenarios: list, read,
// report.
func (s script) module(path, name string) script {
	return s.agent(path,
		use(list(name)),
		use(read(name+"/main.go")),
		say(name+"/main.go:1 declares package "+name+"."),
	)
}

func surveyBriefs() []toolCall {
	return []toolCall{
		brief("orders", "Background: a refund feature is planned. Find out what the folder orders holds. Report the package with file:line."),
		brief("refund", "Background: a refund feature is planned. Find out what the folder refund holds. Report the package with file:line."),
		brief("notify", "Background: a refund feature is planned. Find out what the folder notify holds. Report the package with file:line."),
	}
}

func miniParallelScripts() map[string]script {
	three := root(
		use(surveyBriefs()...),
		say("orders, refund and notify are one package each."),
	).module("root/1.1", "orders").module("root/1.2", "refund").module("root/1.3", "notify")
	twins := root(
		use(brief("colour", "Pick one colour from colours.txt and name it."), brief("colour", "Pick one colour from colours.txt and name it.")),
		say("The twins picked ochre and teal."),
	).agent("root/1.1", use(read("colours.txt")), say("Ochre, colours.txt:1.")).agent("root/1.2", use(read("colours.txt")), say("Teal, colours.txt:2."))
	reads := root(
		use(read("orders/main.go"), list("refund"), brief("notify", "Read notify/main.go and report its package.")),
		use(read("orders/main.go"), bash("ls")),
		say("Reads and a child ran together; a turn with a command ran in order."),
	).agent("root/1.3", use(read("notify/main.go")), say("notify/main.go:1 declares package notify."))
	return map[string]script{
		"mini-three-children":     three,
		"mini-twin-briefs":        twins,
		"mini-reads-run-together": reads,
		"mini-survey-with-children": root(
			use(surveyBriefs()...).using(900, 160),
			say("Refunds start in orders, are booked in refund and told by notify.").using(1300, 40),
		).survey("root/1.1", "orders").survey("root/1.2", "refund").survey("root/1.3", "notify"),
		"mini-survey-alone": root(
			use(list("orders"), list("refund"), list("notify")).using(900, 60),
			use(read("orders/main.go"), read("refund/main.go"), read("notify/main.go")).using(1200, 60),
			say("Refunds start in orders, are booked in refund and told by notify.").using(4800, 40),
		),
	}
}

// survey is a child that reads what its parent then need not.
func (s script) survey(path, name string) script {
	return s.agent(path,
		use(list(name)).using(700, 20),
		use(read(name+"/main.go")).using(800, 20),
		say(name+"/main.go:1 declares package "+name+"; see func Run in line 3.").using(1900, 60),
	)
}

func miniFailureScripts() map[string]script {
	broken := fail(500, "application/json", `{"error":{"message":"worker died at /srv/adapter/worker.py:41"}}`)
	fallen := root(
		use(surveyBriefs()...),
		say("refund could not be read, the other two are packages."),
	).module("root/1.1", "orders").module("root/1.3", "notify").
		agent("root/1.2", use(list("refund")).saying("refund holds one file."), broken).
		try("root/1.2", 2, 2, broken).try("root/1.2", 2, 3, broken)
	limited := root(
		use(surveyBriefs()...),
		say("refund ran out of turns, the other two are packages."),
	).agent("root/1.1", use(list("orders")), say("orders/main.go exists.")).agent("root/1.3", use(list("notify")), say("notify/main.go exists.")).
		agent("root/1.2", use(list("refund")).saying("refund holds main.go so far."), use(read("refund/main.go")))
	cancelled := root(use(surveyBriefs()...)).module("root/1.1", "orders").module("root/1.3", "notify").
		agent("root/1.2", use(list("refund")).saying("refund holds main.go so far."), use(read("refund/main.go")))
	ends := func(last reply) script {
		return root(
			use(brief("orders", "Say what orders holds.")),
			say("The subagent did not finish."),
		).agent("root/1.1", use(list("orders")).saying("orders holds one file."), last)
	}
	return map[string]script{
		"mini-one-of-three-fails": fallen,
		"mini-one-at-its-limit":   limited,
		"mini-one-cancelled":      cancelled,
		"mini-child-truncated":    ends(say("orders/main.go declares pack").ending("length")),
		"mini-child-empty":        ends(reply{body: `{"id":"c","object":"chat.completion","created":0,"model":"scripted-1","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":0,"total_tokens":10}}`}),
		"mini-child-refused":      ends(reply{body: `{"id":"c","object":"chat.completion","created":0,"model":"scripted-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"I cannot help with that."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17}}`}),
		"mini-nested-task-refused": root(
			use(brief("count", "Count the files in orders.")),
			say("orders holds one file."),
		).agent("root/1.1",
			use(brief("count", "Count the files in orders.")),
			use(list("orders")),
			say("orders holds one file: orders/main.go."),
		),
		"mini-brief-arguments": root(
			use(call("task", `{"description":"look"}`), call("task", `{"description":" ","prompt":"Look."}`), call("task", `{"description":"look","prompt":"\n"}`), call("task", `{"description":"look","prompt":"Look.","agent":"general"}`)),
			say("None of the four was well formed."),
		),
	}
}

func miniToolScripts() map[string]script {
	return map[string]script{
		"mini-edit-needs-own-read": root(
			use(brief("orders", "Read orders/main.go and report its package.")),
			use(edit("orders/main.go", "package orders", "package order")),
			use(read("orders/main.go")),
			use(edit("orders/main.go", "package orders", "package order")),
			say("The package is renamed."),
		).agent("root/1.1", use(read("orders/main.go")), say("orders/main.go:1 declares package orders.")),
		"mini-one-denied": root(
			use(surveyBriefs()[0], brief("clean", "Remove the folder notify.")),
			say("orders was read; notify was not removed."),
		).module("root/1.1", "orders").agent("root/1.2",
			use(bash("rm -r notify")), say("I was not allowed to remove notify."),
		),
		"mini-two-questions": root(
			use(brief("left", "Run the left check."), brief("right", "Run the right check.")),
			say("One check was allowed, one was not."),
		).agent("root/1.1", use(bash("printf left; true")), say("The left check ran.")).
			agent("root/1.2", use(bash("printf right; true")), say("The right check was not allowed.")),
		"mini-child-policy": root(
			use(brief("tidy", "Fix the typo in README.md.")),
			use(bash("sed -i s/teh/the/ README.md")),
			say("The child could only look; the parent could write."),
		).agent("root/1.1",
			use(bash("sed -i s/teh/the/ README.md")),
			use(bash("cat README.md")),
			say("README.md:1 says teh; I may not write."),
		),
		"mini-sub-model": root(
			use(brief("orders", "Read orders/main.go and report its package.")),
			say("A cheaper model read it."),
		).agent("root/1.1", use(read("orders/main.go")), say("orders/main.go:1 declares package orders.")),
	}
}

// miniBudgetScripts: long files make the parent and a child compact.
func miniBudgetScripts() map[string]script {
	return map[string]script{
		"mini-compaction-twice": root(
			use(read("long-1.txt")), use(read("long-2.txt")), use(read("long-3.txt")),
			use(read("long-4.txt")), use(read("long-5.txt")), use(read("long-6.txt")),
			say("All six files are long and say nothing."),
		).agent("root~compact.1", say("The user wants the six long files read. long-1 and long-2 were read: only filler.")).
			agent("root~compact.2", say("The user wants the six long files read. long-1 to long-4 were read: only filler.")),
		"mini-usage-sums": root(
			use(brief("ok", "Read orders/main.go."), brief("fails", "Read refund/main.go.")).using(10, 0),
			say("Sums are kept."),
		).agent("root/1.1", say("Read.").using(5, 0)).agent("root/1.2", fail(400, "application/json", `{"error":{"message":"no"}}`)),
	}
}

func mergeScripts(groups ...map[string]script) map[string]script {
	all := map[string]script{}
	for _, group := range groups {
		for name, s := range group {
			all[name] = s
		}
	}
	return all
}
