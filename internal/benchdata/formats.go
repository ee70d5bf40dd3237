package benchdata

import (
	"bytes"
	"fmt"
	"strings"
)

// Formats makes sessions of about so many bytes in the forms in which other
// programs keep them, by the name of the importer: an agent that reads file
// after file, tool results of 4 KB.
var Formats = map[string]func(size int) []byte{
	"claude-code":  ClaudeCode,
	"openai":       func(size int) []byte { return wrapped(size, `[`, `]`, openAIPair) },
	"openai-jsonl": openAILines,
	"mini-swe-agent": func(size int) []byte {
		return wrapped(size, `{"trajectory_format":"mini-swe-agent-1.1","info":{},"messages":[`, `]}`, miniPair)
	},
	"swe-agent": func(size int) []byte { return wrapped(size, `{"trajectory":[],"history":[`, `]}`, swePair) },
	"tau-bench": tauBench,
	"pi":        pi,
	"codex":     codex,
}

const resultSize = 4096

func result(n int) string { return quote(text(resultSize, fmt.Sprintf("step %d", n))) }

const task = `{"role":"user","content":"Look at all the files and say what is wrong."}`

const last = `{"role":"assistant","content":"Nothing is wrong."}`

func openAICall(n int, more string) string {
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"file%d.go\"}"}}]%s}`, n, n, more)
}

func openAIPair(n int) string {
	return openAICall(n, "") + "," + fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":%s}`, n, result(n))
}

func miniPair(n int) string {
	return openAICall(n, fmt.Sprintf(`,"extra":{"timestamp":%d.5,"response":{"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":%s}],"usage":{"prompt_tokens":10,"completion_tokens":2}}}`, 1_700_000_000+n, openAICall(n, ""))) +
		"," + fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":%s,"extra":{"timestamp":%d.7}}`, n, result(n), 1_700_000_000+n)
}

func swePair(n int) string {
	return openAICall(n, `,"agent":"main","thought":"","action":"read","message_type":"action"`) +
		"," + fmt.Sprintf(`{"role":"tool","agent":"main","message_type":"observation","tool_call_ids":["call_%d"],"content":%s}`, n, result(n))
}

// wrapped is one list of messages.
func wrapped(size int, before, after string, pair func(n int) string) []byte {
	var out bytes.Buffer
	out.WriteString(before + task)
	for n := 1; out.Len() < size; n++ {
		out.WriteString("," + pair(n))
	}
	out.WriteString("," + last + after + "\n")
	return out.Bytes()
}

// openAILines is a list of messages a line, of 1 MB each.
func openAILines(size int) []byte {
	var out bytes.Buffer
	for out.Len() < size {
		out.Write(wrapped(min(size, 1<<20), `{"messages":[`, `]}`, openAIPair))
	}
	return out.Bytes()
}

func tauBench(size int) []byte {
	var out bytes.Buffer
	out.WriteString("[")
	for n := 0; out.Len() < size; n++ {
		if n > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, `{"task_id":%d,"reward":1.0,"info":{},"trial":0,"traj":%s}`, n, bytes.TrimSpace(wrapped(min(size, 1<<20), `[`, `]`, openAIPair)))
	}
	out.WriteString("]\n")
	return out.Bytes()
}

// pi has small messages, as most of a session of pi's are.
func pi(size int) []byte {
	var out bytes.Buffer
	n := 0
	out.WriteString(`{"type":"session","version":3,"id":"bench","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/src"}` + "\n")
	line := func(message string) {
		n++
		parent := "null"
		if n > 1 {
			parent = fmt.Sprintf(`"e%d"`, n-1)
		}
		fmt.Fprintf(&out, `{"type":"message","id":"e%d","parentId":%s,"timestamp":%s,"message":%s}`+"\n", n, parent, moment(n), message)
	}
	line(`{"role":"user","content":"Look at all the files and say what is wrong."}`)
	for out.Len() < size {
		line(fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"call_%d","name":"read","arguments":{"path":"file%d.go"}}],"model":"m","usage":{"input":10,"output":2,"cacheRead":0,"cacheWrite":0},"stopReason":"toolUse"}`, n, n))
		line(fmt.Sprintf(`{"role":"toolResult","toolCallId":"call_%d","toolName":"read","content":[{"type":"text","text":%s}],"isError":false}`, n-1, quote(strings.Repeat("a line of step "+fmt.Sprint(n)+"\n", 16))))
	}
	line(`{"role":"assistant","content":[{"type":"text","text":"Nothing is wrong."}],"model":"m","stopReason":"stop"}`)
	return out.Bytes()
}

func moment(n int) string {
	return fmt.Sprintf(`"2026-01-%02dT%02d:%02d:%02d.000Z"`, 1+n/86400%28, n/3600%24, n/60%60, n%60)
}

func codex(size int) []byte {
	var out bytes.Buffer
	n := 0
	line := func(kind, payload string) {
		n++
		fmt.Fprintf(&out, `{"timestamp":%s,"type":%q,"payload":%s}`+"\n", moment(n), kind, payload)
	}
	line("session_meta", `{"id":"bench","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/src","base_instructions":{"text":"You read files."}}`)
	line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"Look at all the files and say what is wrong."}]}`)
	for out.Len() < size {
		line("response_item", fmt.Sprintf(`{"type":"function_call","name":"read_file","arguments":"{\"path\":\"file%d.go\"}","call_id":"call_%d"}`, n, n))
		line("event_msg", `{"type":"token_count","info":{"last_token_usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":2}}}`)
		line("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":%s}`, n-2, result(n)))
	}
	line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Nothing is wrong."}]}`)
	return out.Bytes()
}
