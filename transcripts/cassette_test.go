package transcripts

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// shownTraffic gives a whole file as it was read.
func shownTraffic(t *testing.T, traffic *Traffic) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "%s, timed %v, began %s\n", traffic.Format, traffic.Timed, traffic.Began.Format(time.RFC3339))
	for _, at := range traffic.Entries {
		e, err := traffic.Read(at)
		assert.NilError(t, err)
		fmt.Fprintf(&out, "line %d: %s\n", e.Line, shownHAR(e))
	}
	for _, w := range traffic.Warnings {
		fmt.Fprintf(&out, "warning %s\n", w.In(traffic.Path))
	}
	if traffic.Torn != nil {
		fmt.Fprintf(&out, "torn %s\n", traffic.Torn)
	}
	return out.String()
}

func TestCassettes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"go-vcr 1", `---
version: 1
interactions:
- request:
    body: '{"model":"m"}'
    form: {}
    headers:
      Content-Type:
      - application/json
    url: https://api.example/v1/chat/completions
    method: POST
  response:
    body: '{"choices":[]}'
    headers:
      Content-Length:
      - "14"
    status: 200 OK
    code: 200
    duration: ""
`, `go-vcr, timed false, began 0001-01-01T00:00:00Z
line 4: 1 1970-01-01T00:00:00Z +10ms wait 0s: POST https://api.example/v1/chat/completions [Content-Type: application/json] "{\"model\":\"m\"}" -> 200 [Content-Type: application/json] "{\"choices\":[]}"
`},
		{"go-vcr 4, with durations and a comment, and the version behind", `interactions:
    # the first
    - id: 0
      request:
        content_length: 13
        body: '{"model":"m"}'
        url: https://api.example/v1/chat/completions
        method: post
      response:
        body: |+
            data: {}

            data: [DONE]

        headers:
            Date:
                - Fri, 02 Jan 2026 03:04:05 GMT
        status: 200 OK
        code: 200
        duration: 1.5s
    - id: 1
      request:
        body: ""
        content_length: 9
        url: https://api.example/v1/models
        method: GET
      response:
        body: !!binary aGk=
        code: 200
        duration: 250000000
version: 2
`, `go-vcr, timed true, began 2026-01-02T03:04:05Z
line 3: 1 2026-01-02T03:04:05Z +1.5s wait 1.5s: POST https://api.example/v1/chat/completions [] "{\"model\":\"m\"}" -> 200 [Content-Type: text/event-stream; Date: Fri, 02 Jan 2026 03:04:05 GMT] "data: {}\n\ndata: [DONE]\n\n"
line 21: 2 2026-01-02T03:04:06.5Z +250ms wait 250ms: GET https://api.example/v1/models [] "" no body -> 200 [] "hi"
`},
		{"x/vcr", `---
version: 2
interactions:
- id: 0
  request:
    host: ""
    body: '{"model":"m"}'
    headers:
      User-Agent:
      - agent/1
    url: https://api.example/v1/chat/completions
    method: POST
  response:
    body: '{}'
    headers:
      Content-Type:
      - application/json
    code: 200
    duration: 1s
`, `x-vcr, timed true, began 0001-01-01T00:00:00Z
line 4: 1 1970-01-01T00:00:00Z +1s wait 1s: POST https://api.example/v1/chat/completions [User-Agent: agent/1] "{\"model\":\"m\"}" -> 200 [Content-Type: application/json] "{}"
`},
		{"vcrpy, with a gzip body, bodies taken apart, and shared headers", "\ufeff" + `interactions:
- request:
    body: null
    headers: &h
      accept: [application/json]
    parsed_body: {model: m, n: 1, x: 0x10, ok: yes, none: ~, list: [a, 1.5, .inf]}
    method: POST
    uri: https://api.example/v1/chat/completions
  response:
    body:
      string: !!binary |
        H4sIAAAA
        AAA=
    headers:
      Content-Encoding:
      - gzip
    status:
      code: 200
      message: OK
- request:
    body:
      string: eyJ9
      encoding: base64
    headers: *h
    method: POST
    uri: https://api.example/v1/messages
  response:
    body: {base64_string: aGk=}
    headers: {Content-Length: '2', Content-Encoding: [gzip]}
    status: {code: 529, message: ""}
version: 1
`, `vcrpy, timed false, began 0001-01-01T00:00:00Z
line 2: 1 1970-01-01T00:00:00Z +10ms wait 0s: POST https://api.example/v1/chat/completions [Accept: application/json] "{\"model\":\"m\",\"n\":1,\"x\":16,\"ok\":\"yes\",\"none\":null,\"list\":[\"a\",1.5,\".inf\"]}" -> 200 [Content-Encoding: gzip] "\x1f\x8b\b\x00\x00\x00\x00\x00"
line 20: 2 1970-01-01T00:00:00.01Z +10ms wait 0s: POST https://api.example/v1/messages [Accept: application/json] "{\"}" -> 529 [] "hi"
`},
		{"vcrpy in JSON", `{"version": 1,
"interactions": [{"request": {"method": "POST", "uri": "https://api.example/v1/responses", "body": "{\"input\":\"\ud83d\ude00\"}", "headers": {"accept": ["*/*"]}},
  "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}}},
 17]}`, `vcrpy, timed false, began 0001-01-01T00:00:00Z
line 2: 1 1970-01-01T00:00:00Z +10ms wait 0s: POST https://api.example/v1/responses [Accept: */*] "{\"input\":\"😀\"}" -> 200 [Content-Type: application/json] "{}"
warning x.yaml:4: interaction 2: it is no mapping of request and response
`},
		{"several documents, and flow style", `--- {interactions: [{request: {method: GET, url: "http://h/a"}, response: {code: 204}}]}
--- {interactions: [{request: {method: GET, url: "http://h/b"}, response: {status: 200 OK}}]}
`, `go-vcr, timed false, began 0001-01-01T00:00:00Z
line 1: 1 1970-01-01T00:00:00Z +10ms wait 0s: GET http://h/a [] "" -> 204 [] ""
line 2: 2 1970-01-01T00:00:00.01Z +10ms wait 0s: GET http://h/b [] "" -> 200 [] ""
`},
		{"several documents in block style", "interactions:\n- request: {method: GET, url: http://h/a}\n  response: {code: 200}\n---\ninteractions:\n- request: {method: GET, url: http://h/b}\n  response: {code: 200}\n",
			`go-vcr, timed false, began 0001-01-01T00:00:00Z
line 2: 1 1970-01-01T00:00:00Z +10ms wait 0s: GET http://h/a [] "" -> 200 [] ""
line 6: 2 1970-01-01T00:00:00.01Z +10ms wait 0s: GET http://h/b [] "" -> 200 [] ""
`},
		{"no interactions", "interactions: []\nversion: 1\n", "go-vcr, timed false, began 0001-01-01T00:00:00Z\n"},
		{"no interactions in JSON", `{"interactions":[]}`, "go-vcr, timed false, began 0001-01-01T00:00:00Z\n"},
		{"JSON that breaks off", "{\"interactions\":[\n{\"request\":{\"method\":\"GET\",\"uri\":\"http://h/a\"},\"response\":{\"status\":{\"code\":200}}},\n{\"request\":", `vcrpy, timed false, began 0001-01-01T00:00:00Z
line 2: 1 1970-01-01T00:00:00Z +10ms wait 0s: GET http://h/a [] "" -> 200 [] ""
torn x.yaml:3: breaks off in interaction 2: unexpected end of the file; no later one can be read
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			traffic, err := OpenCassette("x.yaml", []byte(c.text))
			assert.NilError(t, err)
			assert.Equal(t, shownTraffic(t, traffic), c.want)
		})
	}
}

// TestABrokenInteractionIsAWarningAndTheRestIsRead: each stands between two
// that can be read.
func TestABrokenInteractionIsAWarningAndTheRestIsRead(t *testing.T) {
	good := "- request: {method: GET, uri: http://h/a}\n  response: {status: {code: 200}}\n"
	for _, c := range []struct{ item, want string }{
		{"- 17\n", "x.yaml:4: interaction 2: it is no mapping of request and response"},
		{"-\n", "x.yaml:4: interaction 2: it is no mapping of request and response"},
		{"- a: [\n", "x.yaml:4: interaction 2: did not find expected node content"},
		{"- a: 1\n  \tb: 2\n", "x.yaml:5: interaction 2: found a tab character that violates indentation"},
		{"- a: 1\n   b: 2\n", "x.yaml:5: interaction 2: mapping values are not allowed in this context"},
		{"- a: *nobody\n", "x.yaml:4: interaction 2: unknown anchor 'nobody' referenced"},
		{"- response: {}\n", "x.yaml:4: interaction 2: it has no request"},
		{"- request: {}\n", "x.yaml:4: interaction 2: its request has no url that can be read"},
		{"- request: {uri: '/x?key=secret'}\n", "x.yaml:4: interaction 2: its request has no url that can be read"},
		{"- request: {uri: http://h/x}\n", "x.yaml:4: interaction 2: its request has no method"},
		{"- request: {method: GET, uri: http://h/x}\n", "x.yaml:4: interaction 2: GET http://h/x: it has no response"},
		{"- request: {method: GET, uri: http://h/x, body: !!binary '*'}\n", "x.yaml:4: interaction 2: GET http://h/x: the body of its request is no base64 although it says so"},
		{"- request: {method: GET, uri: http://h/x}\n  response: {status: {code: OK}}\n", "x.yaml:4: interaction 2: GET http://h/x: its response has no status code that can be read"},
		{"- request: {method: GET, uri: http://h/x}\n  response: {code: 200, body: {base64_string: '*'}}\n", "x.yaml:4: interaction 2: GET http://h/x: the body of its response is no base64 although it says so"},
		{"- request: {method: GET, uri: http://h/x}\n  response: {code: 200, parsed_body: &a [&b [*a]]}\n", "x.yaml:4: interaction 2: GET http://h/x: the body of its response is too large or too deep"},
	} {
		traffic, err := OpenCassette("x.yaml", []byte("interactions:\n"+good+c.item+good))
		assert.NilError(t, err, c.item)
		assert.Check(t, cmp.DeepEqual(told(traffic), []string{c.want}), c.item)
		assert.Check(t, indexed(traffic) == "1 00:00:00 GET http://h/a\n3 00:00:00 GET http://h/a\n", c.item)
	}
}

func TestWhatIsNoCassette(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x.yaml: is no cassette: it has no list of interactions"},
		{"hello", "x.yaml: is no cassette: it has no list of interactions"},
		{"a: [", "x.yaml:1: is no cassette: did not find expected node content"},
		{"interactions: 17", "x.yaml: is no cassette: it has no list of interactions"},
		{`{"interactions":{}}`, "x.yaml: is no cassette: it has no list of interactions"},
	} {
		_, err := OpenCassette("x.yaml", []byte(c.text))
		var syntax *SyntaxError
		assert.Assert(t, errors.As(err, &syntax), c.text)
		assert.Equal(t, err.Error(), c.want, c.text)
	}
}

// TestAFewAliasesDoNotFillTheMemory: ten levels of ten would be 10^10 texts.
func TestAFewAliasesDoNotFillTheMemory(t *testing.T) {
	text := "interactions:\n- request:\n    method: POST\n    uri: http://h/x\n    parsed_body:\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		text += fmt.Sprintf("      a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	traffic, err := OpenCassette("x.yaml", []byte(text+"  response: {code: 200}\n"))
	assert.NilError(t, err)
	assert.DeepEqual(t, told(traffic), []string{"x.yaml:2: interaction 1: POST http://h/x: the body of its request is too large or too deep"})
}

func TestTraces(t *testing.T) {
	record := func(request, response string) string {
		return fmt.Sprintf("%d %d\n%s%s", len(request), len(response), request, response)
	}
	ask := "POST https://api.example/v1/chat/completions HTTP/1.1\r\nHost: api.example\r\nContent-Length: 13\r\n\r\n{\"model\":\"m\"}"
	for _, c := range []struct{ name, text, want string }{
		{"two records, one with a header that was changed", "httprr trace v1\n" +
			record(ask, "HTTP/2.0 200 OK\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\r\n\r\n") +
			record("GET /v1/models HTTP/1.1\r\nHost: api.example\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
			`httprr, timed false, began 2026-01-02T03:04:05Z
line 2: 1 2026-01-02T03:04:05Z +10ms wait 0s: POST https://api.example/v1/chat/completions [Content-Length: 13; Host: api.example] "{\"model\":\"m\"}" -> 200 [Content-Type: text/event-stream; Date: Fri, 02 Jan 2026 03:04:05 GMT] "data: {}\r\n\r\n"
line 13: 2 2026-01-02T03:04:05.01Z +10ms wait 0s: GET https://api.example/v1/models [Host: api.example] "" -> 200 [] "hi"
`},
		{"lengths that do not fit", "httprr trace v1\n" + record(ask, "HTTP/1.1 200 OK\r\n\r\n") + "17 99\nGET", `httprr, timed false, began 0001-01-01T00:00:00Z
line 2: 1 1970-01-01T00:00:00Z +10ms wait 0s: POST https://api.example/v1/chat/completions [Content-Length: 13; Host: api.example] "{\"model\":\"m\"}" -> 200 [] ""
torn x.httprr:9: record 2 does not begin with two lengths that fit the file; no later record can be read
`},
		{"records that cannot be read", "httprr trace v1\n" + record("GET", "") + record("GET %zz HTTP/1.1\n\n", "") + record("GET /x HTTP/1.1\n\n", "") +
			record("GET /x HTTP/1.1\nnonsense\n\n", "") + record("GET http://h/x HTTP/1.1\n\n", "HTTP/1.1 OK\n\n") + record("GET http://h/x HTTP/1.1\n\n", "HTTP/1.1 200\n: x\n\n"),
			`httprr, timed false, began 0001-01-01T00:00:00Z
warning x.httprr:2: record 1: its request has no request line
warning x.httprr:3: record 2: its request has no url that can be read
warning x.httprr:6: record 3: its request has no url that can be read
warning x.httprr:9: record 4: its request has a header line that cannot be read
warning x.httprr:13: record 5: GET http://h/x: its response has no status code that can be read
warning x.httprr:18: record 6: GET http://h/x: its response has a header line that cannot be read
`},
		{"nothing", "httprr trace v1", "httprr, timed false, began 0001-01-01T00:00:00Z\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			traffic, err := OpenHTTPRR("x.httprr", []byte(c.text))
			assert.NilError(t, err)
			assert.Equal(t, shownTraffic(t, traffic), c.want)
		})
	}
	_, err := OpenHTTPRR("x.httprr", []byte("httprr trace v2\n"))
	assert.Error(t, err, `x.httprr:1: is no trace of httprr: its first line is not "httprr trace v1"`)
}

// FuzzCassette and FuzzHTTPRR: no text makes the reader panic, and every entry
// of the index can be read.
func FuzzCassette(f *testing.F) {
	f.Add([]byte("interactions:\n- request: {method: GET, uri: http://h/a}\n  response: {status: {code: 200}}\n"))
	f.Add([]byte(`{"interactions":[{"request":{"method":"GET","url":"http://h/a","body":{"a":[1,null]}},"response":{"code":200}}]}`))
	f.Add([]byte("interactions:\n    - a: &a x\n      request: *a\n    - *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		traffic, err := OpenCassette("x.yaml", data)
		readAllOf(t, traffic, err)
	})
}

func FuzzHTTPRR(f *testing.F) {
	f.Add([]byte("httprr trace v1\n18 19\nGET /x HTTP/1.1\n\nHTTP/1.1 200 OK\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		traffic, err := OpenHTTPRR("x.httprr", data)
		readAllOf(t, traffic, err)
	})
}

func readAllOf(t *testing.T, traffic *Traffic, err error) {
	if err != nil {
		return
	}
	for _, at := range traffic.Entries {
		if _, err := traffic.Read(at); err != nil {
			t.Fatal(err)
		}
	}
}
