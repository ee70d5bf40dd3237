package golden

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestArgumentsAreShownInOneOrder(t *testing.T) {
	for text, want := range map[string]string{
		`{"content":"x","path":"a"}`:                        `{"path":"a","content":"x"}`,
		`{"zeta":1,"alpha":[{"status":"s","content":"c"}]}`: `{"alpha":[{"content":"c","status":"s"}],"zeta":1}`,
		`{"path":"first","path":"second"}`:                  `{"path":"first","path":"second"}`,
		`{"b":{"path":1,"description":2}}`:                  `{"b":{"description":2,"path":1}}`,
		`{"path":"a"`:                                       `{"path":"a"`,
		`{"path":"a"} {}`:                                   `{"path":"a"} {}`,
		`"no object"`:                                       `"no object"`,
		``:                                                  ``,
		`{}`:                                                `{}`,
		`[{"b":1,"a":2},[]]`:                                `[{"a":2,"b":1},[]]`,
		`{"prompt":"p","description":"d"}`:                  `{"description":"d","prompt":"p"}`,
		`{"new_string":"n","path":"p","old_string":"o","x":null}`: `{"path":"p","old_string":"o","new_string":"n","x":null}`,
	} {
		assert.Equal(t, inReadingOrder(text), want)
	}
}
