package attribution

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/tapetree/tapetree/runtime"
)

// asked is one request as the rules see it.
type asked struct {
	tail            *node
	messages        []runtime.Message // only while the request is placed
	body, tools     string
	system          sum    // of the system texts in front
	session, parent string // the ids in the session headers; "" for none
	retry           string // x-stainless-retry-count; "" for none
	word            string // see purpose
}

func (s *Scope) ask(r *Request) *asked {
	tail, n := read(r)
	s.normalised += n
	q := &asked{tail: tail, messages: r.Messages, body: r.Body, tools: r.Tools, retry: headerOf(r.Header, "X-Stainless-Retry-Count")}
	if !s.options.IgnoreSessionHeaders {
		q.session = headerOf(r.Header, "X-Session-Id")
		q.parent = headerOf(r.Header, "X-Parent-Session-Id")
	}
	if tail != nil {
		q.system = tail.setup
	}
	return q
}

// sameSetup reports that two requests have the same system text and tools, as
// requests of one agent mostly do.
func (q *asked) sameSetup(other *asked) bool {
	return q.system == other.system && q.tools == other.tools
}

// value is that of the whole conversation.
func (q *asked) value() sum {
	if q.tail == nil {
		return sum{}
	}
	return q.tail.value
}

// headerOf returns the first value of a header, whatever the case of its name.
func headerOf(h http.Header, name string) string {
	if v := h.Get(name); v != "" || h == nil {
		return v
	}
	for _, key := range slices.Sorted(keysOf(h)) {
		if strings.EqualFold(key, name) && len(h[key]) > 0 {
			return h[key][0]
		}
	}
	return ""
}

func keysOf(h http.Header) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range h {
			if !yield(key) {
				return
			}
		}
	}
}

// opening is the texts of a request that begins a conversation, white space
// squashed.
type opening struct {
	user   []string // texts of user messages, also each part of one made of parts
	system []string
}

// opening reads the texts of a request. System texts in front, which many
// conversations have in common, are kept once.
func (s *Scope) opening(q *asked) *opening {
	o := &opening{}
	front, known := s.systems[q.system]
	o.system = front
	begun := false
	for _, m := range q.messages {
		role := roleOf(m)
		begun = begun || role != runtime.RoleSystem
		switch {
		case role == runtime.RoleSystem && !(known && !begun):
			o.system = appendText(o.system[:len(o.system):len(o.system)], m.Content)
			if !begun && q.system != (sum{}) {
				s.systems[q.system] = o.system
			}
		case role == runtime.RoleUser:
			o.user = appendText(o.user, m.Content)
			if parts := textParts(m); len(parts) > 1 {
				for _, p := range parts {
					o.user = appendText(o.user, p)
				}
			}
		}
	}
	return o
}

func appendText(texts []string, text string) []string {
	if text = squash(text); text != "" {
		texts = append(texts, text)
	}
	return texts
}

// textParts returns the texts of a message whose content is a list.
func textParts(m runtime.Message) []string {
	var form struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(m.Raw, &form) != nil {
		return nil
	}
	var texts []string
	for _, p := range form.Content {
		texts = append(texts, p.Text)
	}
	return texts
}

// texts returns all texts, those of users first.
func (o *opening) texts() []string {
	return append(o.user[:len(o.user):len(o.user)], o.system...)
}

// holds reports that text stands in one of the texts.
func (o *opening) holds(text string) bool {
	return slices.ContainsFunc(o.texts(), func(t string) bool { return strings.Contains(t, text) })
}
