package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

func identity(raw []byte) []byte { return raw }

// taken is a request in a form that can be compared.
type taken struct {
	Model, Tools     string
	Messages, Params []string
}

func takeApart(r *request) taken {
	out := taken{Model: r.model, Tools: string(r.tools)}
	for _, m := range r.messages.Messages() {
		out.Messages = append(out.Messages, string(m.Role)+" "+string(m.Raw))
	}
	for _, p := range r.params {
		out.Params = append(out.Params, p.Name+"="+string(p.Value))
	}
	return out
}

func TestReadRequest(t *testing.T) {
	body := ` { "temperature" : 0.0, "messages" : [ {"role":"system","content":"s"} , {"role":"user","content":[{"type":"text","text":"<a>"}]} ] ,
	 "model":"m", "tools":[ {"x":1} ],"stream":true,"stream_options":{"include_usage":true}, "x":null } `
	got, err := new(thread).read([]byte(body), identity)
	assert.NilError(t, err)
	assert.DeepEqual(t, takeApart(got), taken{
		Model:    "m",
		Tools:    `[ {"x":1} ]`,
		Messages: []string{`system {"role":"system","content":"s"}`, `user {"role":"user","content":[{"type":"text","text":"<a>"}]}`},
		Params:   []string{"temperature=0.0", "stream=true", `stream_options={"include_usage":true}`, "x=null"},
	})
}

// A body is read strictly; what is no chat completion request is refused.
func TestReadRequestRefuses(t *testing.T) {
	const message = `{"role":"user","content":"a"}`
	first := `{"model":"m","messages":[` + message + `]}`
	for _, body := range []string{
		"", "null", "[]", `{"model":"m"}`, `{"messages":[]}`, `{"model":1,"messages":[]}`, `{"model":"m","messages":{}}`,
		`{"model":"m","messages":[` + message + `,]}`, `{"model":"m","messages":[` + message + message + `]}`,
		`{"model":"m","messages":[` + message + `]`, `{"model":"m","messages":[` + message, `{"model":"m","messages":[` + message + `] "x":1}`,
		`{"model":"m","messages":[` + message + `],"model":"n"}`, `{"model":"m","messages":[` + message + `],"messages":[]}`,
		`{"model":"m","messages":[` + message + `]} {}`, `{"model":"m","messages":[` + message + `],}`,
		`{"model":"m","messages":[{"content":"no role"}]}`, `{"model":"m","messages":[{"role":"user","role":"user"}]}`,
		"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
		`{"model":"m","messages":[1]}`, `{"model":"m","messages":[,` + message + `]}`,
	} {
		fresh := new(thread)
		_, err := fresh.read([]byte(body), identity)
		assert.Assert(t, err != nil, "fresh: %s", body)
		resumed := new(thread)
		_, err = resumed.read([]byte(first), identity)
		assert.NilError(t, err)
		_, err = resumed.read([]byte(body), identity)
		assert.Assert(t, err != nil, "resumed: %s", body)
		got, err := resumed.read([]byte(first), identity)
		assert.NilError(t, err, "after %s", body)
		assert.Equal(t, got.messages.Len(), 1)
	}
}

// A request that goes on from the last one shares its lineage and reads only
// what is new; one that changes older messages begins a new lineage.
func TestReadRequestResumes(t *testing.T) {
	var read int
	counting := func(raw []byte) []byte { read++; return raw }
	body := func(words ...string) []byte {
		var list []string
		for _, w := range words {
			list = append(list, fmt.Sprintf(`{"role":"user","content":%q}`, w))
		}
		return []byte(`{"model":"m","messages":[` + strings.Join(list, ",") + `]}`)
	}
	th := new(thread)
	var last runtime.View
	for _, step := range []struct {
		words   []string
		read    int
		extends bool
	}{
		{[]string{"a", "b"}, 2, false},
		{[]string{"a", "b", "c", "d"}, 2, true},
		{[]string{"a", "b", "c", "d"}, 0, true}, // a retry
		{[]string{"a", "b", "X", "d"}, 2, false},
		{[]string{"a", "b", "X"}, 0, false},
		{[]string{"a", "b", "X", "Y"}, 1, true},
		{nil, 0, false},
		{[]string{"a"}, 1, true},
	} {
		read = 0
		got, err := th.read(body(step.words...), counting)
		assert.NilError(t, err)
		assert.Equal(t, read, step.read, "%v", step.words)
		assert.Equal(t, got.messages.Extends(last), step.extends, "%v", step.words)
		var words []string
		for _, m := range got.messages.Messages() {
			words = append(words, m.Content)
		}
		assert.DeepEqual(t, words, step.words)
		last = got.messages
	}
}

// Reading a body after another gives what reading it alone gives.
func FuzzReadRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":"a"}]}`), []byte(`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c","content":""}],"tools":[],"n":1}`))
	f.Add([]byte(`{"messages":[ {"role":"a"} , {"role":"b"}],"model":"m"}`), []byte(`{"messages":[ {"role":"a"} , {"role":"c"},],"model":"m"}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"a"}]}`), []byte(`{"model":"m","messages":[{"role":"a"}]`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		fresh, freshErr := new(thread).read(bytes.Clone(second), identity)
		th := new(thread)
		_, _ = th.read(first, identity)
		resumed, err := th.read(second, identity)
		assert.Equal(t, err == nil, freshErr == nil, "fresh: %v, resumed: %v", freshErr, err)
		if err == nil {
			assert.DeepEqual(t, takeApart(resumed), takeApart(fresh), cmp.AllowUnexported())
		}
	})
}
