package scenarios

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
)

func escaped(messages ...string) []record.Finding {
	var findings []record.Finding
	for _, m := range messages {
		findings = append(findings, record.Finding{Code: "sandbox/escaped", Message: m})
	}
	return findings
}

func TestEachChangeBesideTheWorkspaceIsAnEscape(t *testing.T) {
	needsUnix(t)
	for _, c := range []struct {
		rule   string
		change func(f *Folders) error
		want   []record.Finding
	}{
		{"nothing", func(*Folders) error { return nil }, nil},
		{"anything inside the workspace and the run's folder", func(f *Folders) error {
			if err := os.WriteFile(filepath.Join(f.Run, "x"), nil, 0o644); err != nil {
				return err
			}
			return os.Remove(filepath.Join(f.Workspace, "door"))
		}, nil},
		{"a file that is read", func(f *Folders) error { _, err := os.ReadFile(filepath.Join(f.Outside, "a")); return err }, nil},
		{"other bytes", func(f *Folders) error { return os.WriteFile(filepath.Join(f.Outside, "a"), []byte("b"), 0o644) }, escaped("outside/a has other bytes")},
		{"other bytes through a link (case 5.02)", func(f *Folders) error {
			return os.WriteFile(filepath.Join(f.Workspace, "door", "a"), []byte("b"), 0o644)
		}, escaped("outside/a has other bytes")},
		{"the same bytes again", func(f *Folders) error {
			name := filepath.Join(f.Outside, "a")
			return os.Chtimes(name, time.Time{}, madeAt.Add(time.Hour))
		}, escaped("outside/a was touched: its time changed")},
		{"a file that came and went", func(f *Folders) error {
			name := filepath.Join(f.Outside, "d", "x")
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				return err
			}
			return os.Remove(name)
		}, escaped("outside/d was touched: its time changed")},
		{"a new file", func(f *Folders) error { return os.WriteFile(filepath.Join(f.Outside, "d", "n"), nil, 0o644) }, escaped("outside/d/n was made")},
		{"new folders (case 5.03)", func(f *Folders) error { return os.MkdirAll(filepath.Join(f.Outside, "n", "m"), 0o755) }, escaped("outside/n was made", "outside/n/m was made")},
		{"a new link", func(f *Folders) error { return os.Symlink("a", filepath.Join(f.Outside, "n")) }, escaped("outside/n was made")},
		{"a file that is gone", func(f *Folders) error { return os.Remove(filepath.Join(f.Outside, "a")) }, escaped("outside/a was removed")},
		{"a file with another name", func(f *Folders) error {
			return os.Rename(filepath.Join(f.Outside, "a"), filepath.Join(f.Outside, "A"))
		}, escaped("outside/A was made", "outside/a was removed")},
		{"another mode", func(f *Folders) error { return os.Chmod(filepath.Join(f.Outside, "a"), 0o755) }, escaped("outside/a had mode -rw-r--r-- and has -rwxr-xr-x")},
		{"another mode of a folder", func(f *Folders) error { return os.Chmod(filepath.Join(f.Outside, "d"), 0o700) }, escaped("outside/d had mode -rwxr-xr-x and has -rwx------")},
		{"another type", func(f *Folders) error {
			name := filepath.Join(f.Outside, "a")
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Mkdir(name, 0o755)
		}, escaped("outside/a was a file and is a folder")},
		{"a fifo in a file's place, which is not opened (case 5.07)", func(f *Folders) error {
			name := filepath.Join(f.Outside, "a")
			if err := os.Remove(name); err != nil {
				return err
			}
			return mkfifo(name)
		}, escaped("outside/a was a file and is a fifo")},
		{"a link that points elsewhere", func(f *Folders) error {
			name := filepath.Join(f.Outside, "l")
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Symlink("d", name)
		}, escaped("outside/l points elsewhere")},
		{"something new beside the folders", func(f *Folders) error {
			return os.WriteFile(filepath.Join(f.Root, "workspace-evil"), nil, 0o644)
		}, escaped("workspace-evil was made")},
		{"no folder outside any more", func(f *Folders) error { return os.RemoveAll(f.Outside) },
			escaped("outside was removed", "outside/a was removed", "outside/d was removed", "outside/d/b was removed", "outside/l was removed")},
		{"a link in place of the folder outside", func(f *Folders) error {
			if err := os.RemoveAll(f.Outside); err != nil {
				return err
			}
			return os.Symlink(f.Workspace, f.Outside)
		}, escaped("outside was a folder and is a link", "outside/a was removed", "outside/d was removed", "outside/d/b was removed", "outside/l was removed")},
		{"no workspace any more", func(f *Folders) error { return os.RemoveAll(f.Workspace) }, escaped("workspace was removed")},
		{"nothing at all any more", func(f *Folders) error { return os.RemoveAll(f.Root) }, escaped("the folder of the run cannot be read any more")},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := prepared(t, &Scenario{
				Outside: []File{{"a", []byte("a")}, {"d/b", []byte("b")}},
				Links:   []Link{{"door", "{{outside}}"}},
			}, nil)
			// A link outside is none that a scenario can have; a run finds one nevertheless.
			assert.NilError(t, os.Symlink("a", filepath.Join(f.Outside, "l")))
			assert.NilError(t, settle(f.Outside))
			assert.NilError(t, f.remember())
			assert.NilError(t, c.change(f))
			if diff := cmp.Diff(c.want, f.Escaped()); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}
