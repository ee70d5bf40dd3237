package record

import (
	"encoding/base64"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
)

// httpLine builds the JSON of an http line, member by member.
type httpLine struct{ out jsontext.Value }

func (l *httpLine) member(name string, value jsontext.Value) {
	sep := byte(',')
	if len(l.out) == 0 {
		sep = '{'
	}
	l.out = append(append(l.out, sep), quoted(name)...)
	l.out = append(append(l.out, ':'), value...)
}

// body adds one of three: a JSON value, a text, or bytes in base64.
func (l *httpLine) body(asJSON, asText, asBytes string, value jsontext.Value, text *string, raw []byte) {
	switch {
	case value != nil:
		l.member(asJSON, value)
	case text != nil:
		l.member(asText, quoted(*text))
	default:
		l.member(asBytes, quoted(base64.StdEncoding.EncodeToString(raw)))
	}
}

func (l *httpLine) end() jsontext.Value { return append(l.out, '}') }

func objectOf(members []transcripts.Member) jsontext.Value {
	l := &httpLine{}
	for _, m := range members {
		l.member(m.Name, m.Value)
	}
	if len(members) == 0 {
		return jsontext.Value("{}")
	}
	return l.end()
}

// quoted writes text as a JSON string.
func quoted(text string) jsontext.Value {
	out, err := jsontext.AppendQuote(nil, text)
	if err != nil { // only bad UTF-8, which AppendQuote has replaced
		return out
	}
	return out
}

func decimal(n int) string { return strconv.Itoa(n) }
