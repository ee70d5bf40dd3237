package jsonspan

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Text returns the text of a JSON string that was read whole, "" of all else. Bytes that are no
// UTF-8 become U+FFFD.
func Text(v jsontext.Value) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	inner := v[1 : len(v)-1]
	if !utf8.Valid(inner) {
		return slowText(v)
	}
	at := bytes.IndexByte(inner, '\\')
	if at < 0 {
		return string(inner)
	}
	var out strings.Builder
	out.Grow(len(inner))
	for at >= 0 && at+1 < len(inner) {
		c := plain[inner[at+1]]
		if c == 0 {
			return slowText(v)
		}
		out.Write(inner[:at])
		out.WriteByte(c)
		inner = inner[at+2:]
		at = bytes.IndexByte(inner, '\\')
	}
	out.Write(inner)
	return out.String()
}

// plain is what stands behind the backslash of an escape of two bytes, and what
// it means.
var plain = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// slowText reads \u and what is no UTF-8, too.
func slowText(v jsontext.Value) string {
	unquoted, _ := jsontext.AppendUnquote(make([]byte, 0, len(v)), v) // an error only tells of U+FFFD put in
	return string(unquoted)
}

// Is reports whether a name, still quoted, is that name.
func Is(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return Text(quoted) == name
	}
	return len(quoted) >= 2 && string(quoted[1:len(quoted)-1]) == name
}
