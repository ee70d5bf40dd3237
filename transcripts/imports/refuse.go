package imports

import (
	"bytes"
	"strings"
)

// What a file without a history may be; each is half of an exchange.
const (
	halfAnswer = "it is a model's answer without the request; what was asked is not in it"
	halfStream = "it is a streamed answer without the request; what was asked is not in it"
	halfChunks = "it is the chunks of a streamed answer without the request; what was asked is not in it"
)

// Half says what a file is that holds only the answer of an exchange, on any of
// the wires; "" for any other. No history can be made of one.
func Half(data []byte) string {
	data = trim(data)
	for _, line := range lines(data[:min(len(data), 1<<16)]) {
		for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
			if bytes.HasPrefix(line, []byte(field)) {
				return halfStream
			}
		}
		break
	}
	value := data
	several := false
	for number, line := range lines(data) {
		if s := scan(line, number); s.skip() != nil || !s.ended() {
			break
		}
		if several = len(bytes.TrimSpace(data)) > len(bytes.TrimSpace(line)); several {
			value = line
		}
		break
	}
	of := members(value, "choices", "object", "type", "content", "output")
	kind, object := text(of["type"]), text(of["object"])
	switch {
	case of["choices"].Kind() == '[' && several, strings.HasPrefix(kind, "response."), kind == "message_start":
		return halfChunks
	case of["choices"].Kind() == '[', kind == "message" && of["content"].Kind() == '[', object == "response" && of["output"].Kind() == '[':
		return halfAnswer
	}
	return ""
}
