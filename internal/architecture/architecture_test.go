// Package architecture holds the shape of the repository as tests.
package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const (
	module   = "github.com/tapetree/tapetree/"
	rootPath = "../.."
)

// knows lists which of our packages each package may import, tests aside.
var knows = map[string][]string{
	"internal/jsonspan":   {},
	"runtime":             {"internal/jsonspan"},
	"runtime/tools":       {"runtime"},
	"runtime/profiles":    {"runtime", "runtime/tools"},
	"transcripts":         {"runtime"},
	"transcripts/imports": {"runtime", "transcripts", "internal/jsonspan"},
	"record":              {"runtime", "transcripts", "record/attribution"},
	"record/attribution":  {"runtime"},
	"internal/agentcmd":   {"internal/files"},
	"golden":              {"runtime", "transcripts", "record", "internal/files"},
	"golden/diff":         {"runtime", "transcripts", "record", "golden"},
	"scenarios":           {"runtime", "runtime/tools", "runtime/profiles", "transcripts", "record", "record/attribution", "record/proxy", "golden", "internal/agentcmd", "internal/files", "internal/prices", "internal/suggest"},
}

// top lists what may stand at the top of the repository.
var top = []string{
	".ci", ".git", ".gitattributes", ".github", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md",
	"action.yml", "docs", "go.mod", "go.sum", "golden", "internal", "main.go", "record", "runtime", "scenarios", "transcripts",
}

type source struct {
	path    string // slash-separated, from the repository's root
	imports map[string]string
	file    *ast.File
	fset    *token.FileSet
}

// goFiles parses every Go file of the repository outside testdata.
func goFiles(t *testing.T) []source {
	t.Helper()
	var files []source
	err := filepath.WalkDir(rootPath, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(rootPath, path)
		if err != nil {
			return err
		}
		imports := map[string]string{}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			name := ""
			if spec.Name != nil {
				name = spec.Name.Name
			}
			imports[imported] = name
		}
		files = append(files, source{path: filepath.ToSlash(relative), imports: imports, file: file, fset: fset})
		return nil
	})
	assert.NilError(t, err)
	assert.Assert(t, len(files) > 50, "only %d Go files found", len(files))
	return files
}

func TestPackagesKnowOnlyWhatTheyMay(t *testing.T) {
	for _, f := range goFiles(t) {
		allowed, ruled := knows[filepath.ToSlash(filepath.Dir(f.path))]
		if !ruled || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for imported := range f.imports {
			ours, isOurs := strings.CutPrefix(imported, module)
			if isOurs && !contains(allowed, ours) {
				t.Errorf("%s imports %s, which its package must not know", f.path, ours)
			}
		}
	}
}

func TestNoFileImportsBothRuntimes(t *testing.T) {
	for _, f := range goFiles(t) {
		_, ours := f.imports[module+"runtime"]
		name, standard := f.imports["runtime"]
		if ours && standard {
			t.Errorf("%s imports our runtime and the standard one", f.path)
		}
		if standard && name != "goruntime" {
			t.Errorf("%s imports the standard runtime without the name goruntime", f.path)
		}
	}
}

func TestMainOnlyCallsTheCommandLine(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.path != "main.go" {
			continue
		}
		var imports []string
		for imported := range f.imports {
			imports = append(imports, imported)
		}
		sort.Strings(imports)
		assert.DeepEqual(t, imports, []string{module + "internal/cli", "os"})
	}
}

func TestNothingElseAtTheTop(t *testing.T) {
	entries, err := os.ReadDir(rootPath)
	assert.NilError(t, err)
	ignored := regexp.MustCompile(`^tapetree(\.exe)?$|\.(test|out|prof)$`)
	for _, entry := range entries {
		if !contains(top, entry.Name()) && !ignored.MatchString(entry.Name()) {
			t.Errorf("%s stands at the top of the repository", entry.Name())
		}
	}
}

// The caps are those of CONTRIBUTING.md, with the "about" spelled out.
const (
	longestFunction = 75
	longestFile     = 440
)

func TestFunctionsAndFilesStayShort(t *testing.T) {
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		if lines := f.fset.Position(f.file.End()).Line; lines > longestFile {
			t.Errorf("%s has %d lines", f.path, lines)
		}
		for _, declaration := range f.file.Decls {
			fn, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line; lines > longestFunction {
				t.Errorf("%s: %s has %d lines", f.path, fn.Name.Name, lines)
			}
		}
	}
}

// TestEveryScenarioHasItsFilesAndNoFileIsOrphaned: a golden may serve several
// scenarios, so the headers decide.
func TestEveryScenarioHasItsFilesAndNoFileIsOrphaned(t *testing.T) {
	scenarios := names(t, "scenarios", ".txtar")
	want := map[string]map[string]bool{"transcripts": {}, "golden": {}}
	for _, name := range scenarios {
		if name == "_defaults" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(rootPath, "scenarios", name+".txtar"))
		assert.NilError(t, err)
		want["transcripts"][header(string(data), "transcript", name)] = true
		want["golden"][header(string(data), "golden", name)] = true
	}
	for folder, ending := range map[string]string{"transcripts": ".jsonl", "golden": ".txt"} {
		have := map[string]bool{}
		for _, name := range names(t, folder, ending) {
			have[name] = true
		}
		assert.DeepEqual(t, have, want[folder])
	}
}

func header(scenario, name, otherwise string) string {
	head, _, _ := strings.Cut(scenario, "\n-- ")
	for _, line := range strings.Split(head, "\n") {
		if value, found := strings.CutPrefix(line, name+": "); found {
			return value
		}
	}
	return otherwise
}

func names(t *testing.T, folder, ending string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(rootPath, folder))
	assert.NilError(t, err)
	var list []string
	for _, entry := range entries {
		if name, found := strings.CutSuffix(entry.Name(), ending); found {
			list = append(list, name)
		}
	}
	return list
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}
