package scripted

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

const testScript = `{"default":"Nothing.","rules":[
["GREET","Hello there."],
["PAIR",{"text":"Both:","calls":[{"name":"get","arguments":{"key":"k-one"}},{"name":"get","arguments":{"key":"ü-two"}}]}],
["k-one","Done."],
["BUSY",{"status":429,"retry-after":"1","times":1}],
["BROKEN",{"status":500,"message":"out of order"}]]}`

func server(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := ParseScript("test.json", []byte(testScript))
	assert.NilError(t, err)
	return New(s, o)
}

// ask posts a body and gives back what came, with the ids made short.
func ask(s http.Handler, path, body string) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w.Body.String()
}

var madeID = regexp.MustCompile(`_[0-9a-f]{12}|-[0-9a-f]{12}`)

func short(text string) string { return madeID.ReplaceAllString(text, "_ID") }

const chatTools = `"tools":[{"type":"function","function":{"name":"get"}}]`

func TestChatAnswersWithText(t *testing.T) {
	got := ask(server(t, Options{}), "/v1/chat/completions", `{"model":"scripted","messages":[{"role":"user","content":"GREET"}]}`)
	assert.Equal(t, short(got), `{"id":"chatcmpl_ID","object":"chat.completion","created":1700000000,"model":"scripted",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"Hello there."},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":16,"completion_tokens":4,"total_tokens":20}}`+"\n")
}

func TestChatStreamsCallsInPieces(t *testing.T) {
	body := `{"model":"scripted","messages":[{"role":"user","content":"PAIR"}],"stream":true,"stream_options":{"include_usage":true},` + chatTools + `}`
	got := ask(server(t, Options{Piece: 9}), "/v1/chat/completions", body)
	head := `data: {"id":"chatcmpl_ID","object":"chat.completion.chunk","created":1700000000,"model":"scripted","choices":[`
	delta := func(members, finish string) string {
		return head + `{"index":0,"delta":` + members + `,"finish_reason":` + finish + "}]}\n\n"
	}
	assert.Equal(t, short(got), delta(`{"role":"assistant","content":""}`, "null")+
		delta(`{"content":"Both:"}`, "null")+
		delta(`{"tool_calls":[{"index":0,"id":"call_ID_1","type":"function","function":{"name":"get","arguments":""}}]}`, "null")+
		delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"key\":\"k"}}]}`, "null")+
		delta(`{"tool_calls":[{"index":0,"function":{"arguments":"-one\"}"}}]}`, "null")+
		delta(`{"tool_calls":[{"index":1,"id":"call_ID_2","type":"function","function":{"name":"get","arguments":""}}]}`, "null")+
		delta(`{"tool_calls":[{"index":1,"function":{"arguments":"{\"key\":\""}}]}`, "null")+
		delta(`{"tool_calls":[{"index":1,"function":{"arguments":"ü-two\"}"}}]}`, "null")+
		delta(`{}`, `"tool_calls"`)+
		head+`],"usage":{"prompt_tokens":44,"completion_tokens":11,"total_tokens":55}}`+"\n\n"+
		"data: [DONE]\n\n")
}

func TestMessagesAnswersWithTextAndCalls(t *testing.T) {
	got := ask(server(t, Options{}), "/v1/messages", `{"model":"scripted","messages":[{"role":"user","content":"PAIR"}],"tools":[{"name":"get"}]}`)
	assert.Equal(t, short(got), `{"id":"msg_ID","type":"message","role":"assistant","model":"scripted","content":[{"type":"text","text":"Both:"},`+
		`{"type":"tool_use","id":"toolu_ID_1","name":"get","input":{"key":"k-one"}},{"type":"tool_use","id":"toolu_ID_2","name":"get","input":{"key":"ü-two"}}],`+
		`"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":22,"output_tokens":11}}`+"\n")
}

func TestMessagesStreams(t *testing.T) {
	got := ask(server(t, Options{Piece: 10}), "/v1/messages", `{"model":"scripted","stream":true,"messages":[{"role":"user","content":"PAIR"}],"tools":[{"name":"get"}]}`)
	assert.Equal(t, short(got), `event: message_start
data: {"type":"message_start","message":{"id":"msg_ID","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":26,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Both:"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_ID_1","name":"get","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"key\":\"k-"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"one\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_ID_2","name":"get","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"key\":\"ü"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"-two\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":11}}

event: message_stop
data: {"type":"message_stop"}

`)
}

const envelope = `"error":null,"incomplete_details":null,"instructions":null,"metadata":{},"model":"scripted","output":`

func TestResponsesAnswersWithText(t *testing.T) {
	got := ask(server(t, Options{}), "/v1/responses", `{"model":"scripted","input":"GREET"}`)
	assert.Equal(t, short(got), `{"id":"resp_ID","object":"response","created_at":1700000000,"status":"completed",`+envelope+
		`[{"id":"msg_ID","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello there.","annotations":[],"logprobs":[]}]}],`+
		`"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,`+
		`"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":13}}`+"\n")
}

func TestResponsesStreams(t *testing.T) {
	got := ask(server(t, Options{}), "/v1/responses", `{"model":"scripted","stream":true,"input":"PAIR","tools":[{"type":"function","name":"get"}]}`)
	var names []string
	for _, line := range strings.Split(short(got), "\n") {
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			names = append(names, name)
		}
	}
	assert.DeepEqual(t, names, []string{
		"response.created", "response.in_progress",
		"response.output_item.added", "response.content_part.added", "response.output_text.delta", "response.output_text.done", "response.content_part.done", "response.output_item.done",
		"response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done", "response.output_item.done",
		"response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done", "response.output_item.done",
		"response.completed",
	})
	last := short(got)[strings.LastIndex(short(got), "data: "):]
	assert.Equal(t, last, `data: {"type":"response.completed","sequence_number":16,"response":{"id":"resp_ID","object":"response","created_at":1700000000,"status":"completed",`+envelope+
		`[{"id":"msg_ID","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Both:","annotations":[],"logprobs":[]}]},`+
		`{"id":"fc_ID_1","type":"function_call","status":"completed","arguments":"{\"key\":\"k-one\"}","call_id":"call_ID_1","name":"get"},`+
		`{"id":"fc_ID_2","type":"function_call","status":"completed","arguments":"{\"key\":\"ü-two\"}","call_id":"call_ID_2","name":"get"}],`+
		`"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,`+
		`"usage":{"input_tokens":23,"input_tokens_details":{"cached_tokens":0},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":34}}}`+"\n\n")
}

// request is a chat request of one user text that offers the tool get.
func request(text string) string {
	return `{"model":"scripted","messages":[{"role":"user","content":"` + text + `"}],` + chatTools + `}`
}

func TestTheLastRuleThatAppliesWins(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"no marker", request("hm"), "Nothing."},
		{"one marker", request("GREET"), "Hello there."},
		{"the later of two", request("k-one PAIR GREET"), "Done."},
		{"the tool of its call is not offered", `{"model":"scripted","messages":["PAIR GREET"]}`, "Hello there."},
		{"nothing else applies", `{"model":"scripted","messages":["PAIR"]}`, "Nothing."},
	} {
		q, err := read([]byte(test.body))
		assert.NilError(t, err)
		reply, _ := server(t, Options{}).pick(q)
		assert.DeepEqual(t, reply, Reply{Text: test.want})
	}
}

func TestAFailureAppliesSoManyTimes(t *testing.T) {
	s := server(t, Options{})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(request("BUSY GREET"))))
	assert.Equal(t, w.Code, 429)
	assert.Equal(t, w.Header().Get("Retry-After"), "1")
	assert.Equal(t, w.Body.String(), `{"error":{"message":"the script fails this request","type":"rate_limit_error","param":null,"code":null}}`+"\n")
	w = httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(request("BUSY GREET"))))
	assert.Equal(t, w.Code, 200)
}

func TestErrorsHaveTheFormOfTheWire(t *testing.T) {
	for _, test := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"POST", "/v1/messages", request("BROKEN"), 500, `{"type":"error","error":{"type":"api_error","message":"out of order"}}`},
		{"POST", "/v1/responses", `{"input":"x"}`, 400, `{"error":{"message":"the request names no model","type":"invalid_request_error","param":null,"code":null}}`},
		{"POST", "/v1/embeddings", `{}`, 404, `{"error":{"message":"no such endpoint: POST /v1/embeddings","type":"not_found_error","param":null,"code":null}}`},
		{"GET", "/v1/messages", ``, 404, `{"type":"error","error":{"type":"not_found_error","message":"no such endpoint: GET /v1/messages"}}`},
	} {
		w := httptest.NewRecorder()
		server(t, Options{}).ServeHTTP(w, httptest.NewRequest(test.method, test.path, strings.NewReader(test.body)))
		assert.Equal(t, w.Code, test.code)
		assert.Equal(t, w.Body.String(), test.want+"\n")
	}
}

func TestABodyThatIsNoJSONIsRefused(t *testing.T) {
	w := httptest.NewRecorder()
	server(t, Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model`)))
	assert.Equal(t, w.Code, 400)
}

func TestModelsAreListed(t *testing.T) {
	w := httptest.NewRecorder()
	server(t, Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models?limit=5", nil))
	assert.Equal(t, w.Body.String(), `{"object":"list","data":[{"id":"scripted","object":"model","created":1700000000,"owned_by":"tapetree",`+
		`"type":"model","display_name":"scripted","created_at":"2023-11-14T22:13:20Z"}],"has_more":false,"first_id":"scripted","last_id":"scripted"}`+"\n")
}

func TestIDsDependOnTheRequestAlone(t *testing.T) {
	first, second := server(t, Options{}), server(t, Options{})
	a, b := ask(first, "/v1/chat/completions", request("PAIR")), ask(first, "/v1/chat/completions", request("PAIR again"))
	assert.Equal(t, ask(second, "/v1/chat/completions", request("PAIR again")), b)
	assert.Equal(t, ask(second, "/v1/chat/completions", request("PAIR")), a)
	assert.Assert(t, a != ask(first, "/v1/chat/completions", request("PAIR")), "an equal request got the ids of the one before")
}

func TestRandomIDsDifferBetweenServers(t *testing.T) {
	a := ask(server(t, Options{Random: true}), "/v1/chat/completions", request("PAIR"))
	assert.Assert(t, a != ask(server(t, Options{Random: true}), "/v1/chat/completions", request("PAIR")))
}

func TestEachRequestIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := server(t, Options{Log: &log})
	ask(s, "/v1/chat/completions", request("PAIR"))
	ask(s, "/v1/chat/completions", request("BROKEN"))
	ask(s, "/v1/messages", request("x"))
	assert.Equal(t, log.String(), `POST /v1/chat/completions 122 bytes, 1 tools, rule "PAIR": get+get
POST /v1/chat/completions 124 bytes, 1 tools, rule "BROKEN": 500
POST /v1/messages 119 bytes, 1 tools, rule "": text
`)
}

// TestAStreamEndsWithItsClient: the handler of a slow stream returns when its
// client has gone, however long the next event would take.
func TestAStreamEndsWithItsClient(t *testing.T) {
	slow := server(t, Options{Pace: time.Hour})
	began, ended := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		close(began)
		slow.ServeHTTP(w, r)
	}))
	defer s.Close()
	ctx, leave := context.WithCancel(t.Context())
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", strings.NewReader(`{"model":"scripted","stream":true}`))
	assert.NilError(t, err)
	go func() {
		<-began
		leave()
	}()
	_, err = http.DefaultClient.Do(call)
	assert.ErrorIs(t, err, context.Canceled)
	<-ended
}

func TestManyClientsAtOnce(t *testing.T) {
	s := httptest.NewServer(server(t, Options{Log: io.Discard}))
	defer s.Close()
	want := ask(server(t, Options{}), "/v1/chat/completions", request("GREET"))
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			response, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(request("GREET")))
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			got, err := io.ReadAll(response.Body)
			if err != nil || regexp.MustCompile(`x\d+"`).ReplaceAllString(string(got), `"`) != want {
				t.Errorf("%v %s", err, got)
			}
		})
	}
	clients.Wait()
}

func TestPiecesDoNotCutCharacters(t *testing.T) {
	assert.DeepEqual(t, pieces("aüöb", 2), []string{"a", "ü", "ö", "b"})
	assert.DeepEqual(t, pieces("abcdefg", 3), []string{"abc", "def", "g"})
	assert.DeepEqual(t, pieces("abc", 0), []string{"abc"})
	assert.DeepEqual(t, pieces("ü", 1), []string{"ü"})
}
