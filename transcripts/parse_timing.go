package transcripts

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

func (r *reader) readTiming(l *line) {
	if r.file.Timing != nil {
		l.failed("a second timing line")
		return
	}
	t := &Timing{Clock: l.optString("clock")}
	value := l.value("exchanges")
	if l.of("exchanges", value, '[') {
		for _, element := range elements(value) {
			t.Exchanges = append(t.Exchanges, l.exchangeTime(element))
		}
	}
	t.Order = l.optStrings("order")
	t.Extra = l.extra()
	r.file.Timing = t
}

func (l *line) exchangeTime(value jsontext.Value) ExchangeTime {
	if !l.of("exchanges[]", value, '{') {
		return ExchangeTime{}
	}
	sub := &line{file: l.file, number: l.number}
	for _, m := range objectMembers(value) {
		sub.members = append(sub.members, member{Member: m})
	}
	t := ExchangeTime{
		Agent: sub.needAgent("agent"),
		Turn:  sub.needCount("turn", 1),
		Try:   sub.optCount("try"),
		Start: sub.asFloat("start", sub.need("start")),
		First: sub.asFloat("first", sub.value("first")),
		End:   sub.asFloat("end", sub.need("end")),
	}
	blocks := sub.value("blocks")
	if sub.of("blocks", blocks, '[') {
		t.Blocks = []float64{}
		for _, element := range elements(blocks) {
			t.Blocks = append(t.Blocks, sub.asFloat("blocks[]", element))
		}
	}
	t.Extra = sub.extra()
	if l.err == nil {
		l.err = sub.err
	}
	return t
}

func (l *line) asFloat(name string, value jsontext.Value) float64 {
	if !l.of(name, value, '0') {
		return 0
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		l.failed("key %q: %s is too large a number", name, shorten(value))
	}
	return n
}
