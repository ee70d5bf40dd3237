package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// maxEdit is the largest file that edit_file changes, in bytes: it is held in
// memory whole.
const maxEdit = 16 << 20

// EditFile replaces old by new in the file at path: the only place where old
// stands, or every place if all is set. Everything else keeps its bytes. Where
// old has plain line ends they match CRLF too, and new then gets the line ends
// of what it replaces. The file is replaced in one step and keeps its mode; two
// edits at once both survive. Failures are for the model.
func (w *Workspace) EditFile(ctx context.Context, path, old, new string, all bool) (string, error) {
	return w.editFile(ctx, nil, path, old, new, all)
}

func (w *Workspace) editFile(ctx context.Context, seen *reads, path, old, new string, all bool) (string, error) {
	at, err := w.resolve(path)
	if err != nil {
		return "", w.failure(runtime.AccessWrite, "edit", at, err)
	}
	switch {
	case old == "":
		return "", runtime.Failed("old_string must not be empty")
	case old == new:
		return "", runtime.Failed("old_string and new_string are the same")
	}
	defer w.lock(at.name)()
	before, err := whole(ctx, w.root, at.name)
	if err != nil {
		return "", w.failure(runtime.AccessWrite, "edit", at, err)
	}
	if err := seen.permitEdit(at, sha256.Sum256(before)); err != nil {
		return "", err
	}
	after, count := substitute(before, old, new, all)
	switch {
	case count == 0:
		return "", runtime.Failed("cannot edit %s: old_string was not found", at.shown)
	case count > 1 && !all:
		return "", runtime.Failed("cannot edit %s: old_string was found %d times; make it unique or set replace_all", at.shown, count)
	}
	unchanged := func(folder *os.Root, base string) error {
		now, err := whole(ctx, folder, base)
		if err == nil && !bytes.Equal(now, before) {
			err = runtime.Failed("cannot edit %s: it changed meanwhile", at.shown)
		}
		return err
	}
	if _, err := w.replace(at.name, after, unchanged); err != nil {
		return "", w.failure(runtime.AccessWrite, "edit", at, err)
	}
	if known, ok := seen.last(at.name); ok && known == sha256.Sum256(before) {
		seen.note(at.name, sha256.Sum256(after))
	}
	return fmt.Sprintf("Edited %s: %s.", at.shown, counted(count, "replacement")), nil
}

// whole reads the regular file at name, at most maxEdit bytes.
func whole(ctx context.Context, root *os.Root, name string) ([]byte, error) {
	file, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var content bytes.Buffer
	if _, err := scan(ctx, io.LimitReader(file, maxEdit+1), &content); err != nil {
		return nil, err
	}
	if content.Len() > maxEdit {
		return nil, errTooLarge
	}
	return content.Bytes(), nil
}

// substitute returns text with old replaced by new, and how often old was
// found. With all every match counts that begins behind the one before; without
// it those that overlap count too, and only a single one is replaced.
func substitute(text []byte, old, new string, all bool) ([]byte, int) {
	var result []byte
	count, done := 0, 0
	for m := range matches(text, old, !all) {
		count++
		if count > 1 && !all {
			continue
		}
		result = append(result, text[done:m.start]...)
		result = append(result, lineEndsLike(text, m, old, new)...)
		done = m.end
	}
	if count == 0 || count > 1 && !all {
		return text, count
	}
	return append(result, text[done:]...), count
}

// match is one place in a text.
type match struct{ start, end int }

// matches yields where old stands in text, in order.
func matches(text []byte, old string, overlapping bool) iter.Seq[match] {
	return func(yield func(match) bool) {
		for from := 0; ; {
			m, ok := next(text, from, old)
			if !ok || !yield(m) {
				return
			}
			from = m.end
			if overlapping {
				from = m.start + width(text, m.start)
			}
		}
	}
}

// next finds the first place at or after from where old stands. It looks for
// the first line of old and compares the rest there.
func next(text []byte, from int, old string) (match, bool) {
	line, _, _ := strings.Cut(old, "\n")
	if line == "" {
		line = "\n"
	}
	for {
		n := bytes.Index(text[from:], []byte(line))
		if n < 0 {
			return match{}, false
		}
		start := from + n
		if loose(old) && line == "\n" && n > 0 && text[start-1] == '\r' {
			start--
		}
		if end, ok := matchAt(text, start, old); ok {
			return match{start, end}, true
		}
		from += n + 1
	}
}

// width is 2 for a CRLF at offset i of text, else 1.
func width(text []byte, i int) int {
	if bytes.HasPrefix(text[i:], []byte("\r\n")) {
		return 2
	}
	return 1
}

// loose reports that the line ends of old stand for CRLF too: it has no CR.
func loose(old string) bool { return !strings.Contains(old, "\r") }

// matchAt reports whether old stands at start of text, and where it ends.
func matchAt(text []byte, start int, old string) (end int, ok bool) {
	either := loose(old)
	at := start
	for i := range len(old) {
		if either && old[i] == '\n' && bytes.HasPrefix(text[at:], []byte("\r\n")) {
			at++
		}
		if at == len(text) || text[at] != old[i] {
			return 0, false
		}
		at++
	}
	return at, true
}

// lineEndsLike returns new with its plain line ends as those of the match that
// it replaces: one for one where there are as many, else as the first; where
// the match has none, as that of the line it stands in. An old with CR says
// exactly what it means, and so does its new.
func lineEndsLike(text []byte, m match, old, new string) []byte {
	if !loose(old) || !strings.Contains(new, "\n") {
		return []byte(new)
	}
	ends := lineEnds(text[m.start:m.end])
	if len(ends) == 0 {
		ends = []bool{lineIsCRLF(text, m)}
	}
	pairwise := len(ends) == strings.Count(new, "\n")
	var result []byte
	line := 0
	for i := 0; i < len(new); i++ {
		if new[i] == '\n' {
			crlf := ends[0]
			if pairwise {
				crlf = ends[line]
			}
			if crlf && !bytes.HasSuffix(result, []byte("\r")) {
				result = append(result, '\r')
			}
			line++
		}
		result = append(result, new[i])
	}
	return result
}

// lineEnds says of each line end of text whether it is CRLF.
func lineEnds(text []byte) []bool {
	var ends []bool
	for i, b := range text {
		if b == '\n' {
			ends = append(ends, i > 0 && text[i-1] == '\r')
		}
	}
	return ends
}

// lineIsCRLF says whether the line around a match ends in CRLF, or, if it is
// the last and has no end, the line before it.
func lineIsCRLF(text []byte, m match) bool {
	if n := bytes.IndexByte(text[m.end:], '\n'); n >= 0 {
		return m.end+n > 0 && text[m.end+n-1] == '\r'
	}
	n := bytes.LastIndexByte(text[:m.start], '\n')
	return n > 0 && text[n-1] == '\r'
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
