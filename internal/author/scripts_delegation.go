package main

import "fmt"

func isolationScripts() map[string]script {
	return map[string]script{
		"isolation-child-starts-fresh": root(
			use(read("notes.md")),
			use(task("Find which test runner package.json names. Answer with the file as evidence.")),
			say("The project is tested with vitest, as package.json line 3 shows."),
		).agent("root/2.1",
			use(read("package.json")),
			say("package.json:3 names vitest as the test runner."),
		),
		"isolation-parent-gains-one-pair": root(
			use(task("List every Go file that calls Refund and say what each passes as the amount.")),
			say("Refund is called in two places; only orders.go passes a partial amount."),
		).agent("root/1.1",
			use(glob("**/*.go")).saying("I look for the files first."),
			use(read("orders.go"), read("payments.go")).saying("Now the two candidates."),
			use(read("refund.go")).saying("And the function itself."),
			say("orders.go:3 passes item.Price, payments.go:3 passes the whole total; refund.go:3 takes cents."),
		),
		"isolation-two-registries": root(
			use(task("Plan and check the build file build.txt.")),
			use(task("Plan and check the release file release.txt.")),
			say("Both files are in order."),
		).agent("root/1.1",
			use(todo(item("read build.txt", "in_progress"))),
			use(read("build.txt")),
			say("build.txt holds one line: make all."),
		).agent("root/2.1",
			use(todo(item("read release.txt", "in_progress")+","+item("compare the tag", "pending"))),
			use(read("release.txt")),
			use(todo(item("read release.txt", "completed")+","+item("compare the tag", "completed"))),
			say("release.txt names the tag v2."),
		),
		"isolation-siblings": root(
			use(task("Read left.txt and report its word."), task("Read right.txt and report its word.")),
			say("left says amber, right says cobalt."),
		).agent("root/1.1",
			use(read("left.txt")), say("The word in left.txt is amber."),
		).agent("root/1.2",
			use(read("right.txt")), say("The word in right.txt is cobalt."),
		),
		"isolation-file-outlives-child": root(
			use(task("Write the three open questions about the importer into questions.md.")),
			use(read("questions.md")),
			use(edit("questions.md", "3. Who owns it?", "3. Who owns it after March?")),
			say("questions.md holds three questions; the third now names the date."),
		).agent("root/1.1",
			use(read("importer.txt")),
			use(write("questions.md", "1. Which formats?\n2. How large?\n3. Who owns it?\n")),
			say("questions.md now lists three open questions."),
		),
		"isolation-twin-briefs": root(
			use(task("Pick one colour from colours.txt and name it."), task("Pick one colour from colours.txt and name it.")),
			say("One child picked ochre, the other teal."),
		).agent("root/1.1",
			use(read("colours.txt")), say("I pick ochre from colours.txt."),
		).agent("root/1.2",
			use(read("colours.txt")), say("I pick teal from colours.txt."),
		),
	}
}

func recursionScripts() map[string]script {
	return map[string]script{
		"recursion-unknown-tool": root(
			use(task("Count the lines of log.txt.")),
			say("log.txt has two lines."),
		).agent("root/1.1",
			use(task("Count the lines of log.txt for me.")),
			use(read("log.txt")),
			say("log.txt has two lines."),
		),
		"recursion-unknown-tool-twice": root(
			use(task("Say what the file a.txt holds.")),
			say("The child read a.txt itself."),
		).agent("root/1.1",
			use(task("Read a.txt."), call("delegate", `{"prompt":"Read a.txt."}`), read("a.txt")),
			use(task("Read a.txt, please.")),
			say("a.txt holds the letter alpha."),
		),
		"recursion-registry-with-task": root(
			use(task("Look at the folder.")),
			say("The subagent could not be started: its registry holds task."),
		),
		"recursion-factory-nil": root(
			use(task("Look at the folder.")),
			say("The subagent could not be started: there is no registry."),
		),
		"recursion-factory-error": root(
			use(task("Look at the folder.")),
			say("The subagent failed before it began."),
		),
	}
}

func limitScripts() map[string]script {
	endless := make([]reply, 30)
	for i := range endless {
		endless[i] = use(read(fmt.Sprintf("part-%02d.txt", i+1)))
	}
	lastMinute := make([]reply, 30)
	copy(lastMinute, endless)
	lastMinute[29] = say("The thirty parts hold no error; I read 29 of them.")
	return map[string]script{
		"limit-child-thirty-turns": root(
			use(task("Read every part and report the first error.")),
			say("The subagent ran out of turns, so nothing is known."),
		).agent("root/1.1", endless...),
		"limit-child-answers-in-turn-thirty": root(
			use(task("Read every part and report the first error.")),
			say("No error in the parts that were read."),
		).agent("root/1.1", lastMinute...),
		"limit-child-lowered": root(
			use(task("Read one.txt, two.txt and three.txt.")),
			say("Two turns were not enough."),
		).agent("root/1.1",
			use(read("one.txt")).saying("I begin with one.txt."), use(read("two.txt")),
		),
		"limit-parent": root(
			use(read("one.txt")), use(read("two.txt")), use(read("three.txt")),
		),
	}
}

func interruptScripts() map[string]script {
	return map[string]script{
		"interrupt-in-parent-calls": root(
			use(read("a.txt"), read("b.txt"), read("c.txt"), read("d.txt")),
		),
		"interrupt-in-child-call": root(
			use(task("Read a.txt, then b.txt."), read("c.txt")),
		).agent("root/1.1",
			use(read("a.txt")), use(read("b.txt"), read("d.txt")),
		),
		"interrupt-before-child-turn": root(
			use(task("Read a.txt, then think.")),
		).agent("root/1.1", use(read("a.txt"))),
	}
}
