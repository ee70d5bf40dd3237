package runtime

import (
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ArgumentState says what the text of a call's arguments is.
type ArgumentState string

// The states of a call's arguments.
const (
	ArgumentsComplete ArgumentState = "complete" // one JSON value, or blank, which means {}
	ArgumentsCut      ArgumentState = "cut"      // the beginning of a JSON value
	ArgumentsInvalid  ArgumentState = "invalid"  // neither
)

// ArgumentsState judges the text of a call's arguments by the grammar of JSON
// alone: a name written twice is complete here and refused by whoever decodes.
func ArgumentsState(text string) ArgumentState {
	if strings.TrimSpace(text) == "" {
		return ArgumentsComplete
	}
	d := jsontext.NewDecoder(strings.NewReader(text), tolerant...)
	if err := d.SkipValue(); err != nil {
		if cutJSON(err) {
			return ArgumentsCut
		}
		return ArgumentsInvalid
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return ArgumentsInvalid
	}
	return ArgumentsComplete
}

// cutFinishes are the spellings of "the token limit was reached" (in lower
// case): OpenAI, Anthropic and Gemini and what gateways make of them, Mistral,
// Cohere.
var cutFinishes = map[string]bool{
	"length": true, "max_tokens": true, "max_output_tokens": true, "model_length": true,
	"max_length": true, "token_limit": true, "model_context_window_exceeded": true,
}

// refusedFinishes are the spellings of "a filter stopped it" (in lower case).
var refusedFinishes = map[string]bool{
	"content_filter": true, "content-filter": true, "content_filtered": true, "refusal": true, "safety": true,
	"prohibited_content": true, "blocklist": true, "recitation": true, "spii": true, "sensitive": true,
}

// Cut reports that the answer was cut off: it finished for length, or the
// arguments of one of its calls are the beginning of a JSON value. None of the
// calls of such an answer may run.
func (a *Answer) Cut() bool {
	if cutFinishes[strings.ToLower(a.Finish)] {
		return true
	}
	for _, call := range a.Message.Calls {
		if ArgumentsState(call.Arguments) == ArgumentsCut {
			return true
		}
	}
	return false
}

// Refused reports that the model or a filter refused and that there is no call
// to go on with. Text written before the refusal stays in the message.
func (a *Answer) Refused() bool {
	if len(a.Message.Calls) > 0 {
		return false
	}
	return a.Refusal != "" || refusedFinishes[strings.ToLower(a.Finish)]
}
