package tools

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/runtime"
)

// defaultLines is how many lines read_file returns when not told otherwise.
const defaultLines = 2000

// sum is the hash of a file's content.
type sum [sha256.Size]byte

// reads remembers what one agent last saw of each file, by real name. A nil
// reads remembers nothing and demands nothing.
type reads struct {
	// required says that a file is edited only by an agent that has read it,
	// and as it was when it was read.
	required bool

	mu   sync.Mutex
	seen map[string]sum
}

func (r *reads) note(name string, content sum) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = make(map[string]sum)
	}
	r.seen[name] = content
}

// last returns what the agent saw of name last, and whether it saw it at all.
func (r *reads) last(name string) (content sum, ok bool) {
	if r == nil {
		return sum{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	content, ok = r.seen[name]
	return content, ok
}

// permitEdit refuses the edit of a file that this agent must have read and has
// not, or that is not what it read.
func (r *reads) permitEdit(at target, now sum) error {
	if r == nil || !r.required {
		return nil
	}
	switch known, ok := r.last(at.name); {
	case !ok:
		return runtime.Failed("cannot edit %s: read it first", at.shown)
	case known != now:
		return runtime.Failed("cannot edit %s: it changed since you read it: read it again", at.shown)
	default:
		return nil
	}
}

// ReadFile returns lines of the file at path: limit of them (0 means 2,000)
// from line offset (0 means 1), whole lines up to the cap of the workspace. A
// last line in brackets says what is not shown. Failures are for the model.
func (w *Workspace) ReadFile(ctx context.Context, path string, offset, limit int) (string, error) {
	return w.readFile(ctx, nil, path, offset, limit)
}

func (w *Workspace) readFile(ctx context.Context, seen *reads, path string, offset, limit int) (string, error) {
	if offset < 0 || limit < 0 {
		return "", runtime.Failed("offset and limit count from 1")
	}
	at, err := w.resolve(path)
	if err != nil {
		return "", w.failure(runtime.AccessRead, "read", at, err)
	}
	file, err := openRegular(w.root, at.name, os.O_RDONLY)
	if err != nil {
		return "", w.failure(runtime.AccessRead, "read", at, err)
	}
	defer file.Close()
	part := &excerpt{first: max(offset, 1), limit: limit, room: w.options.ReadBytes}
	if limit == 0 {
		part.limit = defaultLines
	}
	pieces := &segments{fold: w.options.Fold, emit: part.add}
	content, err := scan(ctx, file, pieces)
	if err != nil {
		return "", w.failure(runtime.AccessRead, "read", at, err)
	}
	pieces.Close()
	if part.first > max(part.lines(), 1) {
		return "", runtime.Failed("cannot read %s from line %d: it has %s", at.shown, part.first, counted(part.lines(), "line"))
	}
	seen.note(at.name, content) // not before: what was not shown was not read
	return w.options.Fold.Expand(part.text()), nil
}

// openRegular opens a regular file below root. The type is looked at before the
// open, since opening a device can do things, and again on what was opened.
func openRegular(root *os.Root, name string, flag int) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := byType(info); err != nil {
		return nil, err
	}
	return openAtOnce(root, name, flag)
}

// openAtOnce opens a regular file and waits for nothing, whatever is there.
func openAtOnce(root *os.Root, name string, flag int) (*os.File, error) {
	file, err := root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = byType(info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// scan copies file to each writer until its end or that of ctx and returns the
// hash of what went by.
func scan(ctx context.Context, file io.Reader, to ...io.Writer) (sum, error) {
	hash := sha256.New()
	all := io.MultiWriter(append(to, hash)...)
	for {
		if err := ctx.Err(); err != nil {
			return sum{}, err
		}
		if _, err := io.CopyN(all, file, 1<<20); err == io.EOF {
			return sum(hash.Sum(nil)), nil
		} else if err != nil {
			return sum{}, err
		}
	}
}

// excerpt picks the lines asked for out of a folded text that comes in pieces.
type excerpt struct {
	first, limit int // the lines asked for
	room         int // bytes of text that may be kept

	kept     strings.Builder
	shown    int  // lines kept
	full     bool // the next line did not fit
	cutLine  int  // bytes of the one line that did not fit by itself, else 0
	ended    int  // lines ended so far
	line     strings.Builder
	lineSize int // bytes of the line that is being read
}

func (e *excerpt) add(text string) {
	for part := range strings.Lines(text) {
		e.lineSize += len(part)
		if e.wanted() && e.line.Len() <= e.room {
			e.line.WriteString(part)
		}
		if strings.HasSuffix(part, "\n") {
			e.endLine()
		}
	}
}

// wanted reports whether the line that is being read is one to show.
func (e *excerpt) wanted() bool {
	return !e.full && e.ended+1 >= e.first && e.shown < e.limit
}

func (e *excerpt) endLine() {
	if e.wanted() {
		line := e.line.String()
		switch {
		case e.kept.Len()+e.lineSize <= e.room:
			e.kept.WriteString(line)
			e.shown++
		case e.shown == 0:
			e.kept.WriteString(line[:cutBefore(line, min(e.room, len(line)))])
			e.shown, e.full, e.cutLine = 1, true, e.lineSize
		default:
			e.full = true
		}
	}
	e.ended++
	e.line.Reset()
	e.lineSize = 0
}

// lines is how many lines there are, a last one without line end included.
func (e *excerpt) lines() int {
	if e.lineSize > 0 {
		return e.ended + 1
	}
	return e.ended
}

// text returns the excerpt and what is to be said of the rest.
func (e *excerpt) text() string {
	total := e.lines()
	if e.lineSize > 0 {
		e.endLine()
	}
	text := e.kept.String()
	var notes string
	if e.cutLine > 0 {
		notes = fmt.Sprintf("[line %d was cut: %d of its %d bytes are shown]\n", e.first, len(text), e.cutLine)
	}
	last := e.first + e.shown - 1
	if e.first > 1 || last < total {
		notes += fmt.Sprintf("[lines %d-%d of %d", e.first, last, total)
		if last < total {
			notes += fmt.Sprintf("; go on with offset %d", last+1)
		}
		notes += "]\n"
	}
	if notes != "" && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + strings.TrimSuffix(notes, "\n")
}
