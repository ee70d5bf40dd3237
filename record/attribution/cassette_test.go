package attribution

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
)

// exchanged is one request of a cassette and its response.
type exchanged struct {
	wire    runtime.Wire
	headers map[string][]string
	request []byte
	status  int
	answer  []byte
}

// readCassette reads the model exchanges of a go-vcr or vcrpy cassette or of an
// httprr trace.
func readCassette(t *testing.T, file string) []exchanged {
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	if strings.HasSuffix(file, ".httprr") {
		return readTrace(t, data)
	}
	var cassette struct {
		Interactions []struct {
			Request struct {
				URL, URI string
				Headers  map[string][]string
				Body     yaml.Node
				Parsed   any `yaml:"parsed_body"`
			}
			Response struct {
				Code   int
				Status yaml.Node
				Body   yaml.Node
				Parsed any `yaml:"parsed_body"`
			}
		}
	}
	assert.NilError(t, yaml.Unmarshal(data, &cassette))
	var all []exchanged
	for _, one := range cassette.Interactions {
		x := exchanged{headers: one.Request.Headers, status: one.Response.Code}
		if x.status == 0 {
			var status struct{ Code int }
			assert.NilError(t, one.Response.Status.Decode(&status))
			x.status = status.Code
		}
		x.request = cassetteBody(t, one.Request.Body, one.Request.Parsed)
		x.answer = cassetteBody(t, one.Response.Body, one.Response.Parsed)
		all = append(all, onWire(t, one.Request.URL+one.Request.URI, x)...)
	}
	return all
}

// onWire returns x if its address is that of a model.
func onWire(t *testing.T, address string, x exchanged) []exchanged {
	u, err := url.Parse(address)
	assert.NilError(t, err)
	var ok bool
	if x.wire, ok = runtime.WireOf(u.Path); !ok {
		return nil
	}
	return []exchanged{x}
}

func cassetteBody(t *testing.T, body yaml.Node, parsed any) []byte {
	if parsed != nil {
		data, err := json.Marshal(parsed, json.Deterministic(true))
		assert.NilError(t, err)
		return data
	}
	var text string
	switch body.Kind {
	case 0:
	case yaml.MappingNode:
		var vcrpy struct{ String string }
		assert.NilError(t, body.Decode(&vcrpy))
		text = vcrpy.String
	default:
		assert.NilError(t, body.Decode(&text))
	}
	return unzip(t, []byte(text))
}

func unzip(t *testing.T, body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return body
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	assert.NilError(t, err)
	body, err = io.ReadAll(z)
	assert.NilError(t, err)
	return body
}

func readTrace(t *testing.T, data []byte) []exchanged {
	var all []exchanged
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	for len(rest) > 0 {
		lengths, after, _ := bytes.Cut(rest, []byte("\n"))
		var sent, received int
		_, err := fmt.Sscanf(string(lengths), "%d %d", &sent, &received)
		assert.NilError(t, err)
		head, body, _ := bytes.Cut(after[:sent], []byte("\r\n\r\n"))
		answered, answer, _ := bytes.Cut(after[sent:sent+received], []byte("\r\n\r\n"))
		rest = after[sent+received:]
		x := exchanged{request: body, answer: unzip(t, answer)}
		x.status, err = strconv.Atoi(strings.Fields(string(answered))[1])
		assert.NilError(t, err)
		all = append(all, onWire(t, strings.Fields(string(head))[1], x)...)
	}
	return all
}

// places attributes the exchanges in the order of the cassette.
func places(t *testing.T, all []exchanged) []Place {
	s := New(Options{})
	var begun []*Exchange
	for _, one := range all {
		r := &Request{Header: one.headers}
		var form map[string]jsontext.Value
		if json.Unmarshal(one.request, &form, jsontext.AllowDuplicateNames(true)) != nil || form[one.wire.List()] == nil {
			continue
		}
		r.Messages = chatForm(t, one.wire, form)
		if tools := form["tools"]; len(tools) > 2 {
			r.Tools = string(tools)
		}
		r.Body = string(one.request)
		x := s.Begin(r)
		begun = append(begun, x)
		stream := bytes.HasPrefix(one.answer, []byte("data:")) || bytes.HasPrefix(one.answer, []byte("event:"))
		answer, err := runtime.Decode(&runtime.Response{Wire: one.wire, Status: one.status, Body: one.answer, Stream: stream, End: runtime.EndEOF}, runtime.Dialect{})
		if err != nil {
			x.Failed()
			continue
		}
		x.Done(answer.Message, "")
	}
	var found []Place
	for _, x := range begun {
		found = append(found, s.Place(x))
	}
	return found
}

func chatForm(t *testing.T, wire runtime.Wire, form map[string]jsontext.Value) []runtime.Message {
	var messages []runtime.Message
	if system := form[wire.System()]; len(system) > 0 {
		messages = append(messages, runtime.SystemItem(system))
	}
	var items []jsontext.Value
	if json.Unmarshal(form[wire.List()], &items) != nil {
		items = []jsontext.Value{form[wire.List()]}
	}
	for _, raw := range items {
		m, err := wire.ParseItem(raw)
		assert.NilError(t, err)
		messages = append(messages, wire.ChatForm(m)...)
	}
	return messages
}

// cassettes returns the cassettes below some directories of the shared data.
func cassettes(t *testing.T, dirs ...string) []string {
	var files []string
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(shared, dir))
		assert.NilError(t, err)
		for _, top := range found {
			assert.NilError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
				if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".httprr") {
					files = append(files, path)
				}
				return err
			}))
		}
	}
	if len(files) == 0 {
		t.Skipf("no cassettes at %s", shared)
	}
	return files
}

func TestSingleAgentsHaveNoChildren(t *testing.T) {
	files := cassettes(t, "pydantic__*", "charmbracelet__*", "tmc__*", "simonw__llm", "traceloop__openllmetry/packages/opentelemetry-instrumentation-o*", "traceloop__openllmetry/packages/opentelemetry-instrumentation-t*")
	n := 0
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, shared), func(t *testing.T) {
			found := places(t, readCassette(t, file))
			n += len(found)
			t.Log(shown(found))
			for _, p := range found {
				assert.Assert(t, !strings.Contains(string(p.Path), "/"), "a child %v", p)
			}
		})
	}
	t.Logf("%d exchanges of %d cassettes", n, len(files))
}

// teams says where the requests of cassettes of several agents stand.
var teams = map[string]string{
	"TestOpenAINativeToolCalling.test_openai_parallel_native_tool_calling_test_agent_kickoff.yaml":             "root#1, root#2",
	"TestOpenAINativeToolCalling.test_openai_parallel_native_tool_calling_tool_hook_parity_agent_kickoff.yaml": "root#1, root#2",
	"test_agent_knowledege_with_crewai_knowledge.yaml":                                                         "root#1, root2#1",
	"TestAzureToolCallStreaming.test_azure_streaming_emits_tool_call_events.yaml":                              "root#1",
	"test_agent_usage_metrics_are_captured_for_hierarchical_process.yaml":                                      "root#1, root/1.1#1, root#2",
	"test_crew_with_delegating_agents.yaml":                                                                    "root#1, root/1.1#1, root#2",
	"test_hierarchical_verbose_manager_agent.yaml":                                                             "root#1, root/1.1#1, root/1.2#1, root#2",
	"test_output_json_dict_hierarchical.yaml":                                                                  "root#1, root/1.1#1, root#2, root/1.1~side.1#1",
	"test_output_json_hierarchical.yaml":                                                                       "root#1, root/1.1#1, root#2, root/1.1~side.1#1",
	"test_output_pydantic_hierarchical.yaml":                                                                   "root#1, root2#1, root2/1.1#1, root2#2",
	"test_crew_emits_kickoff_events.yaml":                                                                      "root#1, root2#1",
	"TestA2AServer_MultiAgent.yaml":                                                                            "root#1",
	"TestA2AServer_MultipleRequests.yaml":                                                                      "root#1, root2#1",
	"TestExec_Anthropic_ToolCall.yaml":                                                                         "root#1, root#2",
	"TestExec_Mistral_ToolCall.yaml":                                                                           "root#1, root#2",
	"TestExec_OpenAI_ToolCall.yaml":                                                                            "root#1, root#2",
	"TestRuntime_Mistral_Basic.yaml":                                                                           "root#1, root~title.1#1",
	"TestRuntime_MultiAgent_SessionReload.yaml":                                                                "root#1, root/1.1#1, root#2, root#3",
	"test_team_basic.yaml":                                                                                     "root#1",
}

func TestRecordedTeams(t *testing.T) {
	for _, file := range cassettes(t, "crewAIInc__crewAI", "docker__cagent", "traceloop__openllmetry/packages/opentelemetry-instrumentation-agno") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			assert.Equal(t, shown(places(t, readCassette(t, file))), teams[filepath.Base(file)])
		})
	}
}

func shown(all []Place) string {
	var parts []string
	for _, p := range all {
		text := fmt.Sprintf("%s#%d", p.Path, p.Turn)
		if p.Try > 1 {
			text += fmt.Sprintf(".%d", p.Try)
		}
		if p.Flag != "" {
			text += fmt.Sprintf(" (%s %v)", p.Flag, slices.Sorted(slices.Values(p.Candidates)))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
