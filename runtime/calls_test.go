package runtime

import (
	"testing"

	"gotest.tools/v3/assert"
)

// shortCall is a call without what a test of slots does not look at.
type shortCall struct{ ID, Name, Arguments string }

func shortCalls(a *Answer) []shortCall {
	var out []shortCall
	for _, c := range a.Message.Calls {
		out = append(out, shortCall{c.ID, c.Name, c.Arguments})
	}
	return out
}

func TestFragmentsFindTheirCall(t *testing.T) {
	cases := []struct {
		name   string
		chunks []string // elements of tool_calls, one chunk each
		want   []shortCall
	}{
		{"case 1.01: no index, both calls in one chunk", []string{
			`{"id":"a","function":{"name":"read_file","arguments":"{\"path\":\"x\"}"}},{"id":"b","function":{"name":"glob","arguments":"{\"pattern\":\"*\"}"}}`,
		}, []shortCall{{"a", "read_file", `{"path":"x"}`}, {"b", "glob", `{"pattern":"*"}`}}},
		{"case 1.01: an index after none keeps its own slot", []string{
			`{"id":"a","function":{"name":"t1","arguments":"{}"}}`,
			`{"index":0,"id":"b","function":{"name":"t2","arguments":"{\"k\":"}}`,
			`{"index":0,"function":{"arguments":"1}"}}`,
		}, []shortCall{{"a", "t1", "{}"}, {"b", "t2", `{"k":1}`}}},
		{"case 1.01: null is no index", []string{
			`{"index":null,"id":"a","function":{"name":"t1","arguments":"{}"}}`,
			`{"index":null,"id":"b","function":{"name":"t2","arguments":"{}"}}`,
		}, []shortCall{{"a", "t1", "{}"}, {"b", "t2", "{}"}}},
		{"an index that comes only with the second fragment", []string{
			`{"id":"a","function":{"name":"t","arguments":"{"}}`,
			`{"index":0,"function":{"arguments":"}"}}`,
		}, []shortCall{{"a", "t", "{}"}}},
		{"case 1.02: no index, one call a chunk", []string{
			`{"id":"a","function":{"name":"t1","arguments":"{}"}}`,
			`{"id":"b","function":{"name":"t2","arguments":"{}"}}`,
		}, []shortCall{{"a", "t1", "{}"}, {"b", "t2", "{}"}}},
		{"case 1.02: no index and no id: a new name is a new call", []string{
			`{"function":{"name":"t1","arguments":"{}"}}`,
			`{"function":{"name":"t2","arguments":"{}"}}`,
			`{"function":{"name":"t2","arguments":"{}"}}`,
		}, []shortCall{{"", "t1", "{}"}, {"", "t2", "{}"}, {"", "t2", "{}"}}},
		{"case 1.04: id repeated in each chunk", []string{
			`{"index":0,"id":"c1","function":{"name":"t","arguments":""}}`,
			`{"index":0,"id":"c1","function":{"name":"t","arguments":"{\"a\""}}`,
			`{"index":0,"id":"c1","function":{"name":"t","arguments":":1"}}`,
			`{"index":0,"id":"c1","function":{"name":"t","arguments":"}"}}`,
		}, []shortCall{{"c1", "t", `{"a":1}`}}},
		{"case 1.04: id and name repeated, no index", []string{
			`{"id":"c1","function":{"name":"t","arguments":"{\"a\""}}`,
			`{"id":"c1","function":{"name":"t","arguments":":1}"}}`,
			`{"id":"c1","function":{"name":"t","arguments":""}}`,
		}, []shortCall{{"c1", "t", `{"a":1}`}}},
		{"case 1.05: name repeated", []string{
			`{"index":0,"id":"a","function":{"name":"read_file","arguments":""}}`,
			`{"index":0,"function":{"name":"read_file","arguments":"{"}}`,
			`{"index":0,"function":{"name":"read_file","arguments":"}"}}`,
		}, []shortCall{{"a", "read_file", "{}"}}},
		{"case 1.05: name in pieces, then whole once more", []string{
			`{"index":0,"id":"a","function":{"name":"read_"}}`,
			`{"index":0,"function":{"name":"file"}}`,
			`{"index":0,"function":{"name":"read_file","arguments":"{}"}}`,
		}, []shortCall{{"a", "read_file", "{}"}}},
		{"case 1.05: name in pieces", []string{
			`{"index":0,"id":"a","function":{"name":"read_"}}`,
			`{"index":0,"function":{"name":"fi"}}`,
			`{"index":0,"function":{"name":"le","arguments":"{"}}`,
			`{"index":0,"function":{"arguments":"}"}}`,
		}, []shortCall{{"a", "read_file", "{}"}}},
		{"case 1.05: name that grows", []string{
			`{"index":0,"id":"a","function":{"name":"read_"}}`,
			`{"index":0,"function":{"name":"read_file","arguments":"{}"}}`,
		}, []shortCall{{"a", "read_file", "{}"}}},
		{"case 1.05: name empty after the first fragment", []string{
			`{"index":0,"id":"a","function":{"name":"t","arguments":""}}`,
			`{"index":0,"id":"","function":{"name":"","arguments":"{}"}}`,
		}, []shortCall{{"a", "t", "{}"}}},
		{"case 1.06: the id changes", []string{
			`{"index":0,"id":"x1","function":{"name":"t","arguments":""}}`,
			`{"index":0,"id":"y9","function":{"arguments":"{\"a\":1}"}}`,
		}, []shortCall{{"y9", "t", `{"a":1}`}}},
		{"case 1.06: the id changes with every fragment", []string{
			`{"index":0,"id":"x1","function":{"name":"t","arguments":""}}`,
			`{"index":0,"id":"x2","function":{"arguments":"{\"a\""}}`,
			`{"index":0,"id":"x3","function":{"arguments":":1}"}}`,
			`{"index":0,"id":"x4","function":{"arguments":""}}`,
		}, []shortCall{{"x3", "t", `{"a":1}`}}},
		{"case 1.07: all calls have index 0", []string{
			`{"index":0,"id":"a","function":{"name":"t1","arguments":"{}"}}`,
			`{"index":0,"id":"b","function":{"name":"t2","arguments":"{\"k\":2}"}}`,
		}, []shortCall{{"a", "t1", "{}"}, {"b", "t2", `{"k":2}`}}},
		{"case 1.07: the same tool twice", []string{
			`{"index":0,"id":"a","function":{"name":"t","arguments":"{\"k\":1}"}}`,
			`{"index":0,"id":"b","function":{"name":"t","arguments":"{\"k\":"}}`,
			`{"index":0,"id":"b","function":{"arguments":"2}"}}`,
		}, []shortCall{{"a", "t", `{"k":1}`}, {"b", "t", `{"k":2}`}}},
		{"case 1.07: the name comes after the new id", []string{
			`{"index":0,"id":"a","function":{"name":"t1","arguments":"{}"}}`,
			`{"index":0,"id":"b"}`,
			`{"index":0,"function":{"name":"t2","arguments":"{\"k\":2}"}}`,
		}, []shortCall{{"a", "t1", "{}"}, {"b", "t2", `{"k":2}`}}},
		{"case 1.08: fragments without id go to the call begun last", []string{
			`{"id":"a","function":{"name":"t1","arguments":""}}`, `{"function":{"arguments":"{\"a\""}}`, `{"function":{"arguments":":1}"}}`,
			`{"id":"b","function":{"name":"t2","arguments":""}}`, `{"function":{"arguments":"{\"b\""}}`, `{"function":{"arguments":":2}"}}`,
		}, []shortCall{{"a", "t1", `{"a":1}`}, {"b", "t2", `{"b":2}`}}},
		{"case 1.01: interleaved by index", []string{
			`{"index":0,"id":"a","function":{"name":"t1","arguments":"{\"a\""}}`,
			`{"index":1,"id":"b","function":{"name":"t2","arguments":"{\"b\""}}`,
			`{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":":2}"}}`,
		}, []shortCall{{"a", "t1", `{"a":1}`}, {"b", "t2", `{"b":2}`}}},
		{"case 1.08: interleaved by id, no index", []string{
			`{"id":"a","function":{"name":"t1","arguments":"{\"a\""}}`,
			`{"id":"b","function":{"name":"t2","arguments":"{\"b\""}}`,
			`{"id":"a","function":{"arguments":":1}"}}`, `{"id":"b","function":{"arguments":":2}"}}`,
		}, []shortCall{{"a", "t1", `{"a":1}`}, {"b", "t2", `{"b":2}`}}},
		{"indexes that begin at 1 and come backwards", []string{
			`{"index":2,"id":"b","function":{"name":"t2","arguments":"{}"}}`,
			`{"index":1,"id":"a","function":{"name":"t1","arguments":"{}"}}`,
		}, []shortCall{{"a", "t1", "{}"}, {"b", "t2", "{}"}}},
		{"case 1.10: arguments before the name, no index", []string{
			`{"id":"a","function":{"arguments":"{\"x\""}}`, `{"id":"a","function":{"arguments":":1}"}}`, `{"id":"a","function":{"name":"t"}}`,
		}, []shortCall{{"a", "t", `{"x":1}`}}},
		{"case 1.10: arguments before id and name", []string{
			`{"function":{"arguments":"{\"x\""}}`, `{"id":"a","function":{"name":"t","arguments":":1}"}}`,
		}, []shortCall{{"a", "t", `{"x":1}`}}},
		{"case 1.10: arguments before the name, with index", []string{
			`{"index":0,"function":{"arguments":"{\"x\""}}`, `{"index":1,"function":{"arguments":"{}"}}`,
			`{"index":0,"id":"a","function":{"name":"t","arguments":":1}"}}`, `{"index":1,"id":"b","function":{"name":"u"}}`,
		}, []shortCall{{"a", "t", `{"x":1}`}, {"b", "u", "{}"}}},
		{"case 1.22: blank arguments mean {}", []string{
			`{"index":0,"id":"a","function":{"name":"t","arguments":""}}`, `{"index":1,"id":"b","function":{"name":"t","arguments":"  "}}`,
			`{"index":2,"id":"c","function":{"name":"t"}}`, `{"index":3,"id":"d","function":{"name":"t","arguments":null}}`,
			`{"index":4,"id":"e","function":{"name":"t","arguments":"null"}}`,
		}, []shortCall{{"a", "t", "{}"}, {"b", "t", "{}"}, {"c", "t", "{}"}, {"d", "t", "{}"}, {"e", "t", "{}"}}},
		{"case 1.23: arguments as an object, repeated names kept for the one decoder", []string{
			`{"index":0,"id":"a","function":{"name":"t","arguments":{"path": "a", "path": "b"}}}`,
			`{"index":1,"id":"b","function":{"name":"t","arguments":[1]}}`,
		}, []shortCall{{"a", "t", `{"path":"a","path":"b"}`}, {"b", "t", "[1]"}}},
		{"case 3.05: one id, two calls", []string{
			`{"id":"d","function":{"name":"read","arguments":"{\"p\":1}"}}`, `{"id":"d","function":{"name":"read","arguments":"{\"p\":2}"}}`,
		}, []shortCall{{"d", "read", `{"p":1}`}, {"d", "read", `{"p":2}`}}},
		{"case 3.05: one id under two indexes", []string{
			`{"index":0,"id":"d","function":{"name":"read","arguments":"{}"}}`, `{"index":1,"id":"d","function":{"name":"read","arguments":"{}"}}`,
		}, []shortCall{{"d", "read", "{}"}, {"d", "read", "{}"}}},
		{"case 1.01: an index before none", []string{
			`{"index":0,"id":"a","function":{"name":"t1","arguments":"{\"a\":"}}`, `{"function":{"arguments":"1}"}}`,
			`{"id":"b","function":{"name":"t2","arguments":"{}"}}`,
		}, []shortCall{{"a", "t1", `{"a":1}`}, {"b", "t2", "{}"}}},
		{"case 1.01: indexes written as 0.0 and as text", []string{
			`{"index":0.0,"id":"a","function":{"name":"t1","arguments":"{\"a\":"}}`, `{"index":"1","id":"b","function":{"name":"t2","arguments":"{\"b\":"}}`,
			`{"index":0,"function":{"arguments":"1}"}}`, `{"index":1.0,"function":{"arguments":"2}"}}`,
		}, []shortCall{{"a", "t1", `{"a":1}`}, {"b", "t2", `{"b":2}`}}},
		{"case 1.02: ids that are numbers", []string{
			`{"id":1,"function":{"name":"t","arguments":"{\"a\":"}}`, `{"id":2,"function":{"name":"t","arguments":"{\"b\":"}}`,
			`{"id":1,"function":{"arguments":"1}"}}`, `{"id":2,"function":{"arguments":"2}"}}`,
		}, []shortCall{{"1", "t", `{"a":1}`}, {"2", "t", `{"b":2}`}}},
		{"case 1.04: id and name repeated, name in pieces, no index", []string{
			`{"id":"a","function":{"name":"read_","arguments":""}}`, `{"id":"a","function":{"name":"file","arguments":""}}`,
			`{"id":"a","function":{"name":"read_file","arguments":"{}"}}`,
		}, []shortCall{{"a", "read_file", "{}"}}},
		{"case 1.05: name repeated behind the arguments", []string{
			`{"id":"a","function":{"name":"t","arguments":"{}"}}`, `{"id":"a","function":{"name":"t","arguments":""}}`, `{"function":{"name":"t"}}`,
		}, []shortCall{{"a", "t", "{}"}}},
		{"case 1.06: the id becomes null", []string{
			`{"index":0,"id":"x","function":{"name":"t","arguments":"{\"a\""}}`, `{"index":0,"id":null,"function":{"name":null,"arguments":":1}"}}`,
		}, []shortCall{{"x", "t", `{"a":1}`}}},
		{"case 1.07: all calls have index 0 and come by turns", []string{
			`{"index":0,"id":"a","function":{"name":"t1","arguments":"{\"a\":"}}`, `{"index":0,"id":"b","function":{"name":"t2","arguments":"{\"b\":"}}`,
			`{"index":0,"id":"a","function":{"arguments":"[1"}}`, `{"index":0,"function":{"arguments":"]}"}}`, `{"index":0,"id":"b","function":{"arguments":"2}"}}`,
		}, []shortCall{{"a", "t1", `{"a":[1]}`}, {"b", "t2", `{"b":2}`}}},
		{"case 1.07: all calls have index 0 and the names come last", []string{
			`{"index":0,"id":"a","function":{"arguments":"{}"}}`, `{"index":0,"id":"b","function":{"arguments":"{}"}}`,
			`{"index":0,"id":"a","function":{"name":"t1"}}`, `{"index":0,"id":"b","function":{"name":"t2"}}`,
		}, []shortCall{{"a", "t1", "{}"}, {"b", "t2", "{}"}}},
		{"case 1.07: three in one chunk, then an index of its own", []string{
			`{"index":0,"id":"a","function":{"name":"t","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"t","arguments":"{}"}}`,
			`{"index":1,"id":"c","function":{"name":"t","arguments":"{}"}}`,
		}, []shortCall{{"a", "t", "{}"}, {"b", "t", "{}"}, {"c", "t", "{}"}}},
		{"case 1.08: the second call is of the same tool and has no id", []string{
			`{"function":{"name":"t","arguments":""}}`, `{"function":{"arguments":"{\"a\":1}"}}`,
			`{"function":{"name":"t","arguments":""}}`, `{"function":{"arguments":"{\"a\""}}`, `{"function":{"arguments":":2}"}}`,
		}, []shortCall{{"", "t", `{"a":1}`}, {"", "t", `{"a":2}`}}},
		{"case 3.05: one id and index, two calls in pieces", []string{
			`{"index":0,"id":"d","function":{"name":"t","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"a\":1}"}}`,
			`{"index":0,"id":"d","function":{"name":"t","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"a\":2}"}}`,
		}, []shortCall{{"d", "t", `{"a":1}`}, {"d", "t", `{"a":2}`}}},
		{"case 3.05: two calls without an id", []string{
			`{"id":"","function":{"name":"t","arguments":"{}"}},{"id":"","function":{"name":"t","arguments":"{}"}}`,
		}, []shortCall{{"", "t", "{}"}, {"", "t", "{}"}}},
		{"the whole call once more is a repeat", []string{
			`{"index":0,"id":"d","function":{"name":"read","arguments":"{\"p\""}}`, `{"index":0,"function":{"arguments":":1}"}}`,
			`{"index":0,"id":"d","function":{"name":"read","arguments":"{\"p\":1}"}}`,
		}, []shortCall{{"d", "read", `{"p":1}`}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for _, elements := range c.chunks {
				chunks = append(chunks, toolDelta(elements))
			}
			a := decodeStream(t, sse(append(chunks, finish("tool_calls"), "[DONE]")...))
			assert.DeepEqual(t, shortCalls(a), c.want)
		})
	}
}

func TestCallWithoutNameIsAnError(t *testing.T) { // case 1.10
	for _, r := range []*Response{
		{Status: 200, Stream: true, End: EndDone, Body: []byte(sse(delta(`{"content":"so"}`), toolDelta(`{"id":"a","function":{"arguments":"{}"}}`), finish("tool_calls"), "[DONE]"))},
		{Status: 200, Body: []byte(`{"choices":[{"message":{"content":"so","tool_calls":[{"id":"a","function":{"name":"","arguments":"{}"}}]}}]}`)},
	} {
		assert.DeepEqual(t, upstreamError(t, r), UpstreamError{Status: 200, Kind: KindMalformed, Text: "tool call 1 has no name", Partial: "so"})
	}
}
