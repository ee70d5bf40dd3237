package main

func pairingScripts() map[string]script {
	return map[string]script{
		"pairing-several-calls": root(
			use(read("a.txt"), glob("*.txt"), read("missing.txt"), read("b.txt")).saying("Four things at once."),
			say("a.txt and b.txt exist, missing.txt does not."),
		),
		"pairing-duplicate-ids": root(
			use(read("a.txt").withID("dup"), read("b.txt").withID("dup"), read("c.txt").withID("dup")),
			say("Three files, three results."),
		),
		"pairing-empty-ids": root(
			use(read("a.txt").withID(""), read("b.txt").withID("")),
			use(read("c.txt").withID("")),
			say("Three files read."),
		),
		"pairing-ids-reused-later": root(
			use(read("a.txt").withID("call_1"), read("b.txt").withID("call_2")),
			use(read("c.txt").withID("call_1")),
			use(read("a.txt").withID("call_2"), read("b.txt").withID("call_1")),
			say("The same ids came back and each call has its own result."),
		),
		"pairing-bad-among-good": root(
			use(read("a.txt"), call("read_file", `{"path":"b.txt"]`), call("no_such_tool", `{}`), read("b.txt")),
			say("Two of four calls ran."),
		),
		"pairing-child-and-parent-share-ids": root(
			use(task("Read a.txt.").withID("call_1")),
			use(read("b.txt").withID("call_1")),
			say("Ids of parent and child do not mix."),
		).agent("root/1.1", use(read("a.txt").withID("call_1")), say("a.txt holds alpha.")),
		"truncated-call-never-runs": root(
			use(write("report.md", "# Title\nbody")).ending("length").cutArguments(38),
			use(write("report.md", "# Title\n")),
			say("The second, shorter write went through."),
		),
		"truncated-call-hidden-by-stop": root(
			use(read("a.txt"), write("report.md", "# Title\nbody")).ending("stop").cutArguments(38),
			say("Nothing was written, I stop here."),
		),
		"truncated-answer": root(
			say("The three reasons are: first, the").ending("length"),
		),
		"empty-answer": root(
			reply{body: `{"id":"c","object":"chat.completion","created":0,"model":"scripted-1","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":0,"total_tokens":10}}`},
		),
		"refused-answer": root(
			reply{body: `{"id":"c","object":"chat.completion","created":0,"model":"scripted-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"I cannot help with that."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17}}`},
		),
	}
}

func argumentScripts() map[string]script {
	return map[string]script{
		"arguments-task": root(
			use(call("task", ``)),
			use(call("task", `{"description":""}`)),
			use(call("task", `{"description":" \n\t "}`)),
			use(call("task", `{"description":"Read a.txt.","title":"x"}`)),
			use(call("task", `{"description":7}`)),
			use(call("task", `read a.txt`)),
			use(call("task", `["Read a.txt."]`)),
			use(call("task", `{"description":"Read a.txt.","description":"Read b.txt."}`)),
			use(call("task", `{"description":"Read a.txt."} {}`)),
			say("None of the nine delegations was well formed."),
		),
		"arguments-task-trimmed": root(
			use(call("task", `{"description":"  Read a.txt.\n"}`)),
			say("The brief arrived without the blanks around it."),
		).agent("root/1.1", say("Nothing to read was needed.")),
		"arguments-tools": root(
			use(call("read_file", `{"path":"a.txt","pth":"b.txt"}`), call("read_file", `{"path":"a.txt","limit":"ten"}`), call("read_file", ``), call("read_file", `{"path":null}`)),
			use(call("todo_write", `{"todos":[{"content":"x","status":"doing"}]}`), call("todo_write", `{"todos":[{"content":"x","status":"pending","owner":"me"}]}`)),
			use(call("glob", `"*.txt"`), call("glob", `{"pattern":"*.txt"}`)),
			say("Only the last call was well formed."),
		),
		"arguments-object-form": root(
			reply{body: `{"id":"c","object":"chat.completion","created":0,"model":"scripted-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"o1","type":"function","function":{"name":"read_file","arguments":{"path":"a.txt"}}},{"id":"o2","type":"function","function":{"name":"glob","arguments":null}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17}}`},
			say("The object form means the same as the string form."),
		),
	}
}

func planScripts() map[string]script {
	plan := todo(item("read a.txt", "in_progress") + "," + item("read b.txt", "pending"))
	return map[string]script{
		"reminder-parent-only": root(
			use(plan),
			use(read("a.txt")),
			use(read("b.txt")),
			use(task("Keep a plan of your own and read a.txt five times.")),
			use(read("c.txt")),
			use(todo(item("read a.txt", "completed")+","+item("read b.txt", "completed"))),
			say("The plan is done."),
		).agent("root/4.1",
			use(todo(item("read a.txt five times", "in_progress"))),
			use(read("a.txt")), use(read("a.txt")), use(read("a.txt")), use(read("a.txt")), use(read("a.txt")),
			say("a.txt says alpha, five times."),
		),
		"reminder-not-when-done": root(
			use(todo(item("read a.txt", "completed"))),
			use(read("a.txt")), use(read("b.txt")), use(read("c.txt")), use(read("a.txt")),
			say("No reminder was due: nothing was open."),
		),
		"reminder-every-three-turns": root(
			use(plan),
			use(read("a.txt")), use(read("b.txt")), use(read("c.txt")), use(read("a.txt")), use(read("b.txt")), use(read("c.txt")), use(read("a.txt")),
			say("Two reminders came, three turns apart."),
		),
	}
}
