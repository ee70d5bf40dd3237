package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// rawStory is a story told in bodies: for wires whose messages the client builds
// itself.
func rawStory(t *testing.T, wire runtime.Wire, told ...[3]string) *story {
	t.Helper()
	s := newStory(wire)
	threads := map[string]*thread{}
	for i, one := range told {
		agent, body, answer := one[0], one[1], one[2]
		if threads[agent] == nil {
			threads[agent] = &thread{}
		}
		parsed, err := parseRequest(threads[agent], wire, []byte(body), func(raw []byte) []byte { return raw })
		assert.NilError(t, err)
		r := parsed.keep(threads[agent])
		e := answerOn(wire, answer)
		e.Line, e.Agent = i+2, runtime.Path(agent)
		e.Model, e.Messages, e.Tools, e.Params = r.model, r.messages, r.tools, r.params
		for _, before := range s.file.Exchanges {
			if before.Agent == e.Agent {
				e.Turn = before.Turn + 1
			}
		}
		s.file.Exchanges = append(s.file.Exchanges, e)
	}
	s.file.End.Exchanges = len(s.file.Exchanges)
	return s
}

func anthropicText(text string) string {
	return fmt.Sprintf(`{"id":"msg","type":"message","role":"assistant","content":[{"type":"text","text":%s}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, quoted(text))
}

const (
	anthropicCalls = `[{"type":"tool_use","id":"toolu_1","name":"task","input":{"prompt":"` + apples + `"}},{"type":"tool_use","id":"toolu_2","name":"task","input":{"prompt":"` + pears + `"}}]`
	anthropicRoot  = `{"model":"m","system":"Be a parent.","messages":[{"role":"user","content":"Ask two children about the harvest."}`
	anthropicChild = `{"model":"m","system":[{"type":"text","text":"Be a child."}],"messages":[{"role":"user","content":[{"type":"text","text":"%s"}]}]}`
	anthropicGiven = `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Red."},{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"Green."}]}]}`
)

func anthropicTree(t *testing.T) *story {
	return rawStory(t, runtime.WireMessages,
		[3]string{"root", anthropicRoot + "]}", `{"id":"msg","type":"message","role":"assistant","content":` + anthropicCalls + `,"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`},
		[3]string{"root/1.1", fmt.Sprintf(anthropicChild, apples), anthropicText("Red.")},
		[3]string{"root/1.2", fmt.Sprintf(anthropicChild, pears), anthropicText("Green.")},
		[3]string{"root", anthropicRoot + `,{"role":"assistant","content":` + anthropicCalls + `}` + anthropicGiven + "]}", anthropicText("Apples now.")},
	)
}

const (
	responsesCall  = `{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"task","arguments":"{\"prompt\":\"%s\"}","status":"completed"}`
	responsesRoot  = `{"model":"m","instructions":"Be a parent.","input":[{"role":"user","content":"Ask two children about the harvest."}`
	responsesChild = `{"model":"m","instructions":"Be a child.","input":"%s"}`
	responsesGiven = `,{"type":"function_call_output","call_id":"call_1","output":"Red."},{"type":"function_call_output","call_id":"call_2","output":"Green."}`
)

func responsesText(text string) string {
	return fmt.Sprintf(`{"id":"resp","object":"response","status":"completed","output":[{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":%s,"annotations":[]}]}]}`, quoted(text))
}

func responsesTree(t *testing.T) *story {
	calls := fmt.Sprintf(responsesCall, 1, 1, apples) + "," + fmt.Sprintf(responsesCall, 2, 2, pears)
	return rawStory(t, runtime.WireResponses,
		[3]string{"root", responsesRoot + "]}", `{"id":"resp_1","object":"response","status":"completed","output":[` + calls + `]}`},
		[3]string{"root/1.1", fmt.Sprintf(responsesChild, apples), responsesText("Red.")},
		[3]string{"root/1.2", fmt.Sprintf(responsesChild, pears), responsesText("Green.")},
		[3]string{"root", responsesRoot + "," + calls + responsesGiven + "]}", responsesText("Apples now.")},
	)
}

// The other wires are answered by their own agents too.
func TestPlaybackOfTheOtherWires(t *testing.T) {
	for _, tree := range []*story{anthropicTree(t), responsesTree(t)} {
		server := serve(t, tree.file, PlaybackOptions{})
		for _, i := range []int{0, 2, 1, 3} {
			e := tree.file.Exchanges[i]
			assert.DeepEqual(t, server.send(t, bodyFrom(e)), answered{200, string(e.Response), false})
		}
		report := server.end(t)
		assert.DeepEqual(t, report.Report, exactReport(4))
		assert.DeepEqual(t, outline(report.Session), outline(tree.file))
		assert.DeepEqual(t, report.Notes, []string(nil))
		redriven, err := Redrive(t.Context(), tree.file, PlaybackOptions{})
		assert.NilError(t, err)
		assert.DeepEqual(t, redriven.Report, exactReport(4))
	}
}

// Differences are named by the members of their wire, ids compare by renaming.
func TestDifferencesOnTheOtherWires(t *testing.T) {
	for _, test := range []struct {
		tree    *story
		changes []string
		grade   Grade
		uses    map[string]int
		want    []string
	}{
		{anthropicTree(t), []string{"toolu_1", "toolu_9"}, GradeVolatile, map[string]int{"ids": 2}, nil},
		{anthropicTree(t), []string{`"tool_use_id":"toolu_1"`, `"tool_use_id":"toolu_2"`}, GradeHistory, nil, []string{
			`replay/history root#2 /messages/2/content/0/tool_use_id: recorded "toolu_1", sent "toolu_2"`,
		}},
		{anthropicTree(t), []string{"Be a parent.", "Be a boss."}, GradePrompt, map[string]int{}, []string{
			`replay/prompt root#1 /system: recorded "Be a parent.", sent "Be a boss."`,
		}},
		{anthropicTree(t), []string{`"text":"Green."`, `"text":"Blue."`}, GradeHistory, map[string]int{}, []string{
			`replay/history root#2 /messages/2/content/1/content/0/text: recorded "Green.", sent "Blue."`,
		}},
		{responsesTree(t), []string{"call_1", "call_9", "fc_2", "fc_8"}, GradeVolatile, map[string]int{"ids": 3}, nil},
		{responsesTree(t), []string{`"call_id":"call_2","output"`, `"call_id":"call_1","output"`}, GradeHistory, nil, []string{
			`replay/history root#2 /input/4/call_id: recorded "call_2", sent "call_1"`,
		}},
		{responsesTree(t), []string{"Be a parent.", "Be a boss."}, GradePrompt, map[string]int{}, []string{
			`replay/prompt root#1 /instructions: recorded "Be a parent.", sent "Be a boss."`,
		}},
		{responsesTree(t), []string{`{\"prompt\":\"` + apples, `{ \"prompt\" : \"` + apples}, GradeVolatile, map[string]int{"json-form": 1}, nil},
		{responsesTree(t), []string{`"model":"m"`, `"model":"n"`}, GradeTools, map[string]int{}, []string{
			`replay/tools root#1 /model: recorded "m", sent "n" (and so in 2 more agents)`,
		}},
	} {
		server := serve(t, test.tree.file, PlaybackOptions{})
		for _, e := range test.tree.file.Exchanges {
			assert.Equal(t, server.send(t, bodyFrom(e, test.changes...)).Status, 200)
		}
		report := server.end(t)
		assert.Equal(t, report.Grade, test.grade)
		assert.DeepEqual(t, findings(report.Report), test.want)
		if test.uses != nil {
			assert.DeepEqual(t, report.VolatileUses, test.uses)
		}
	}
}

// Twins of the other wires are told apart by their results alike.
func TestTwinsOfTheOtherWires(t *testing.T) {
	for _, test := range []struct {
		tree    *story
		changes []string
	}{
		{anthropicTree(t), []string{pears, apples, `"toolu_1","content":"Red."`, `"toolu_1","content":[{"type":"text","text":"Green."}]`,
			`"toolu_2","content":[{"type":"text","text":"Green."}]`, `"toolu_2","content":"Red."`}},
		{responsesTree(t), []string{pears, apples, `"call_1","output":"Red."`, `"call_1","output":"Green."`, `"call_2","output":"Green."`, `"call_2","output":"Red."`}},
	} {
		for _, e := range test.tree.file.Exchanges { // the recording itself holds twins
			*e = *reread1(t, e, pears, apples)
		}
		server := serve(t, test.tree.file, PlaybackOptions{})
		for _, e := range test.tree.file.Exchanges {
			assert.DeepEqual(t, server.send(t, bodyFrom(e, test.changes...)), answered{200, string(e.Response), false})
		}
		report := server.end(t)
		assert.DeepEqual(t, report.Report, exactReport(4))
		assert.DeepEqual(t, outline(report.Session), outline(test.tree.file))
		assert.Equal(t, len(report.Notes), 1)
	}
}

// reread1 is an exchange with a text replaced in its request and its response.
func reread1(t *testing.T, e *transcripts.Exchange, from, to string) *transcripts.Exchange {
	t.Helper()
	changed := *e
	parsed, err := parseRequest(nil, wireOf(e), []byte(strings.ReplaceAll(string(e.Body()), from, to)), func(raw []byte) []byte { return raw })
	assert.NilError(t, err)
	r := parsed.keep(&thread{})
	changed.Messages, changed.Params = r.messages, r.params
	changed.Response = jsontext.Value(strings.ReplaceAll(string(e.Response), from, to))
	return &changed
}
