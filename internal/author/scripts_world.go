package main

import "fmt"

func boundaryScripts() map[string]script {
	escape := func(path string) script {
		return root(
			use(write(path, "changed\n")),
			use(read(path)),
			say("Both were refused; nothing outside was touched."),
		)
	}
	return map[string]script{
		"boundary-dotdot":         escape("../outside/secret.txt"),
		"boundary-dotdot-inside":  escape("sub/../../outside/secret.txt"),
		"boundary-absolute":       escape("/etc/tapetree-must-not-exist.txt"),
		"boundary-sibling-prefix": escape("../workspace-2/file.txt"),
		"boundary-link":           escape("door/secret.txt"),
		"boundary-link-last":      escape("shortcut.txt"),
		"boundary-dangling-link":  escape("dangling.txt"),
		"boundary-missing-parent": escape("door/new1/new2/file.txt"),
		"boundary-child": root(
			use(task("Write the result to ../outside/secret.txt.")),
			say("The subagent was kept inside the workspace."),
		).agent("root/1.1",
			use(write("../outside/secret.txt", "changed\n")),
			use(write("result.txt", "kept inside\n")),
			say("The write outside was forbidden; result.txt is inside."),
		),
		"boundary-edit-and-glob": root(
			use(edit("door/secret.txt", "old", "new"), glob("door/*"), glob("../outside/*"), call("glob", `{"pattern":"*","path":"door"}`)),
			say("Neither edit nor glob leaves the workspace."),
		),
		"boundary-link-inside-works": root(
			use(write("alias/note.txt", "through a link that stays inside\n")),
			use(read("real/note.txt")),
			say("Links that stay inside work."),
		),
		"boundary-special-files": root(
			use(read("pipe"), read("."), read("link-to-pipe"), write("pipe", "x"), write("real", "x")),
			say("Special files are refused by type."),
		),
	}
}

func permissionScripts() map[string]script {
	return map[string]script{
		"permission-child-write-denied": root(
			use(task("Write a summary to summary.md.")),
			use(read("a.txt")),
			say("The summary was not written, a.txt was read."),
		).agent("root/1.1",
			use(write("summary.md", "text\n")),
			say("I was not allowed to write summary.md."),
		),
		"permission-script": root(
			use(write("one.txt", "1\n"), write("two.txt", "2\n"), edit("one.txt", "1", "one")),
			use(task("Write three.txt.")),
			say("One and three exist, two was denied."),
		).agent("root/2.1",
			use(write("three.txt", "3\n")), say("three.txt is written."),
		),
		"permission-always-holds-for-children": root(
			use(write("one.txt", "1\n")),
			use(task("Write two.txt.")),
			use(write("three.txt", "3\n")),
			say("One question was enough."),
		).agent("root/2.1",
			use(write("two.txt", "2\n")), say("two.txt is written."),
		),
		"permission-read-only": root(
			use(read("a.txt"), write("b.txt", "x"), call("shell", `{"command":"touch c.txt"}`)),
			say("Only the read went through."),
		),
		"permission-accept-edits": root(
			use(write("b.txt", "x\n"), edit("b.txt", "x", "y"), call("shell", `{"command":"touch c.txt"}`)),
			say("Edits went through, the shell did not."),
		),
		"tape-shell": root(
			use(call("shell", `{"command":"printf 'one\\ntwo\\n'"}`), call("shell", `{"command":"rm -r build"}`)),
			say("The command printed two lines; nothing was deleted."),
		),
		"edit-exactly-one-match": root(
			use(edit("crlf.txt", "a\nb", "a\nB"), edit("crlf.txt", "x", "y"), edit("twice.txt", "same", "other"), call("edit_file", `{"path":"twice.txt","old_string":"same","new_string":"other","replace_all":true}`)),
			say("One edit matched once, one not at all, one twice until all were meant."),
		),
	}
}

func hookScripts() map[string]script {
	return map[string]script{
		"hooks-order-and-sharing": root(
			use(task("Read a.txt.")),
			use(read("b.txt")),
			say("Done."),
		).agent("root/1.1", use(read("a.txt")), say("a.txt holds alpha.")),
		"hooks-block": root(
			use(write("a.txt", "x"), read("a.txt")),
			use(task("Write b.txt.")),
			say("Writes are blocked for everyone."),
		).agent("root/2.1", use(write("b.txt", "x")), say("The write was blocked.")),
		"hooks-panic": root(
			use(write("a.txt", "x"), read("a.txt")),
			say("A guard that panics blocks."),
		),
		"hooks-timeout": root(
			use(write("a.txt", "x"), read("a.txt")),
			say("A guard that does not answer blocks."),
		),
	}
}

func failureScripts() map[string]script {
	failing := func(r reply) script {
		return root(
			use(task("Read a.txt.")),
			say("The subagent failed, I go on without it."),
		).agent("root/1.1", r)
	}
	refusal := fail(401, "application/json", `{"error":{"message":"Incorrect key at /srv/adapter/config.json for https://internal.invalid/v1","type":"invalid_request_error","code":"invalid_api_key"}}`)
	broken := fail(500, "application/json", `{"error":{"message":"worker died at /srv/adapter/worker.py:41"}}`)
	halfway := `data: {"id":"c","object":"chat.completion.chunk","created":0,"model":"scripted-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Half of the"},"finish_reason":null}]}` + "\n\n"
	limited := fail(429, "application/json", `{"error":{"message":"Rate limit reached","type":"rate_limit_error"}}`)
	limited.header["retry-after"] = "1"
	return map[string]script{
		"failure-child-error-is-silent-on-detail": failing(refusal),
		"upstream-500-three-times": failing(broken).
			try("root/1.1", 1, 2, broken).try("root/1.1", 1, 3, broken),
		"upstream-html-page": root(fail(403, "text/html", "<html><body><h1>Blocked</h1>\n<p>Ask the proxy's owner.</p></body></html>\n")),
		"upstream-429-then-200": root(limited).
			try("root", 1, 2, say("It took two tries.")),
		"upstream-error-in-mid-stream": failing(frames(halfway, "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n", "data: [DONE]\n\n")).
			try("root/1.1", 1, 2, frames(halfway, "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n")).
			try("root/1.1", 1, 3, frames(halfway, "event: error\ndata: {\"message\":\"overloaded\"}\n\n")),
		"upstream-stream-cut-then-whole": root(frames(halfway)).
			try("root", 1, 2, say("Half of the answer was lost, this is all of it.").streamed(4)),
	}
}

func streamScripts() map[string]script {
	build := func(mode func(reply) reply) script {
		return root(
			mode(use(task("Read a.txt and b.txt.")).saying("I delegate this.")),
			mode(say("alpha and beta: naïve café, 漢字, 🌲.")),
		).agent("root/1.1",
			mode(use(read("a.txt"), read("b.txt"))),
			mode(say("a.txt holds alpha and b.txt holds beta.")),
		)
	}
	plain := func(r reply) reply { return r }
	streamed := func(r reply) reply { return r.streamed(5) }
	odd := func(name string) string {
		return fmt.Sprintf("data:{\"id\":\"c\",\"model\":\"scripted-1\",\"choices\":[{\"index\":0,\"delta\":%s}]}\r\n\r\n", name)
	}
	return map[string]script{
		"stream-off": build(plain),
		"stream-on":  build(streamed),
		"stream-odd-frames": root(
			frames(": waiting\r\n\r\n", odd(`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"read_file","arguments":"{\"path\":"}}]}`),
				odd(`{"tool_calls":[{"function":{"arguments":"\"a.txt\"}"}}]}`), odd(`{"tool_calls":[{"id":"b","function":{"name":"read_file","arguments":"{\"path\":\"b.txt\"}"}}]}`),
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\ndata: \"finish_reason\":\"tool_calls\"}]}\n\n", "data: [DONE]\r\r"),
			frames("\ufeff"+odd(`{"role":"assistant","content":"Both "}`), odd(`{"content":"were read."}`), "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n", "data: [DONE]\n\n"),
		),
	}
}
