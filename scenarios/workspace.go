package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Folders are the directories of one run. Workspace, Outside and Run (HOME and
// TMPDIR of shells) lie beside each other in one temporary folder, Root.
type Folders struct {
	Root, Workspace, Outside, Run string

	// Skipped names what the `workspace:` directory has and the workspace has
	// not: links, which are not followed, and special files.
	Skipped []string

	before map[string]thing // what lay beside the workspace when the run began
}

// ErrNoFIFO is in the chain of Prepare's error when the scenario has a FIFO and
// the system has none.
var ErrNoFIFO = errors.New("this system has no FIFOs")

// Everything Prepare makes has the same modes and times on each machine.
const (
	folderMode fs.FileMode = 0o755
	fileMode   fs.FileMode = 0o644
)

var madeAt = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Prepare makes the folders of one run and fills them from the scenario: first
// the `workspace:` directory of base, the scenario's folder (base may be nil
// when there is none), without the links in it, then the files, FIFOs and links
// of the sections over it, then what lies outside. On an error nothing is left.
func Prepare(s *Scenario, base fs.FS) (*Folders, error) {
	root, err := os.MkdirTemp("", "tapetree-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // a macOS temp folder stands behind a link
	}
	openRoots.Store(root, true)
	f := &Folders{
		Root:      root,
		Workspace: filepath.Join(root, "workspace"),
		Outside:   filepath.Join(root, "outside"),
		Run:       filepath.Join(root, "run"),
	}
	if err := f.fill(s, base); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the workspace of %s: %w", s.File, err), f.Remove())
	}
	return f, nil
}

func (f *Folders) fill(s *Scenario, base fs.FS) error {
	for _, dir := range []string{f.Workspace, f.Outside, f.Run} {
		if err := os.Mkdir(dir, folderMode); err != nil {
			return err
		}
	}
	workspace, err := os.OpenRoot(f.Workspace)
	if err != nil {
		return err
	}
	defer workspace.Close()
	if s.Workspace != "" {
		if f.Skipped, err = copyTree(workspace, base, s.Workspace); err != nil {
			return fmt.Errorf("workspace %s: %w", s.Workspace, err)
		}
	}
	if err := writeFiles(workspace, s.Files); err != nil {
		return err
	}
	for _, fifo := range s.FIFOs {
		if err := f.makeFIFO(workspace, fifo); err != nil {
			return fmt.Errorf("make fifo %s: %w", fifo, err)
		}
	}
	for _, link := range s.Links {
		if err := f.makeLink(workspace, link); err != nil {
			return fmt.Errorf("make link %s: %w", link.Path, err)
		}
	}
	outside, err := os.OpenRoot(f.Outside)
	if err != nil {
		return err
	}
	defer outside.Close()
	if err := writeFiles(outside, s.Outside); err != nil {
		return err
	}
	if err := errors.Join(settle(f.Workspace), settle(f.Outside)); err != nil {
		return err
	}
	return f.remember()
}

// writeFiles makes files, and the folders they lie in, without leaving dir.
func writeFiles(dir *os.Root, files []File) error {
	for _, file := range files {
		if err := makeRoom(dir, file.Path); err != nil {
			return err
		}
		if err := dir.WriteFile(file.Path, file.Data, fileMode); err != nil {
			return err
		}
	}
	return nil
}

// makeRoom makes the folders above name and takes away the file that a copied
// workspace has there.
func makeRoom(dir *os.Root, name string) error {
	if err := dir.MkdirAll(path.Dir(name), folderMode); err != nil {
		return err
	}
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *Folders) makeFIFO(dir *os.Root, name string) error {
	if err := makeRoom(dir, name); err != nil {
		return err
	}
	return mkfifo(filepath.Join(f.Workspace, filepath.FromSlash(name)))
}

func (f *Folders) makeLink(dir *os.Root, link Link) error {
	if err := makeRoom(dir, link.Path); err != nil {
		return err
	}
	target := strings.NewReplacer("{{outside}}", f.Outside, "{{workspace}}", f.Workspace).Replace(link.Target)
	return dir.Symlink(filepath.FromSlash(target), link.Path)
}

// copyTree copies a directory of base: folders and regular files. A link, or a
// directory that is reached through one, is not followed; nor is anything else
// copied that is neither. It returns the names it left out.
func copyTree(dst *os.Root, base fs.FS, dir string) (skipped []string, err error) {
	if base == nil {
		return nil, errNoDirectory
	}
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		info, err := fs.Lstat(base, dir[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, errNoDirectory
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("%s is %s, not a folder", dir[:i], kindOf(info.Mode()))
		}
	}
	tree, err := fs.Sub(base, dir)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case entry.IsDir():
			return dst.Mkdir(name, folderMode)
		case !entry.Type().IsRegular():
			skipped = append(skipped, name)
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return dst.WriteFile(name, data, fileMode)
	})
	return skipped, err
}

var errNoDirectory = errors.New("there is no such folder beside the scenarios")

// settle gives a tree its fixed modes and times, the folders after what is in
// them. Links and FIFOs keep theirs.
func settle(dir string) error {
	var folders []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			folders = append(folders, name)
			return os.Chmod(name, folderMode)
		case entry.Type().IsRegular():
			return errors.Join(os.Chmod(name, fileMode), os.Chtimes(name, madeAt, madeAt))
		default:
			return nil
		}
	})
	for _, folder := range slices.Backward(folders) {
		err = errors.Join(err, os.Chtimes(folder, madeAt, madeAt))
	}
	return err
}

// openRoots holds the path of every Root that was not removed yet.
var openRoots sync.Map

// RemoveAll takes away the folders of all runs, for a program that quits in the
// middle of them.
func RemoveAll() {
	openRoots.Range(func(root, _ any) bool {
		_ = (&Folders{Root: root.(string)}).Remove() // nobody is left to be told
		return true
	})
}

// Remove takes the folders away, also those that a run has made unreadable.
func (f *Folders) Remove() error {
	openRoots.Delete(f.Root)
	if os.RemoveAll(f.Root) == nil {
		return nil
	}
	_ = filepath.WalkDir(f.Root, func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700) // before it is read; RemoveAll reports what remains
		}
		return nil
	})
	if err := os.RemoveAll(f.Root); err != nil {
		return fmt.Errorf("remove %s: %w", f.Root, err)
	}
	return nil
}
