package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

var (
	ourPackage   = regexp.MustCompile(`(?m)^// package: (.+)$`)
	agentPackage = regexp.MustCompile(`(?m)^# package: (.+)@(.+)$`)
	head         = regexp.MustCompile(`(?m)^#.*\n`)
)

// TestClientsPageShowsWhatRuns: the settings that the page shows for an agent
// are those that .ci/clients runs, to the letter.
func TestClientsPageShowsWhatRuns(t *testing.T) {
	page := read(t, "docs", "clients.md")
	shown := 0
	for _, script := range glob(t, "agents", "*.sh") {
		text := read(t, script)
		if !strings.Contains(text, "$OPENAI_BASE_URL") {
			continue // reads the environment itself
		}
		shown++
		assert.Assert(t, strings.Contains(page, "```sh\n"+head.ReplaceAllString(text, "")+"```\n"), "docs/clients.md does not show %s", script)
	}
	assert.Equal(t, shown, 5)
}

// TestClientsTableHasEveryClient: each script of .ci/clients.d has its row in
// the measured table, with the version that is installed now.
func TestClientsTableHasEveryClient(t *testing.T) {
	rows := map[string]string{}
	for _, script := range glob(t, "*.mjs") {
		if found := ourPackage.FindStringSubmatch(read(t, script)); found != nil {
			version := regexp.MustCompile(`"` + regexp.QuoteMeta(found[1]) + `": "(.+)"`).FindStringSubmatch(read(t, ".ci", "clients.d", "package.json"))
			assert.Assert(t, version != nil, "package.json has no %s", found[1])
			rows[nameOf(script)] = found[1] + " " + version[1]
		}
	}
	for _, script := range glob(t, "agents", "*.sh") {
		found := agentPackage.FindStringSubmatch(read(t, script))
		assert.Assert(t, found != nil, "%s names no package", script)
		rows[nameOf(script)] = found[1] + " " + found[2]
	}
	module := regexp.MustCompile(`(?m)^require ([^( ]+) (\S+)$`).FindStringSubmatch(read(t, ".ci", "clients.d", "openai-go", "go.mod"))
	rows["openai-go"] = module[1] + " " + module[2]
	assert.Equal(t, len(rows), 14)
	page := read(t, "docs", "clients.md")
	for name, version := range rows {
		assert.Assert(t, strings.Contains(page, "\n| "+name+" | "+version+" | "), "docs/clients.md: no row `| %s | %s |`: run .ci/clients", name, version)
	}
}

// TestClientsRecordingsAreInTheSuite: the recordings of our own scripts, and
// those of no coding agent.
func TestClientsRecordingsAreInTheSuite(t *testing.T) {
	want := map[string]bool{"client-openai-go": true}
	for _, script := range glob(t, "*.mjs") {
		if ourPackage.MatchString(read(t, script)) {
			want["client-"+nameOf(script)] = true
		}
	}
	for folder, ending := range map[string]string{"scenarios": ".txtar", "transcripts": ".jsonl", "golden": ".txt"} {
		got := map[string]bool{}
		files, err := filepath.Glob(filepath.Join(rootPath, folder, "client-*"))
		assert.NilError(t, err)
		for _, file := range files {
			got[strings.TrimSuffix(filepath.Base(file), ending)] = true
		}
		assert.DeepEqual(t, got, want)
	}
}

func nameOf(script string) string {
	return strings.TrimSuffix(filepath.Base(script), filepath.Ext(script))
}

// glob lists files of .ci/clients.d, from the repository's root.
func glob(t *testing.T, pattern ...string) []string {
	t.Helper()
	base := filepath.Join(rootPath, ".ci", "clients.d")
	files, err := filepath.Glob(filepath.Join(append([]string{base}, pattern...)...))
	assert.NilError(t, err)
	assert.Assert(t, len(files) > 0)
	for i, file := range files {
		files[i], err = filepath.Rel(rootPath, file)
		assert.NilError(t, err)
	}
	return files
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{rootPath}, path...)...))
	assert.NilError(t, err)
	return string(data)
}
