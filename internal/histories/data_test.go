package histories_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// shared holds what other programs recorded; it is no part of the repository.
const shared = "../../../shared/data"

// table is what transcripts/imports/testdata/count.py counts in the same files.
const table = "../../transcripts/imports/testdata/counts.tsv"

// refused are the files that hold no history, and how they are told.
var refused = []struct {
	pattern *regexp.Regexp
	says    string
	why     string
}{
	{regexp.MustCompile(`^INDEX\.md$`), "in no format that is known", "the list of the files"},
	{regexp.MustCompile(`^attribution/.*\.jsonl\.gz$`), "requests with their responses, in no format that is known", "a log of ours, with the true agent of each request"},
	{regexp.MustCompile(`^local-exchanges/.*\.meta\.json$`), "", "URL, status and clocks of an exchange"},
	{regexp.MustCompile(`^local-exchanges/.*\.(resp|sse)$`), "without the request", "a response alone"},
	{regexp.MustCompile(`^local-exchanges/[a-z]+-tools\.json$`), "without the request", "a response alone"},
	{regexp.MustCompile(`^vercel__ai/.*\.(json|sse|chunks\.txt)$`), "without the request", "a response alone"},
}

// differ are the files in which the script and the importer count otherwise, and
// who is wrong.
var differ = map[string]string{
	"crewAIInc__crewAI/lib/crewai/tests/cassettes/utilities/test_crew_emits_kickoff_events.yaml": "the importer: nothing on the wire says that the second request rates the first one's answer, so it is taken for another root",
}

func dataFiles(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("recorded data is not here: %v", err)
	}
	var names []string
	err := filepath.WalkDir(shared, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(shared, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	assert.NilError(t, err)
	return names
}

// history is one line of the table.
type history struct{ file, part string }

func countedByScript(t *testing.T) map[history]transcripts.Counts {
	t.Helper()
	data, err := os.ReadFile(table)
	assert.NilError(t, err)
	rows := map[history]transcripts.Counts{}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		assert.Equal(t, len(fields), 7, "line %d", i+1)
		if i == 0 {
			continue
		}
		var numbers [5]int
		for j := range numbers {
			numbers[j], err = strconv.Atoi(fields[2+j])
			assert.NilError(t, err, "line %d", i+1)
		}
		rows[history{fields[0], fields[1]}] = transcripts.Counts{
			Agents: numbers[0], Messages: numbers[1], Calls: numbers[2], Unanswered: numbers[3], Orphaned: numbers[4],
		}
	}
	return rows
}

// Every file of the recorded data is read, or refused by name; what is read holds
// as much as an independent script counts in it.
func TestRecordedData(t *testing.T) {
	names := dataFiles(t)
	rows := countedByScript(t)
	compared := 0
	for _, name := range names {
		for h, err := range histories.Each(context.Background(), filepath.Join(shared, filepath.FromSlash(name)), histories.Options{}) {
			if err != nil {
				checkRefused(t, name, err)
				break
			}
			at := history{name, h.Part}
			want, counted := rows[at]
			if !counted {
				t.Errorf("%s %s is read and has no row in the table", name, h.Part)
				continue
			}
			delete(rows, at)
			compared++
			got := h.Count()
			switch why, known := differ[name]; {
			case got != want && !known:
				t.Errorf("%s %s: %+v, the script says %+v", name, h.Part, got, want)
			case got == want && known:
				t.Errorf("%s counts as the script does now; it is listed as: %s", name, why)
			}
		}
	}
	for at := range rows {
		t.Errorf("%s %s stands in the table and was not read", at.file, at.part)
	}
	t.Logf("%d files, %d histories compared", len(names), compared)
}

func checkRefused(t *testing.T, name string, err error) {
	t.Helper()
	for _, r := range refused {
		if r.pattern.MatchString(name) {
			if !strings.Contains(err.Error(), r.says) || !strings.Contains(err.Error(), filepath.Base(name)) {
				t.Errorf("%s (%s) is refused with: %v", name, r.why, err)
			}
			return
		}
	}
	t.Errorf("%s is not read: %v", name, err)
}
