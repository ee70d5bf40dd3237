package scenarios

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
)

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/" + name)
	assert.NilError(t, err)
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// examples are the txtar blocks of a page.
func examples(page string) []string {
	var blocks []string
	for _, match := range regexp.MustCompile("(?s)```txtar\n(.*?)```").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

func TestTheExamplesOfThePageAreScenarios(t *testing.T) {
	blocks := examples(page(t, "scenarios.md"))
	assert.Equal(t, len(blocks), 3)
	defaults, err := ParseDefaults("_defaults.txtar", []byte(blocks[1]))
	assert.NilError(t, err)
	for _, block := range []string{blocks[0], blocks[2]} {
		_, err = Parse("report.txtar", []byte(block), defaults)
		assert.NilError(t, err)
	}
}

func TestThePageShowsEveryHeaderAndSection(t *testing.T) {
	text := page(t, "scenarios.md")
	example := examples(text)[0] + "\n" + examples(text)[2]
	for _, h := range headers {
		assert.Assert(t, strings.Contains(example, "\n"+h.key+": "), "no header %s in the example", h.key)
		assert.Assert(t, strings.Contains(text, "\n| `"+h.key+"` |"), "no row for the header %s", h.key)
	}
	for _, kind := range sections {
		name := withPath(kind.name, "")
		assert.Assert(t, strings.Contains(text, "`"+name+"`"), "the page does not name %s", name)
		if !strings.Contains(kind.name, "64") {
			assert.Assert(t, strings.Contains(example, "\n-- "+kind.name), "no section %s in the example", name)
		}
	}
}

func TestEveryFindingHasItsEntry(t *testing.T) {
	entry := regexp.MustCompile(`(?m)^### (\S+)\n\*\*Meaning:\*\* .+\n\*\*Example:\*\* .+\n\*\*Remedy:\*\* .+\n`)
	var documented []string
	for _, match := range entry.FindAllStringSubmatch(page(t, "findings.md"), -1) {
		documented = append(documented, match[1])
	}
	codes := append(slices.Clone(record.Codes()), "want/findings")
	slices.Sort(codes)
	slices.Sort(documented)
	assert.DeepEqual(t, documented, slices.Compact(codes))
}
