package scenarios_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/scenarios"
)

// recordedData holds files that other programs wrote.
const recordedData = "../../shared/data"

// findingsTable lists for every file of recordedData in which something is
// found what it is, and how often. Every line was judged by hand: the findings
// are true.
const findingsTable = "testdata/findings.tsv"

// TestFindingsOfRecordedFiles holds every recorded file that is a history
// against the table: no finding is missing, and none is made up.
func TestFindingsOfRecordedFiles(t *testing.T) {
	if _, err := os.Stat(recordedData); err != nil {
		t.Skip("no recorded data beside the repository: " + recordedData)
	}
	counts := map[string]int{}
	read := 0
	err := filepath.WalkDir(recordedData, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(recordedData, path)
		if err != nil {
			return err
		}
		for h, err := range histories.Each(context.Background(), path, histories.Options{Lean: true}) {
			if err != nil { // refused by name: see the table of formats
				continue
			}
			read++
			for _, f := range scenarios.CheckHistory(h, scenarios.CheckOptions{}) {
				counts[filepath.ToSlash(name)+"\t"+f.Code]++
			}
		}
		return nil
	})
	assert.NilError(t, err)
	assert.Assert(t, read > 100, "only %d histories", read)
	var lines []string
	for line, n := range counts {
		lines = append(lines, fmt.Sprintf("%s\t%d", line, n))
	}
	slices.Sort(lines)
	want, err := os.ReadFile(findingsTable)
	assert.NilError(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), strings.Join(lines, "\n")+"\n"); diff != "" {
		t.Fatal(diff)
	}
}

// TestThePageSaysWhatTheProgramSays holds docs/findings.md against RuleOf.
func TestThePageSaysWhatTheProgramSays(t *testing.T) {
	data, err := os.ReadFile("../docs/findings.md")
	assert.NilError(t, err)
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	for _, code := range record.Codes() {
		rule := record.RuleOf(code)
		_, entry, found := strings.Cut(text, "\n### "+code+"\n")
		assert.Assert(t, found, code)
		assert.Assert(t, strings.HasPrefix(entry, "**Meaning:** "+rule.Meaning+"\n**Example:** "), "the meaning of %s is another one", code)
		_, entry, _ = strings.Cut(entry, "\n**Remedy:** ")
		assert.Assert(t, strings.HasPrefix(entry, rule.Remedy+"\n"), "the remedy of %s is another one", code)
	}
	assert.Equal(t, record.RuleOf("no/code"), record.Rule{})
}
