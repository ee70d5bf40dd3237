package transcripts

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// draft is a line in the making: an object whose keys are written in the order
// of the calls. Strings without content and absent values are left out by the
// opt methods.
type draft struct {
	text  []byte
	sumAt int // where the sum goes; 0: the line carries none
}

// newDraft begins a line of the given kind.
func newDraft(kind string) *draft {
	d := &draft{text: make([]byte, 0, 512)}
	d.text = append(d.text, `{"kind":"`...)
	d.text = append(append(d.text, kind...), '"')
	return d
}

// key begins a member.
func (d *draft) key(name string) {
	d.text = appendQuote(append(d.text, ','), name)
	d.text = append(d.text, ':')
}

func (d *draft) str(name, value string) {
	d.key(name)
	d.text = appendQuote(d.text, value)
}

func (d *draft) optStr(name, value string) {
	if value != "" {
		d.str(name, value)
	}
}

func (d *draft) count(name string, n int) {
	d.key(name)
	d.text = strconv.AppendInt(d.text, int64(n), 10)
}

func (d *draft) raw(name string, value jsontext.Value) {
	d.key(name)
	d.text = append(d.text, value...)
}

// optStrs writes a list; nil is left out, an empty list is not.
func (d *draft) optStrs(name string, list []string) {
	if list == nil {
		return
	}
	d.key(name)
	d.text = append(d.text, '[')
	for i, text := range list {
		d.comma(i)
		d.text = appendQuote(d.text, text)
	}
	d.text = append(d.text, ']')
}

// optObject writes members as an object, left out when there are none.
func (d *draft) optObject(name string, members []Member) {
	if len(members) == 0 {
		return
	}
	d.key(name)
	d.text = append(d.text, '{')
	for i, m := range members {
		d.comma(i)
		d.text = appendQuote(d.text, m.Name)
		d.text = append(append(d.text, ':'), valueOnLine(m.Value)...)
	}
	d.text = append(d.text, '}')
}

// extra writes the keys this version does not know.
func (d *draft) extra(members []Member) {
	for _, m := range members {
		d.raw(m.Name, valueOnLine(m.Value))
	}
}

func (d *draft) base64(name string, data []byte) {
	d.str(name, base64.StdEncoding.EncodeToString(data))
}

func (d *draft) comma(i int) {
	if i > 0 {
		d.text = append(d.text, ',')
	}
}

// float writes milliseconds to the microsecond.
func (d *draft) float(ms float64) {
	if math.IsNaN(ms) || math.IsInf(ms, 0) {
		ms = 0
	}
	d.text = strconv.AppendFloat(d.text, math.Round(ms*1000)/1000, 'f', -1, 64)
}

// sum marks the place of the sum.
func (d *draft) sum() { d.sumAt = len(d.text) }

// finish closes the line, with its sum if it carries one. numbers, which may
// be nil, renumbers secrets first.
func (d *draft) finish(numbers *secretNumbers) []byte {
	d.text = append(d.text, '}')
	if d.sumAt == 0 {
		return append(numbers.renumber(d.text), '\n')
	}
	head, tail := numbers.renumber(d.text[:d.sumAt]), numbers.renumber(d.text[d.sumAt:])
	return append(joinSum(head, seal(head, tail), tail), '\n')
}

// strict reports whether a value can stand on a line byte for byte: strict
// JSON, no line break, no space around it.
func strict(value jsontext.Value) bool {
	return len(value) > 0 &&
		!bytes.ContainsAny(value, "\r\n") &&
		len(bytes.TrimSpace(value)) == len(value) &&
		value.IsValid()
}

// valueOnLine makes a value fit for a line where its exact bytes do not
// matter: compact, or, of something that is no strict JSON, its text.
func valueOnLine(value jsontext.Value) jsontext.Value {
	if strict(value) {
		return value
	}
	compact := value.Clone()
	if err := compact.Compact(); err == nil && compact.IsValid() {
		return compact
	}
	return appendQuote(nil, string(value))
}

// body writes a response body in the first form that keeps its bytes:
// response, text, base64.
func (d *draft) body(data []byte) {
	switch {
	case strict(data):
		d.raw("response", data)
	case utf8.Valid(data):
		d.str("text", string(data))
	default:
		d.base64("base64", data)
	}
}
