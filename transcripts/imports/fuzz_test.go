package imports_test

import (
	"errors"
	"testing"

	"github.com/tapetree/tapetree/transcripts"
	"github.com/tapetree/tapetree/transcripts/imports"
)

// fuzzReader feeds a reader anything: it gives histories, or an error that names
// the file, and never nothing.
func fuzzReader(f *testing.F, format string) {
	for _, one := range fixtures {
		f.Add(fixture(f, one.file))
	}
	f.Add([]byte("[{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, importer := range imports.All() {
			if importer.Name != format {
				importer.Detect(data)
				continue
			}
			given := 0
			for h, err := range importer.Read("the file", data) {
				given++
				var syntax *transcripts.SyntaxError
				switch {
				case err != nil && (!errors.As(err, &syntax) || syntax.File != "the file"):
					t.Fatalf("an error without the file: %v", err)
				case err == nil && h == nil:
					t.Fatal("neither a history nor an error")
				case err == nil:
					c := h.Count()
					if c.Agents == 0 || c.Messages == 0 || c.Unanswered > c.Calls || c.Orphaned > c.Messages {
						t.Fatalf("%+v", c)
					}
				}
			}
			if given == 0 {
				t.Fatal("nothing was given")
			}
		}
	})
}

func FuzzOpenAI(f *testing.F)       { fuzzReader(f, "openai") }
func FuzzOpenAILines(f *testing.F)  { fuzzReader(f, "openai-jsonl") }
func FuzzTauBench(f *testing.F)     { fuzzReader(f, "tau-bench") }
func FuzzSWEAgent(f *testing.F)     { fuzzReader(f, "swe-agent") }
func FuzzMiniSWEAgent(f *testing.F) { fuzzReader(f, "mini-swe-agent") }
func FuzzCopilotSDK(f *testing.F)   { fuzzReader(f, "copilot-sdk") }
