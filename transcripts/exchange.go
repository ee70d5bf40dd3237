package transcripts

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// SystemReference is the value of the parameter that says where in a request
// the system text stands that Messages begins with, on the wires that have it
// beside the conversation: system (messages), instructions (responses).
var SystemReference = jsontext.Value(`{"system":1}`)

// Reply returns the response as the decoder wants it.
func (e *Exchange) Reply() *runtime.Response {
	r := &runtime.Response{Wire: e.wire(), Status: e.Status, Header: http.Header{}, End: e.StreamEnd, Err: e.Err}
	for _, h := range e.Headers {
		for _, value := range headerValues(h.Value) {
			r.Header.Add(h.Name, value)
		}
	}
	switch {
	case e.SSE != nil:
		r.Stream = true
		r.Body = []byte(strings.Join(e.SSE, ""))
	case e.Text != nil:
		r.Body = []byte(*e.Text)
	case e.Base64 != nil:
		r.Body = slices.Clone(e.Base64)
	default:
		r.Body = slices.Clone([]byte(e.Response))
	}
	return r
}

// decoded is the answer, or why there is none.
func (e *Exchange) decoded() (*runtime.Answer, error) {
	if e.answer != nil {
		return e.answer, nil
	}
	return runtime.Decode(e.Reply(), runtime.Dialect{})
}

// wire is the wire of the exchange.
func (e *Exchange) wire() runtime.Wire {
	if e.Wire == "" {
		return runtime.WireChat
	}
	return runtime.Wire(e.Wire)
}

// headerValues reads a kept header: a string, or an array of strings.
func headerValues(value jsontext.Value) []string {
	if value.Kind() != '[' {
		return []string{stringOf(value)}
	}
	var list []string
	for _, element := range elements(value) {
		list = append(list, stringOf(element))
	}
	return list
}

// besides reports that the system text which Messages begins with stands beside
// the list in the request.
func (e *Exchange) besides() bool {
	name := e.wire().System()
	if name == "" || e.Messages.Len() == 0 || e.Messages.Messages()[0].Role != runtime.RoleSystem {
		return false
	}
	return bytes.Equal(param(e, name), SystemReference)
}

// Body rebuilds the canonical request body: model, the conversation, tools,
// params.
func (e *Exchange) Body() []byte {
	size := 64 + len(e.Model) + len(e.Tools)
	for _, m := range e.Messages.Messages() {
		size += len(m.Raw) + 1
	}
	list := e.Messages.Messages()
	var system jsontext.Value
	if e.besides() {
		for _, m := range membersOf(list[0].Raw) {
			if m.Name == "content" {
				system = m.Value
			}
		}
		list = list[1:]
	}
	body := make([]byte, 0, size)
	body = append(body, `{"model":`...)
	body = appendQuote(body, e.Model)
	body = append(append(body, `,"`...), e.wire().List()...)
	body = append(body, `":`...)
	if len(list) == 1 && list[0].Raw.Kind() == '"' { // the short form of Responses
		body = append(body, list[0].Raw...)
	} else {
		body = append(appendList(append(body, '['), list), ']')
	}
	if len(e.Tools) > 0 {
		body = append(append(body, `,"tools":`...), e.Tools...)
	}
	for _, p := range e.Params {
		value := p.Value
		if system != nil && p.Name == e.wire().System() {
			value = system
		}
		body = appendQuote(append(body, ','), p.Name)
		body = append(append(body, ':'), value...)
	}
	return append(body, '}')
}

func appendList(body []byte, list []runtime.Message) []byte {
	for i, m := range list {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, m.Raw...)
	}
	return body
}

// appendQuote appends text as a JSON string, HTML not escaped. Bytes that are
// no UTF-8 become U+FFFD, as in the runtime.
func appendQuote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}
