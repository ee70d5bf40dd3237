package record

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// A session recorded in one folder replays in another: paths are placeholders
// on disk, also where a frame's border cut one, and paths of this machine for
// the runner.
func TestPathsAreFoldedAndExpanded(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		u := newUpstream(t, func(w http.ResponseWriter, body string) {
			const call = `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0`
			last := body[strings.LastIndex(body, `"role":`):]
			switch {
			case !strings.Contains(last, "here is "):
				saying(w, "It is /old/ws/file, not /old/ws2.")
			case streamed:
				sse(w, "data: "+call+`,"id":"c1","function":{"name":"note","arguments":"{\"text\":\"/old/w"}}]}}]}`+"\n\n",
					"data: "+call+`,"function":{"arguments":"s/file\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\n", "data: [DONE]\n\n")
			default:
				saying(w, "", `c1 note {"text":"/old/ws/file"}`)
			}
		})
		rec := newRecording(t, runtime.NewFolder([]string{"/old/ws"}, nil, nil))
		s := session{model: rec.live(u), observe: rec.Observe, prompt: "here is /old/ws", stream: streamed}
		_, err := s.run(t)
		assert.NilError(t, err)
		f, text := rec.finish(t)
		assert.Equal(t, strings.Count(text, "/old/ws"), 1, text) // /old/ws2 is another path
		assert.Equal(t, f.Exchanges[0].Recut, streamed)

		noted := ""
		report, again, err := replay(t, f, ReplayOptions{Fold: runtime.NewFolder([]string{"/new/place"}, nil, nil)}, session{
			prompt: "here is /new/place", stream: streamed, note: func(text string) string { noted = text; return "noted " + text },
		})
		assert.NilError(t, err)
		assert.Equal(t, noted, "/new/place/file")
		assert.Equal(t, again.Final, "It is /new/place/file, not /old/ws2.")
		assert.DeepEqual(t, report, &Report{
			Grade: GradeVolatile, Exchanges: 2, Used: 2, VerdictsLive: 1, VerdictsTotal: 1,
			VolatileUses: map[string]int{usePlaceholders: 4},
		})
	}
}

// TestSecretsAreReplacedOnBothSides is case 6.02: a session recorded with one token replays with another; the token
// is nowhere on disk.
func TestSecretsAreReplacedOnBothSides(t *testing.T) {
	const old, other = "token-of-the-recording-1", "another-token-altogether"
	u := newUpstream(t, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, "noted") {
			saying(w, "The token is "+old)
			return
		}
		saying(w, "", `c1 note {"text":"`+old+`"}`)
	})
	rec := newRecording(t, nil, "SERVICE_TOKEN="+old)
	ran := 0
	note := func(string) string { ran++; return "noted " + old }
	_, err := session{model: rec.live(u), observe: rec.Observe, prompt: "use " + old, note: note}.run(t)
	assert.NilError(t, err)
	f, text := rec.finish(t)
	assert.Assert(t, !strings.Contains(text, old))
	assert.Equal(t, ran, 1)

	report, again, err := replay(t, f, ReplayOptions{Redact: NewRedactor([]string{"SERVICE_TOKEN=" + other})}, session{
		prompt: "use " + other, note: note,
	})
	assert.NilError(t, err)
	assert.Equal(t, ran, 1) // a live tool, but nobody has the secret that it was given
	assert.Equal(t, again.Final, "The token is {{secret:env:1}}")
	assert.DeepEqual(t, report, &Report{
		Grade: GradeVolatile, Exchanges: 2, Used: 2, VerdictsTotal: 1, SecretTaped: 1,
		VolatileUses: map[string]int{usePlaceholders: 1},
	})
}

// TestVolatileRules is case 6.07: dates, random ids and the order of arguments hit under the rules
// that are declared, and only under those.
func TestVolatileRules(t *testing.T) {
	message := func(raw string) runtime.Message {
		m, err := runtime.ParseMessage([]byte(raw))
		assert.NilError(t, err)
		return m
	}
	list := func(system, id1, id2, arguments, result string) runtime.View {
		var h runtime.History
		call := func(id string) string {
			return `{"id":"` + id + `","type":"function","function":{"name":"t","arguments":` + string(quoted(arguments)) + `}}`
		}
		h.Append(
			runtime.SystemMessage(system),
			message(`{"role":"assistant","content":null,"tool_calls":[`+call(id1)+`,`+call(id2)+`]}`),
			runtime.ToolMessage(id1, result),
			runtime.ToolMessage(id2, "two"),
		)
		return h.View()
	}
	base := list("Today is 2026-01-02.", "call_a", "call_b", `{"x":1,"y":[2]}`, "built in 1.5s")
	for _, c := range []struct {
		name  string
		sent  runtime.View
		rules []string
		grade Grade
		uses  map[string]int
	}{
		{"the same", base, nil, Exact, map[string]int{}},
		{"a date without a rule", list("Today is 2027-03-04.", "call_a", "call_b", `{"x":1,"y":[2]}`, "built in 1.5s"), nil, GradePrompt, map[string]int{}},
		{"a date with its rule", list("Today is 2027-03-04.", "call_a", "call_b", `{"x":1,"y":[2]}`, "built in 1.5s"), []string{"dates"}, GradeVolatile, map[string]int{"dates": 1}},
		{"a duration with a regexp", list("Today is 2026-01-02.", "call_a", "call_b", `{"x":1,"y":[2]}`, "built in 9.25s"), []string{`/[0-9.]+s/`}, GradeVolatile, map[string]int{"rule 1": 1}},
		{"another text in spite of rules", list("Today is 2026-01-02.", "call_a", "call_b", `{"x":1,"y":[2]}`, "failed in 1.5s"), []string{"dates", "durations"}, GradeHistory, map[string]int{}},
		{"random ids", list("Today is 2026-01-02.", "call_7", "call_8", `{"x":1,"y":[2]}`, "built in 1.5s"), nil, GradeVolatile, map[string]int{useIDs: 4}},
		{"two ids become one", list("Today is 2026-01-02.", "call_7", "call_7", `{"x":1,"y":[2]}`, "built in 1.5s"), nil, GradeHistory, nil},
		{"arguments in another order", list("Today is 2026-01-02.", "call_a", "call_b", `{ "y":[2],"x":1.0 }`, "built in 1.5s"), nil, GradeVolatile, map[string]int{useJSONForm: 2}},
		{"other arguments", list("Today is 2026-01-02.", "call_a", "call_b", `{"y":[3],"x":1}`, "built in 1.5s"), nil, GradeHistory, map[string]int{}},
		{"arguments that are no JSON", list("Today is 2026-01-02.", "call_a", "call_b", `{"y":`, "built in 1.5s"), nil, GradeHistory, map[string]int{}},
	} {
		rules, err := ParseVolatile(c.rules)
		assert.NilError(t, err)
		params := []runtime.Param{{Name: "stream", Value: jsontext.Value("false")}}
		f := &transcripts.File{Exchanges: []*transcripts.Exchange{{
			Agent: "root", Turn: 1, Try: 1, Model: "m", Messages: base, Params: params, Status: 200, Response: jsontext.Value(completion("hi")),
		}}}
		r, err := NewReplayer(f, ReplayOptions{Volatile: rules})
		assert.NilError(t, err)
		_, err = r.Complete(t.Context(), &runtime.Request{Place: runtime.Place{Agent: "root", Turn: 1, Try: 1}, Model: "m", Messages: c.sent})
		assert.NilError(t, err)
		report := r.Report()
		assert.Equal(t, report.Grade, c.grade, c.name)
		if c.uses != nil {
			assert.DeepEqual(t, report.VolatileUses, c.uses)
		}
	}
}

// Members in another order, a parameter's place and a stream that is off are
// no differences, but no exact matches either.
func TestJSONForm(t *testing.T) {
	view := func(raw string) runtime.View {
		var h runtime.History
		m, err := runtime.ParseMessage([]byte(raw))
		assert.NilError(t, err)
		h.Append(m)
		return h.View()
	}
	recorded := &transcripts.Exchange{
		Agent: "root", Turn: 1, Try: 1, Model: "m", Status: 200, Response: jsontext.Value(completion("hi")),
		Messages: view(`{"role":"user","content":"é","n":1}`), Tools: jsontext.Value(`[{"a":1,"b":2}]`),
		Params: []runtime.Param{{Name: "a", Value: jsontext.Value("1")}, {Name: "b", Value: jsontext.Value("2")}},
	}
	r, err := NewReplayer(&transcripts.File{Exchanges: []*transcripts.Exchange{recorded}}, ReplayOptions{})
	assert.NilError(t, err)
	_, err = r.Complete(t.Context(), &runtime.Request{
		Place: runtime.Place{Agent: "root", Turn: 1, Try: 1}, Model: "m",
		Messages: view(`{"n":1.0,"content":"\u00e9","role":"user"}`), Tools: jsontext.Value(`[{"b":2, "a":1}]`),
		Params: []runtime.Param{{Name: "b", Value: jsontext.Value("2")}, {Name: "a", Value: jsontext.Value("1")}},
	})
	assert.NilError(t, err)
	assert.Equal(t, r.Report().Grade, GradeVolatile)
	assert.DeepEqual(t, r.Report().VolatileUses, map[string]int{useJSONForm: 3})
}

// Two secrets that change places are seen although both have numbers of their
// own.
func TestSecretsCompareOneToOne(t *testing.T) {
	d := &diff{secrets: &pairs{}, ids: &pairs{}, uses: map[string]int{}}
	assert.Assert(t, d.plain("{{secret:env:1}} {{secret:url:2}}", "{{secret:env:5}} {{secret:url:6}}"))
	assert.Assert(t, d.plain("again {{secret:env:1}}", "again {{secret:env:5}}"))
	assert.Assert(t, !d.plain("{{secret:env:3}}", "{{secret:env:5}}"))
	assert.Assert(t, !d.plain("{{secret:env:1}}", "{{secret:url:5}}"))
	assert.Assert(t, !d.plain("{{secret:env:1}}", "no secret"))
	assert.DeepEqual(t, d.uses, map[string]int{usePlaceholders: 2})
}

// A result that names the recorded call by its old id, where the call itself
// has a new one, is a broken pair although its bytes are those recorded.
func TestEqualBytesDoNotHideABrokenPair(t *testing.T) {
	list := func(id, result string) runtime.View {
		var h runtime.History
		m, err := runtime.ParseMessage([]byte(`{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"t","arguments":"{}"}}]}`))
		assert.NilError(t, err)
		h.Append(m, runtime.ToolMessage("old", result))
		return h.View()
	}
	for recorded, sent := range map[string]string{"plain": "plain", "in {{workspace}}": "in /ws"} {
		c := &comparer{fold: runtime.NewFolder([]string{"/ws"}, nil, nil), redact: NewRedactor(nil), secrets: &pairs{}}
		e := &transcripts.Exchange{Model: "m", Messages: list("old", recorded), Params: sentParams(&runtime.Request{})}
		out := c.compare(e, askedBy(&runtime.Request{Model: "m", Messages: list("new", sent)}))
		assert.Equal(t, len(out.history), 1, recorded)
		assert.Equal(t, out.history[0].pointer, "/messages/1/tool_call_id")
	}
}
