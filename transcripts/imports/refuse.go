package imports

import (
	"bytes"
	"strings"
)

// What a file without a history may be; each is half of an exchange.
const (
	halfAnswer = "it is a model's answer without the request; what was asked is not in it"
	halfStream = "it is a streamed answer without the request; what was asked is not in it"
	halfSWE    = "it is a SWE-agent trajectory that breaks off before its \"history\", in which the messages stand; get the file whole"
	halfChunks = "it is the chunks of a streamed answer without the request; what was asked is not in it"
)

// Half says what a file is that holds only the answer of an exchange, on any of
// the wires, or breaks off before its messages; "" for any other. No history can be made of one.
func Half(data []byte) string {
	data = trim(data)
	if isCutSWEAgent(data) {
		return halfSWE
	}
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
	kind, object := text(of.of("type")), text(of.of("object"))
	switch {
	case of.of("choices").Kind() == '[' && several, strings.HasPrefix(kind, "response."), kind == "message_start":
		return halfChunks
	case of.of("choices").Kind() == '[', kind == "message" && of.of("content").Kind() == '[', object == "response" && of.of("output").Kind() == '[':
		return halfAnswer
	}
	return ""
}
