package transcripts

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// wireChat is the one wire of format 1: chat completions.
const wireChat = "chat"

// Reply returns the response as the decoder wants it.
func (e *Exchange) Reply() *runtime.Response {
	r := &runtime.Response{Status: e.Status, Header: http.Header{}, End: e.StreamEnd, Err: e.Err}
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

// Body rebuilds the canonical request body: model, messages, tools, params.
func (e *Exchange) Body() []byte {
	size := 64 + len(e.Model) + len(e.Tools)
	for _, m := range e.Messages.Messages() {
		size += len(m.Raw) + 1
	}
	body := make([]byte, 0, size)
	body = append(body, `{"model":`...)
	body = appendQuote(body, e.Model)
	body = append(body, `,"messages":[`...)
	for i, m := range e.Messages.Messages() {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, m.Raw...)
	}
	body = append(body, ']')
	if len(e.Tools) > 0 {
		body = append(append(body, `,"tools":`...), e.Tools...)
	}
	for _, p := range e.Params {
		body = appendQuote(append(body, ','), p.Name)
		body = append(append(body, ':'), p.Value...)
	}
	return append(body, '}')
}

// appendQuote appends text as a JSON string, HTML not escaped. Bytes that are
// no UTF-8 become U+FFFD, as in the runtime.
func appendQuote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}
