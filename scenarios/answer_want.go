package scenarios

import (
	"cmp"
	"regexp"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// judgeAnswer compares the root's final text: a wanted text between slashes is
// a regexp, a JSON object or array is a pattern of which the answer may hold
// more, anything else (also a JSON number or string) is the exact text.
func judgeAnswer(want *string, run *runtime.Run, fold func(string) string) []record.Finding {
	if want == nil {
		return nil
	}
	if run.Stop != runtime.StopAnswer {
		return wrongAnswer("expected " + short(*want) + ", got no answer (" + cmp.Or(string(run.Stop), "the session broke off") + ")")
	}
	got := fold(run.Final)
	if got == *want {
		return nil
	}
	if expression, isPattern := pattern(*want); isPattern {
		if re, err := regexp.Compile(expression); err == nil && re.MatchString(got) {
			return nil
		}
		return wrongAnswer("expected a match of " + *want + ", got " + short(got))
	}
	if wanted, isJSON := decodeValue(*want); isJSON && (wanted.kind == '{' || wanted.kind == '[') {
		if value, ok := decodeValue(got); ok && wanted.match(value, true) {
			return nil
		}
		return wrongAnswer("expected JSON with " + short(*want) + ", got " + short(got))
	}
	return wrongAnswer("expected " + short(*want) + ", got " + short(got))
}

func wrongAnswer(message string) []record.Finding {
	return []record.Finding{{Code: "want/answer", Agent: runtime.Root, Message: message}}
}
