package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tapetree/tapetree/runtime"
)

// maxVisits bounds the entries that one glob looks at: large projects have
// some 100,000 files.
const maxVisits = 500_000

var errTooManyVisits = errors.New("too many entries")

// Glob returns the files and folders below the folder at base ("" is the
// workspace) that pattern matches, one a line, relative to the workspace and
// sorted; folders end in a slash. A pattern is of doublestar's kind: * ? []
// {a,b} and ** for any number of folders. Links below a wildcard are named and
// not followed. A last line in brackets counts what is over the cap and the
// folders that could not be read. Failures are for the model.
func (w *Workspace) Glob(ctx context.Context, pattern, base string) (string, error) {
	pattern, at, err := w.scope(pattern, base)
	if err != nil {
		return "", w.failure(runtime.AccessRead, "list", at, err)
	}
	if !doublestar.ValidatePattern(pattern) {
		return "", runtime.Failed("the pattern is malformed")
	}
	if err := w.isFolder(at.name); err != nil {
		return "", w.failure(runtime.AccessRead, "list", at, err)
	}
	tree := &globTree{w: w, ctx: ctx, base: at.name, folders: make(map[string]bool)}
	found, err := doublestar.Glob(tree, pattern, doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if errors.Is(err, errTooManyVisits) {
		return "", runtime.Failed("more than %d entries to look at: narrow the pattern or the path", maxVisits)
	}
	if err != nil {
		return "", w.failure(runtime.AccessRead, "list", at, err)
	}
	return w.listing(tree, found), nil
}

// scope cleans a pattern and moves the folder it starts from where the pattern
// says so: an absolute one, and ".." where that stays inside. What climbs out is
// errOutside.
func (w *Workspace) scope(pattern, base string) (string, target, error) {
	if absolute(pattern) {
		parts, ok := w.relative(pattern)
		if !ok {
			return "", target{}, errOutside
		}
		pattern, base = path.Join(parts...), "."
	}
	if base == "" {
		base = "."
	}
	pattern = path.Clean(filepath.ToSlash(pattern))
	for climbs(pattern) {
		base = base + "/.."
		pattern = path.Clean(strings.TrimPrefix(strings.TrimPrefix(pattern, ".."), "/"))
	}
	at, err := w.resolve(base)
	return pattern, at, err
}

func climbs(pattern string) bool { return pattern == ".." || strings.HasPrefix(pattern, "../") }

// isFolder fails if name is no folder.
func (w *Workspace) isFolder(name string) error {
	folder, err := w.openFolder(name)
	if err != nil {
		return err
	}
	return folder.Close()
}

// listing writes the result: paths relative to the workspace.
func (w *Workspace) listing(tree *globTree, found []string) string {
	var lines []string
	for _, name := range found {
		if name == "." {
			continue // the folder itself is no find
		}
		line := path.Join(tree.base, name)
		if tree.folders[name] {
			line += "/"
		}
		if strings.ContainsFunc(line, unicode.IsControl) {
			line = strconv.Quote(line) // a line end in a name must not pass for two names
		}
		lines = append(lines, strings.ToValidUTF8(line, "\uFFFD"))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) == 0 {
		lines = []string{"[nothing matches]"}
	}
	if over := len(lines) - w.options.GlobPaths; over > 0 {
		lines = append(lines[:w.options.GlobPaths], fmt.Sprintf("[%d more left out]", over))
	}
	if tree.unread > 0 {
		lines = append(lines, "["+counted(tree.unread, "folder")+" could not be read]")
	}
	return strings.Join(lines, "\n")
}

// globTree is the workspace below base as doublestar walks it. Every name is
// resolved anew, so links lead no further than they do for the other tools.
type globTree struct {
	w       *Workspace
	ctx     context.Context
	base    string
	visits  int
	unread  int
	folders map[string]bool // the names seen that are folders
}

var (
	_ fs.ReadDirFS = (*globTree)(nil)
	_ fs.StatFS    = (*globTree)(nil)
)

// Open is there for the interface alone: a walk reads folders and asks for
// types.
func (t *globTree) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// ReadDir lists a folder; one that cannot be read counts as empty and is told
// of in the end.
func (t *globTree) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := t.visit(name)
	if err != nil {
		return nil, err
	}
	folder, err := t.w.openFolder(at)
	var entries []fs.DirEntry
	if err == nil {
		t.folders[name] = true
		entries, err = folder.ReadDir(-1)
		folder.Close()
	}
	if err != nil && kindOf(err) != "not found" && kindOf(err) != "not a directory" {
		t.unread++
	}
	if hide := t.w.options.Hide; hide != nil {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return hide(path.Join(at, e.Name())) })
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		if entry.IsDir() {
			t.folders[path.Join(name, entry.Name())] = true
		}
	}
	t.visits += len(entries)
	return entries, nil
}

// Stat follows links inside the workspace; one that leads out counts as not
// there.
func (t *globTree) Stat(name string) (fs.FileInfo, error) {
	at, err := t.visit(name)
	if err != nil {
		return nil, err
	}
	info, err := t.w.root.Lstat(at)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	t.folders[name] = info.IsDir()
	return info, nil
}

// visit counts a look at name and returns where it leads.
func (t *globTree) visit(name string) (string, error) {
	if err := t.ctx.Err(); err != nil {
		return "", err
	}
	if t.visits++; t.visits > maxVisits {
		return "", errTooManyVisits
	}
	at, err := t.w.resolve(t.base + "/" + name)
	if err != nil || t.w.options.Hide != nil && t.w.options.Hide(at.name) {
		return "", fs.ErrNotExist
	}
	return at.name, nil
}

// openFolder opens the folder at name. A FIFO put in its place is not waited
// for.
func (w *Workspace) openFolder(name string) (*os.File, error) {
	info, err := w.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotDirectory
	}
	return w.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
}
