package record

// Rule explains a finding.
type Rule struct {
	Meaning string
	Remedy  string
}

// RuleOf explains the finding with a code; the zero Rule for a code that does
// not exist. docs/findings.md says the same, with examples.
func RuleOf(code string) Rule { return ruleTexts[code] }

// ruleTexts are the words of docs/findings.md, whose entries a test holds
// against them.
var ruleTexts = map[string]Rule{
	"pairing/unanswered": {
		`a call has no result directly after the answer that made it, before the next request or message.`,
		`give every call a result, also one that was denied, failed or was interrupted.`,
	},
	"pairing/orphan": {
		`a tool message answers no call of the answer before it.`,
		`keep a result with its call when messages are dropped, moved or summed up.`,
	},
	"pairing/duplicate-id": {
		"two calls of one answer have one id, or one call has two results. `tapetree check` also names an id that an agent's model uses again in a later turn; in a replay that is legal, since calls are paired by occurrence.",
		`give the later call an id of its own, in call and result; execute and answer both.`,
	},
	"pairing/order": {
		`results stand in another order than their calls. In the logs of Claude Code, Codex and pi, which have results as they came, a notice: what was sent is not known.`,
		`store results in call order, whichever call finishes first.`,
	},
	"isolation/parent-sees-child": {
		"the parent has a text of a child on its way (an answer between, a tool result), or the result of its `task` call is not the child's final text (p06) or report (mini).",
		`return the child's last answer alone; keep its history to itself.`,
	},
	"isolation/child-sees-parent": {
		`a child's first request is not exactly its system text and its brief, or it has a text of the parent. A child that its program begins with a copy of the parent's history on purpose, as Codex can, is none.`,
		`start every child with a new history; pass what it must know in the brief.`,
	},
	"isolation/siblings": {
		`a child has a text of another child.`,
		`give each child its own history, tools and todo list.`,
	},
	"recursion/spawned": {
		"a child started an agent, or, in our own runner, its call to `task` was answered with anything but `unknown_tool`.",
		"leave `task` out of the child's tools.",
	},
	"sandbox/escaped": {
		`something beside the workspace was made, changed or removed.`,
		`check every path before it is opened, links resolved, and open it so that it cannot change in between.`,
	},
	"limit/exceeded": {
		"an agent had more turns than it may have. Other agents have a limit only where `limit.parent-turns` or `limit.child-turns` sets one.",
		"count answers and stop before the next request; or raise `max-turns` or `child-max-turns`.",
	},
	"limit/tool-output-as-answer": {
		`a child gave no answer, and its last tool result went up in place of one.`,
		`report a child without an answer as an error.`,
	},
	"truncated/executed": {
		`a call of an answer that was cut off was run.`,
		`run no call of an answer that ended for length or whose arguments break off, and say so in each result.`,
	},
	"arguments/invalid-json": {
		"a call ran although its arguments are no JSON; in a history of another program, the arguments of a call are no JSON object. Nothing and `null` stand for an empty one.",
		"answer such a call with `invalid_arguments`; do not repair or guess.",
	},
	"secret/present": {
		`the transcript holds what looks like a key, a token or a password.`,
		`revoke the secret, delete the transcript also from the repository's history, and record it again.`,
	},
	"replay/missing": {
		`the session asked for something that was not recorded.`,
		`if the change is meant, record the scenario again.`,
	},
	"replay/extra": {
		`something recorded was never asked for.`,
		`find out why the session ended early; if that is meant, record the scenario again.`,
	},
	"replay/order": {
		`something was asked for, or stands in the transcript, out of turn order.`,
		`record the scenario again; of a transcript written by hand, put the lines in order.`,
	},
	"replay/history": {
		`the messages of a request differ from the recorded ones. The report shows where.`,
		"look for the change in a tool or in the loop; let a `volatile` rule cover what differs each time; if it is meant, record the scenario again.",
	},
	"replay/prompt": {
		`only the system text of a request differs from the recorded one (warning).`,
		`if the change is meant, record the scenario again when its effect is to be seen.`,
	},
	"replay/tools": {
		`only tool schemas, model or parameters of a request differ from the recorded ones (warning).`,
		"as for `replay/prompt`.",
	},
	"replay/tool-result": {
		`a tool that really ran gave another result than it did in the recording.`,
		"check the workspace of the scenario and the tool; or answer the tool from the recording (`tools: NAME=tape`).",
	},
	"replay/verdict": {
		"a call was allowed, denied or refused otherwise than in the recording; or a question met no line of the `approvals` section, or a line no question or another recorded answer.",
		`check the mode, the rules and the approvals.`,
	},
	"replay/stop": {
		`an agent ended for another reason than in the recording.`,
		`check the limits and how the end of a session is decided.`,
	},
	"replay/partial": {
		`the recording broke off: its last line is missing.`,
		"record the scenario again; what is there can be read with `tapetree show`.",
	},
	"replay/fault": {
		`a fault never met its turn, or could not be applied to an answer there (warning): the run shows nothing of how the agent copes with it.`,
		`look up in the golden history which agents have which turns, and what is called there; give the fault another place.`,
	},
	"replay/ambiguous": {
		`the requests of a recorded agent fit several, and nothing that was sent tells which one it is. Not reported for twins, which are in call order, and not for sessions of the built-in runner, whose agents have names.`,
		`give the agents briefs that differ, or let the client name them in the header.`,
	},
	"replay/command-exit": {
		`a recorded program ended with another exit code than in the recording. Not reported for sessions of the built-in runner, which is no program of its own.`,
		`look at what the program wrote.`,
	},
	"replay/stale": {
		"the recording is older than `max-age` allows, or does not say how old it is (warning).",
		`record the scenario again.`,
	},
	"golden/missing": {
		"the scenario has no golden history; what it would be was written beside it with the ending `.new`.",
		"read the `.new` file and give it its name, or accept it with `tapetree review NAME`.",
	},
	"golden/differs": {
		"the history differs from the golden one; the new one was written beside it with the ending `.new`.",
		"if the change is meant, accept it with `tapetree review NAME`; else find out where it comes from.",
	},
	"want/answer": {
		`the final text is not the wanted one, or there is none.`,
		"check what led to the answer, or the `want/answer` section.",
	},
	"want/calls": {
		`an agent made other calls than wanted.`,
		"check the calls in the golden history, or the mode and the lines of `want/calls`.",
	},
	"want/files": {
		`a file of the workspace has other bytes than wanted, or is none.`,
		"check the calls that write it; CRLF goes into `want/files64/PATH`.",
	},
	"want/absent": {
		`there is something at a path where nothing may be.`,
		`find the call that made it.`,
	},
	"want/budget": {
		`the session, children included, used more turns, calls, tokens or dollars than allowed; or what it cost is open, because a model it asked has no price.`,
		"check what was done for nothing, or raise the budget; name a price table that has the model with `--prices`.",
	},
	"want/verify": {
		"the command of `want/verify` did not exit with 0.",
		`run the command in the workspace that the session leaves.`,
	},
	"want/findings": {
		`a finding that the scenario demands did not come.`,
		"take the code out of `want/findings` when the rule holds now.",
	},
	"want/judge": {
		`a judge model found that the answer does not meet the rubric. No section of this version asks for it.`,
		`read the judge's reasons.`,
	},
	"delegation/vague-brief": {
		"a brief has fewer words than `delegation.vague-brief.words` and names nothing (no file, identifier, number or quotation), or it refers to a conversation that the child does not see, such as \"as discussed\" or \"the file above\" (warning).",
		`name files, question and form of the report in the brief.`,
	},
	"delegation/long-report": {
		"a report has more than `delegation.long-report.words` words (300), or `delegation.long-report.characters` characters of Chinese, Japanese or Korean (600) (warning).",
		`ask in the brief for findings with file and line, and for at most 300 words.`,
	},
	"delegation/verbatim-report": {
		"`delegation.verbatim-report.percent` percent (60) or more of a report stand word for word in the results of the child's tools (warning). Reports below `delegation.verbatim-report.bytes` bytes (400) are not judged.",
		`ask for a conclusion with places, or have the parent read the file itself.`,
	},
	"delegation/trivial-task": {
		"a child that came to an answer needed at most `delegation.trivial-task.calls` calls (1): what one call of the parent would have done (warning).",
		`delegate what takes several steps; let the parent make a single call itself.`,
	},
	"delegation/parallel-writes": {
		`children that ran at the same time wrote one file (warning).`,
		`give each child files of its own, or start the second one when the first is done.`,
	},
	"delegation/edit-unread": {
		`a parent edited a file that it had never read, only a child of it had (warning).`,
		`have the parent read what it edits, or let the child that read it do the edit.`,
	},
	"delegation/reader-writes": {
		"a child that was only asked to read, or whose kind only reads, wrote: with a file tool, or through the shell with a redirection, `rm`, `mv`, `tee`, `sed -i` and the like (warning). Files below `/tmp` do not count.",
		`give readers tools that only read; say in the brief that nothing may be changed.`,
	},
	"delegation/hidden-failure": {
		`a child failed, nothing was done about it afterwards, and the parent's last text does not speak of a failure; or a child's last call failed (it begins as an error, its file marks it as one, or a shell says so with an exit code or an unknown command), and its report does not say so (warning).`,
		`have the parent name what is missing, and a child report what went wrong.`,
	},
}
