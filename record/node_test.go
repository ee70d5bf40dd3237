package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

func TestParseNodeRefuses(t *testing.T) {
	for _, text := range []string{"", "{", `{"a":1}x`, `{"a":1,"a":2}`, `[1,]`, `{"a" 1}`, "\"\xff\"", `{"a":1} {}`, `{"a":[1}`} {
		_, err := parseNode([]byte(text))
		assert.Assert(t, err != nil, "%q", text)
	}
}

// What is shown reads back as the same value.
func FuzzParseNode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.50,-3e7,true,false,null,"x\né\"<"],"b":{}}`, `[]`, `""`, `1`, `{"a":1,"a":2}`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := parseNode(raw)
		if err != nil {
			return
		}
		again, err := parseNode([]byte(n.show()))
		assert.NilError(t, err)
		assert.DeepEqual(t, again, n, cmp.AllowUnexported(node{}, member{}))
	})
}
