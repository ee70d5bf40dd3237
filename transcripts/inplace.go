package transcripts

import (
	"bytes"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// needText takes a string that may be long. In a lean reading it is not copied.
func (l *line) needText(name string) string {
	value := l.need(name)
	if !l.lean {
		return l.asString(name, value)
	}
	if !l.of(name, value, '"') {
		return ""
	}
	return inPlace(value)
}

// inPlace returns the text of a valid JSON string in the memory of the string
// itself, which it overwrites: a text is never longer than its JSON, so what is
// written never overtakes what is read. Nobody may write there afterwards, since
// the text is a Go string.
func inPlace(value jsontext.Value) string {
	if len(value) <= 2 {
		return ""
	}
	text := []byte(value[1 : len(value)-1])
	if bytes.IndexByte(text, '\\') >= 0 {
		var err error
		if text, err = jsontext.AppendUnquote(value[:0], value); err != nil { // cannot be: the scanner has seen it
			return ""
		}
	}
	return unsafe.String(unsafe.SliceData(text), len(text))
}
