package imports

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestHalf(t *testing.T) {
	for data, want := range map[string]string{
		"data: {\"choices\":[]}\n\ndata: [DONE]\n":      halfStream,
		"event: message_start\ndata: {}\n":              halfStream,
		`{"id":"x","choices":[{"message":{}}]}`:         halfAnswer,
		"{\n  \"choices\": []\n}\n":                     halfAnswer,
		`{"type":"message","content":[]}`:               halfAnswer,
		`{"object":"response","output":[]}`:             halfAnswer,
		"{\"choices\":[]}\n{\"choices\":[]}\n":          halfChunks,
		"{\"type\":\"response.created\"}\n{\"type\":1}": halfChunks,
		"{\"type\":\"message_start\"}\n":                halfChunks,
		"":                                              "",
		"text":                                          "",
		`{"messages":[]}`:                               "",
		`[{"choices":[]}]`:                              "",
		`{"choices":5}`:                                 "",
		"database: yes":                                 "",
		"{\"torn":                                       "",
	} {
		assert.Equal(t, Half([]byte(data)), want, data)
	}
}

func FuzzHalf(f *testing.F) {
	f.Add([]byte("data: x"))
	f.Add([]byte("{\"choices\":[]}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) { Half(data) })
}
