package scenarios

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Case 6.13: the golden history of a program's session is the same on a checkout
// with CRLF, and another one where a CR stands in the data.
func TestGoldenHistoryOfAProgramOnACRLFCheckout(t *testing.T) {
	source := BuiltinSource()
	const name = "client-openai-children"
	want, err := fs.ReadFile(source.Goldens, name+goldenEnding)
	if err != nil {
		t.Fatal(err)
	}
	crlf := strings.ReplaceAll(string(want), "\n", "\r\n")
	for _, c := range []struct {
		golden string
		codes  []string
	}{
		{crlf, nil},
		{strings.Replace(crlf, "\r\n", "‹CR›\r\n", 1), []string{"golden/differs"}},
	} {
		source.Goldens = fstest.MapFS{name + goldenEnding: {Data: []byte(c.golden)}}
		result := Replay(t.Context(), source, name, ReplayOptions{})
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		var codes []string
		for _, f := range result.Findings {
			codes = append(codes, f.Code)
		}
		if diff := cmp.Diff(c.codes, codes); diff != "" {
			t.Error(diff)
		}
	}
}
