package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapetree/tapetree/runtime"
)

// listBatch is how many names are read from a folder at once.
const listBatch = 4096

// ListFiles returns the names in the folder at given ("" is the workspace), one
// a line and sorted. Folders end in a slash; links and what is no regular file
// are marked in brackets by kind, and a link that leads out says so and no more.
// A last line in brackets counts what is over the cap. Failures are for the
// model.
func (w *Workspace) ListFiles(ctx context.Context, given string) (string, error) {
	at, err := w.resolve(cmp.Or(given, "."))
	if err != nil {
		return "", w.failure(runtime.AccessRead, "list", at, err)
	}
	entries, err := w.entries(ctx, at.name)
	if errors.Is(err, errTooManyVisits) {
		return "", runtime.Failed("cannot list %s: it has more than %d entries", at.shown, maxVisits)
	}
	if err != nil {
		return "", w.failure(runtime.AccessRead, "list", at, err)
	}
	if len(entries) == 0 {
		return "[the folder is empty]", nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	shown := entries[:min(len(entries), w.options.ListNames)]
	var lines []string
	for _, entry := range shown {
		lines = append(lines, w.listed(at.name, entry))
	}
	if over := len(entries) - len(shown); over > 0 {
		lines = append(lines, fmt.Sprintf("[%d more left out]", over))
	}
	return strings.Join(lines, "\n"), nil
}

// entries reads the folder at name, at most maxVisits entries of it.
func (w *Workspace) entries(ctx context.Context, name string) ([]fs.DirEntry, error) {
	folder, err := w.openFolder(name)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	var all []fs.DirEntry
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, err := folder.ReadDir(listBatch)
		all = append(all, batch...)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case len(all) > maxVisits:
			return nil, errTooManyVisits
		}
	}
}

// listed is the line of one entry of folder.
func (w *Workspace) listed(folder string, entry fs.DirEntry) string {
	name := strings.ToValidUTF8(entry.Name(), "\uFFFD")
	if strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, `"`) || strings.HasSuffix(name, "]") {
		name = strconv.Quote(name) // it must not pass for two names, or for one with a mark
	}
	switch mode := entry.Type(); {
	case mode.IsDir():
		return name + "/"
	case mode.IsRegular():
		return name
	case mode&fs.ModeSymlink != 0:
		return name + w.linkMark(path.Join(folder, entry.Name()))
	case mode&fs.ModeNamedPipe != 0:
		return name + " [FIFO]"
	case mode&fs.ModeSocket != 0:
		return name + " [socket]"
	case mode&fs.ModeDevice != 0:
		return name + " [device]"
	default:
		return name + " [not a regular file]"
	}
}

// linkMark says what the link at name is. Nothing outside is looked at.
func (w *Workspace) linkMark(name string) string {
	at, err := w.resolve(name)
	if errors.Is(err, errOutside) {
		return " [link out of the workspace]"
	}
	if err != nil {
		return " [link]" // to nothing, or in a circle
	}
	if info, err := w.root.Lstat(at.name); err == nil && info.IsDir() {
		return "/ [link]"
	}
	return " [link]"
}
