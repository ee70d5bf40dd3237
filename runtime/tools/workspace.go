// Package tools holds the file and shell tools that an agent works with, and
// the workspace they are bound to.
package tools

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/runtime"
)

// Options shape a workspace. The zero value is complete.
type Options struct {
	// Fold exchanges the paths of this machine for placeholders. Every cap
	// counts the folded text, so that a result is cut at the same place
	// wherever the workspace lies. Nil folds nothing.
	Fold *runtime.Folder
	// Run is the folder beside the workspace where the shell's HOME and TMPDIR
	// lie. Empty: a temporary folder that Close removes.
	Run string
	// ReadBytes caps what one read_file returns; 0 means 64 KiB.
	ReadBytes int
	// ShellBytes caps the output that one command returns; 0 means 32 KiB.
	ShellBytes int
	// Hide tells which names, relative and with slashes, glob leaves out: what
	// the caller itself keeps below the workspace, such as the recording of this
	// very session. Nil hides nothing.
	Hide func(name string) bool
	// GlobPaths caps the paths that one glob returns; 0 means 1,000.
	GlobPaths int
	// ListNames caps the names that one list_files returns; 0 means 1,000.
	ListNames int
}

// The defaults of Options, in the spirit of what agents on the market use: a
// result that a model can take in without losing the thread.
const (
	defaultReadBytes  = 64 << 10
	defaultShellBytes = 32 << 10
	defaultGlobPaths  = 1000
	defaultListNames  = 1000
)

// Workspace is the one directory that the file tools of a session can reach.
// Every access goes through an os.Root, so nothing that changes between a check
// and the act gets out. It is safe for use by several agents at once.
type Workspace struct {
	root    *os.Root
	dir     string     // the real path
	anchors [][]string // the components of every spelling of dir
	escapes error      // what os.Root says of a path that leaves it
	options Options
	tempRun func() (string, error)
	locks   [64]sync.Mutex // of real paths, see lock
	seed    maphash.Seed
}

var _ runtime.Boundary = (*Workspace)(nil)

// Open opens the directory root as a workspace. It fails if root is no
// directory that can be opened.
func Open(root string, o Options) (*Workspace, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", root, err)
	}
	dir, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", root, err)
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", root, err)
	}
	_, escape := opened.Lstat("..")
	w := &Workspace{
		root:    opened,
		dir:     dir,
		anchors: [][]string{components(dir), components(given)},
		escapes: errors.Unwrap(escape),
		options: withDefaults(o),
		seed:    maphash.MakeSeed(),
	}
	w.tempRun = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "tapetree-run-") })
	return w, nil
}

func withDefaults(o Options) Options {
	for _, value := range []struct {
		field    *int
		standard int
	}{
		{&o.ReadBytes, defaultReadBytes},
		{&o.ShellBytes, defaultShellBytes},
		{&o.GlobPaths, defaultGlobPaths},
		{&o.ListNames, defaultListNames},
	} {
		if *value.field <= 0 {
			*value.field = value.standard
		}
	}
	return o
}

// Dir is the real path of the workspace.
func (w *Workspace) Dir() string { return w.dir }

// Close gives the directory handle back and removes the run folder if it was a
// temporary one of ours.
func (w *Workspace) Close() error {
	err := w.root.Close()
	if w.options.Run != "" {
		return err
	}
	run, tempErr := w.tempRun()
	if tempErr != nil {
		return err // there is no folder to remove
	}
	return errors.Join(err, os.RemoveAll(run))
}

// runFolder is where the shell's HOME and TMPDIR lie.
func (w *Workspace) runFolder() (string, error) {
	if w.options.Run != "" {
		return w.options.Run, nil
	}
	return w.tempRun()
}

// Inside reports whether path, as the model wrote it, stays inside the
// workspace with every link followed; also a path that does not exist yet. A
// path that cannot be judged counts as outside.
func (w *Workspace) Inside(path string) bool {
	_, err := w.resolve(path)
	return !errors.Is(err, errOutside)
}

// lock holds the file with the given real name against other tool calls until
// the returned function is called. Aliases through links share a lock because
// the name is real, spellings on a case-blind disk because it is folded; two
// files that share a lock by chance only wait for each other.
func (w *Workspace) lock(name string) (unlock func()) {
	mutex := w.mutexOf(name)
	mutex.Lock()
	return mutex.Unlock
}

func (w *Workspace) mutexOf(name string) *sync.Mutex {
	return &w.locks[maphash.String(w.seed, strings.ToLower(name))%uint64(len(w.locks))]
}
