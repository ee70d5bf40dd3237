package cli

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestLettersOfWhatIsTyped(t *testing.T) {
	for typed, want := range map[string]string{
		"a": "a", "ar": "ar", "\x03": "\x03", "": "", "\x1b": "", "\x1ba": "",
		"\x1b[A": "", "\x1b[Au": "u", "\x1bOAu": "u", "\x1b[1;5Ar": "r", "s\x1b[3~a": "sa", "\x1b[1": "", "äa": "a",
	} {
		assert.Equal(t, string(lettersOf(typed)), want, "%q", typed)
	}
}
