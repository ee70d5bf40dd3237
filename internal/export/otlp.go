package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// otlpWriter writes traces as OTLP in JSON, one resource a session: a span
// invoke_agent for each agent, below it chat for each request and execute_tool
// for each call, and below that the agent that the call started. Names are those
// of the semantic conventions for generative AI, version 1.41.
//
// Ids come from what the session says, so that the same history gives the same
// trace.
type otlpWriter struct {
	base
	sessions int
}

const (
	scopeName = "github.com/tapetree/tapetree"
	schemaURL = "https://opentelemetry.io/schemas/1.41.0"
)

func (w *otlpWriter) History(h *transcripts.History) error {
	w.sides(h)
	text := "{\"resourceSpans\":[\n"
	if w.sessions++; w.sessions > 1 {
		text = ",\n"
	}
	text += `{"resource":{"attributes":[`
	for i, a := range []attribute{
		textAttribute("service.name", "tapetree"),
		textAttribute("tapetree.source", filepath.Base(filepath.ToSlash(h.Path))),
		textAttribute("tapetree.format", h.Format),
		textAttribute("tapetree.session", h.Part),
	} {
		if i > 0 {
			text += ","
		}
		text += string(encode(a))
	}
	text += `]},"schemaUrl":"` + schemaURL + `","scopeSpans":[{"schemaUrl":"` + schemaURL + `","scope":{"name":"` + scopeName + `","version":` + string(appendText(nil, w.options.Version)) + "},\"spans\":[\n"
	_, _ = w.out.WriteString(text)
	s := newSpanner(w, h)
	for _, root := range w.roots(h) {
		s.agent(root, "", s.now)
	}
	w.lose(s.untimed, "turns without a time, for which milliseconds in their order stand")
	_, _ = w.out.WriteString("\n]}]}")
	return w.failed()
}

func (w *otlpWriter) Close() error {
	if w.sessions == 0 {
		_, _ = w.out.WriteString(`{"resourceSpans":[`)
	}
	_, _ = w.out.WriteString("\n]}\n")
	return w.out.Flush()
}

// span is one span as OTLP's JSON has it.
type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     *status     `json:"status,omitzero"`
}

// The kinds of spans that are used.
const (
	kindInternal = 1
	kindClient   = 3
)

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

const statusError = 2

type attribute struct {
	Key   string         `json:"key"`
	Value jsontext.Value `json:"value"`
}

func textAttribute(key, value string) attribute {
	return attribute{key, append(appendText([]byte(`{"stringValue":`), value), '}')}
}

func intAttribute(key string, value int) attribute {
	return attribute{key, jsontext.Value(`{"intValue":"` + strconv.Itoa(value) + `"}`)}
}

func listAttribute(key string, values ...string) attribute {
	raw := []byte(`{"arrayValue":{"values":[`)
	for i, value := range values {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(appendText(append(raw, `{"stringValue":`...), value), '}')
	}
	return attribute{key, append(raw, "]}}"...)}
}

func encode(value any) []byte {
	data, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return appendText(nil, err.Error()) // of our own plain structs, none fails
	}
	return data
}

// traceOf is the id of a session: of what its agents were asked and did.
func traceOf(h *transcripts.History) string {
	hash := sha256.New()
	_, _ = fmt.Fprintf(hash, "%s\x00%s\x00%d\x00", h.Format, h.Part, h.Began.UnixNano())
	h.Walk(func(r *runtime.Run) {
		_, _ = fmt.Fprintf(hash, "%s\x00%s\x00%s\x00%d\x00%s\x00", r.Agent, r.Model, r.Prompt, len(r.Turns), r.Final)
		for i := range r.Turns {
			if a := r.Turns[i].Answer; a != nil {
				_, _ = hash.Write(a.Message.Raw)
			}
		}
	})
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// spanID is the id of one span of a trace.
func spanID(trace string, place ...any) string {
	sum := sha256.Sum256([]byte(trace + fmt.Sprint(place...)))
	return hex.EncodeToString(sum[:8])
}

// unixNano is a time as OTLP writes it. Before 1970 there is none.
func unixNano(t time.Time) string { return strconv.FormatInt(max(t.UnixNano(), 0), 10) }

// providerOf names whose wire a model was asked on, as the conventions do, by
// the best that is known: the wire, then the model's name.
func providerOf(wire, model string) string {
	for _, known := range []struct{ prefix, provider string }{
		{"claude", "anthropic"}, {"gemini", "gcp.gemini"}, {"deepseek", "deepseek"}, {"mistral", "mistral_ai"}, {"grok", "x_ai"}, {"command", "cohere"},
	} {
		if strings.HasPrefix(strings.ToLower(model), known.prefix) {
			return known.provider
		}
	}
	switch {
	case wire == string(runtime.WireMessages):
		return "anthropic"
	case wire == "" && model == "":
		return "unknown"
	default:
		return "openai"
	}
}
