package transcripts

import (
	"encoding/base64"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// readResponse takes status, headers and the one form of response.
func (l *line) readResponse(x *Exchange) {
	x.Status = l.needCount("status", 0)
	x.Headers = l.optObject("headers")
	for _, h := range x.Headers {
		if !isHeaderValue(h.Value) {
			l.failed("header %q must be a string or an array of strings, not %s", h.Name, shorten(h.Value))
		}
	}
	forms := 0
	for _, key := range []string{"response", "sse", "text", "base64", "error"} {
		if l.has(key) {
			forms++
		}
	}
	if forms != 1 {
		l.failed("one of response, sse, text, base64 and error must be there, not %d of them", forms)
		return
	}
	x.Response = l.value("response")
	x.SSE = l.blocks()
	if l.has("text") {
		text := l.optString("text")
		x.Text = &text
	}
	if l.has("base64") {
		x.Base64 = l.asBytes("base64", l.value("base64"))
	}
	x.Err = l.optString("error")
	if (x.Status == 0) != (x.Err != "") {
		l.failed("status 0 and error go together: status is %d, error is %q", x.Status, x.Err)
	}
	if x.Err != "" && !slices.Contains([]string{"dial", "tls", "timeout"}, x.Err) {
		l.failed("error must be dial, tls or timeout, not %q", x.Err)
	}
	if x.SSE != nil {
		x.StreamEnd = runtime.End(l.needString("end"))
	} else {
		x.StreamEnd = runtime.End(l.optString("end"))
	}
	if x.StreamEnd != "" && !slices.Contains(streamEnds, x.StreamEnd) {
		l.failed("end must be done, eof, reset, timeout or client-closed, not %q", x.StreamEnd)
	}
}

var streamEnds = []runtime.End{
	runtime.EndDone, runtime.EndEOF, runtime.EndReset, runtime.EndTimeout, runtime.EndClientClosed,
}

// isHeaderValue accepts a string or an array of strings.
func isHeaderValue(value jsontext.Value) bool {
	if value.Kind() == '"' {
		return true
	}
	if value.Kind() != '[' {
		return false
	}
	for _, element := range elements(value) {
		if element.Kind() != '"' {
			return false
		}
	}
	return true
}

// blocks takes the blocks of a stream: strings, or {"base64":…} for one that
// is no UTF-8.
func (l *line) blocks() []string {
	value := l.value("sse")
	if !l.of("sse", value, '[') {
		return nil
	}
	blocks := []string{}
	for _, element := range elements(value) {
		switch element.Kind() {
		case '"':
			blocks = append(blocks, unquote(element))
		case '{':
			keys := objectMembers(element)
			if len(keys) != 1 || keys[0].Name != "base64" {
				l.failed(`a block of "sse" must be a string or {"base64":…}, not %s`, shorten(element))
				return nil
			}
			blocks = append(blocks, string(l.asBytes("base64", keys[0].Value)))
		default:
			l.failed(`a block of "sse" must be a string or {"base64":…}, not %s`, shorten(element))
			return nil
		}
	}
	return blocks
}

// asBytes decodes base64; the result is not nil.
func (l *line) asBytes(name string, value jsontext.Value) []byte {
	text := l.asString(name, value)
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		l.failed("key %q is not valid base64: %v", name, err)
	}
	if data == nil {
		data = []byte{}
	}
	return data
}
