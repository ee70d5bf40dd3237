package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
)

// mutation breaks one thing in one file of a scenario that holds. A broken
// transcript is judged twice: as it is, when its seals must catch it, and
// resealed, when only what the program understands of it can.
type mutation struct {
	name     string
	scenario string
	edit     func(p *project)
	raw      string // what the broken file gives as it is; "" stands for a broken seal
	want     string // the finding that a resealed or unsealed file must give; "" with grade: none
	grade    record.Grade
	message  string // of a file that is refused whatever its seals: what the error must say
}

// sealed is what a transcript with a wrong or missing sum gives.
const sealed = "broken seal"

// project is one scenario's three files in a folder of their own.
type project struct {
	t     *testing.T
	dir   string
	name  string
	lines []string // of the transcript
}

// exchange and tool find a line by its place.
func exchange(agent string, turn int) string {
	return fmt.Sprintf(`{"kind":"exchange","agent":%q,"turn":%d,`, agent, turn)
}

func tool(agent string, turn, call int) string {
	return fmt.Sprintf(`{"kind":"tool","agent":%q,"turn":%d,"call":%d,`, agent, turn, call)
}

func (p *project) find(start string) int {
	p.t.Helper()
	for i, line := range p.lines {
		if strings.HasPrefix(line, start) {
			return i
		}
	}
	p.t.Fatalf("no line starts with %s", start)
	return -1
}

// change replaces old, which must stand there exactly once.
func (p *project) change(start, old, new string) {
	p.t.Helper()
	i := p.find(start)
	assert.Equal(p.t, strings.Count(p.lines[i], old), 1, "%s in %s", old, p.lines[i])
	p.lines[i] = strings.Replace(p.lines[i], old, new, 1)
}

func (p *project) drop(start string) {
	i := p.find(start)
	p.lines = slices.Delete(p.lines, i, i+1)
}

func (p *project) insertAfter(start, line string) {
	p.lines = slices.Insert(p.lines, p.find(start)+1, line)
}

func (p *project) line(start string) string { return p.lines[p.find(start)] }

func (p *project) swapLines(a, b string) {
	i, j := p.find(a), p.find(b)
	p.lines[i], p.lines[j] = p.lines[j], p.lines[i]
}

// file edits one of the other two files.
func (p *project) file(folder string, edit func(text string) string) {
	ending := map[string]string{"scenarios": ".txtar", "golden": ".txt"}[folder]
	path := filepath.Join(p.dir, folder, p.name+ending)
	data, err := os.ReadFile(path)
	assert.NilError(p.t, err)
	edited := edit(string(data))
	assert.Assert(p.t, edited != string(data), "the mutation changed nothing")
	assert.NilError(p.t, os.WriteFile(path, []byte(edited), 0o644))
}

func (p *project) text(folder, old, new string) {
	p.file(folder, func(text string) string { return strings.Replace(text, old, new, 1) })
}

func (p *project) transcriptPath() string {
	return filepath.Join(p.dir, "transcripts", p.name+".jsonl")
}

func (p *project) write() {
	assert.NilError(p.t, os.WriteFile(p.transcriptPath(), []byte(strings.Join(p.lines, "\n")+"\n"), 0o644))
}

// reseal gives every line the sum it should have, as `rebase --reseal` does.
// That refuses a newer format: then the file stays as it is.
func (p *project) reseal() {
	data, err := os.ReadFile(p.transcriptPath())
	assert.NilError(p.t, err)
	out, _, err := transcripts.Reseal(p.transcriptPath(), data)
	if err != nil {
		assert.ErrorContains(p.t, err, "is newer than this tapetree reads")
		return
	}
	assert.NilError(p.t, os.WriteFile(p.transcriptPath(), out, 0o644))
}

func (p *project) replay() Result {
	return Replay(context.Background(), DirSource(p.dir), p.name, ReplayOptions{Environ: []string{}})
}

// newProject copies a scenario of the suite, its transcript sealed as a
// recorded one is, and checks that it holds.
func newProject(t *testing.T, name string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir(), name: name}
	for folder, file := range map[string]string{"scenarios": name + ".txtar", "transcripts": name + ".jsonl", "golden": name + ".txt"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(p.dir, folder), 0o755))
		data, err := os.ReadFile(filepath.Join("..", folder, file))
		if err != nil { // a golden that two scenarios share
			continue
		}
		assert.NilError(t, os.WriteFile(filepath.Join(p.dir, folder, file), data, 0o644))
		if folder == "transcripts" {
			p.lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		}
	}
	p.change(`{"kind":"header"`, `"by":"authored"`, `"by":"tapetree test"`)
	p.write()
	p.reseal()
	data, err := os.ReadFile(p.transcriptPath())
	assert.NilError(t, err)
	p.lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	whole := p.replay()
	assert.Equal(t, whole.Status, Pass, "%s does not hold before it is broken: %v %v", name, whole.Err, whole.Findings)
	return p
}

// outcome puts a result into the words of the table.
func outcome(r Result) []string {
	var syntax *transcripts.SyntaxError
	if errors.As(r.Err, &syntax) && syntax.Seal {
		return []string{sealed}
	}
	if r.Err != nil {
		return []string{r.Err.Error()}
	}
	var codes []string
	for _, f := range r.Findings {
		if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

func TestEveryMutationIsCaughtByItsOwnCode(t *testing.T) {
	table := mutations()
	assert.Assert(t, len(table) >= 30)
	for _, m := range table {
		t.Run(m.name, func(t *testing.T) {
			p := newProject(t, m.scenario)
			before := strings.Join(p.lines, "\n")
			m.edit(p)
			transcriptBroken := strings.Join(p.lines, "\n") != before
			if transcriptBroken {
				p.write()
				wantRaw := m.raw
				if wantRaw == "" {
					wantRaw = sealed
				}
				if m.message == "" {
					raw := p.replay()
					assert.Assert(t, slices.Contains(outcome(raw), wantRaw), "as it is: want %s, got %v", wantRaw, outcome(raw))
				}
				p.reseal()
			}
			result := p.replay()
			codes := outcome(result)
			t.Logf("%-40s -> %s", m.name, strings.Join(codes, " "))
			switch {
			case m.message != "":
				assert.Equal(t, result.Status, Error)
				assert.Assert(t, strings.Contains(codes[0], m.message), "got %v", codes)
			case m.grade != "":
				assert.Equal(t, result.Status, Pass, "%v", result.Findings)
				assert.Equal(t, result.Grade, m.grade)
				if m.want != "" {
					assert.Assert(t, slices.Contains(codes, m.want), "want %s, got %v", m.want, codes)
				}
			default:
				assert.Equal(t, result.Status, Fail, "%v %v", result.Err, codes)
				assert.Assert(t, slices.Contains(codes, m.want), "want %s, got %v", m.want, codes)
			}
		})
	}
}
