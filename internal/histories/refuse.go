package histories

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/jsonspan"
	"github.com/tapetree/tapetree/transcripts"
)

// longestBlank is how many bytes of white space may follow each other: a packed
// gigabyte of it is small, and every look at a file would go through it.
const longestBlank = 16 << 20

// deepest is how deep values may be nested, as in jsontext.
const deepest = 10_000

// holdsNothing is an error for a file with nothing in it that could be read,
// whatever its format is. It looks at little of any other.
func holdsNothing(path string, data []byte) error {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	begin := jsonspan.Space(text[:min(len(text), longestBlank+1)], 0)
	what := ""
	switch {
	case len(text) == 0:
		what = "the file is empty"
	case begin == len(text):
		what = "the file holds nothing but white space"
	case mostlyBlank(text):
		what = fmt.Sprintf("it has more than %d MiB of white space in one place, which no history has", longestBlank>>20)
	case emptyValue(text[begin:]):
		what = "it holds no message: it is an empty list or object"
	case text[0] == 0:
		what = "it begins with a NUL byte, as no text does; of UTF-16, the byte order mark in front is missing"
	}
	if what == "" {
		return nil
	}
	return &unknownError{fmt.Sprintf("%s: no history: %s", path, what)}
}

// mostlyBlank reports more white space in one place than there may be. It looks at
// a few bytes of text that has none.
func mostlyBlank(text []byte) bool {
	for at := longestBlank / 2; at < len(text); at += longestBlank / 2 { // no such place is between two of these
		from := at
		for from > 0 && at-from <= longestBlank && jsonspan.Space(text[from-1:from], 0) == 1 {
			from--
		}
		to := jsonspan.Space(text[:min(len(text), from+longestBlank+1)], from)
		if to-from > longestBlank {
			return true
		}
	}
	return false
}

// emptyValue reports [], {} or null, and nothing behind it.
func emptyValue(text []byte) bool {
	if len(text) > 64 { // more is no sign of an empty value
		return false
	}
	value := jsontext.Value(bytes.Clone(text))
	if value.Compact() != nil {
		return false
	}
	return string(value) == "[]" || string(value) == "{}" || string(value) == "null"
}

// tooDeep reports JSON whose first value is nested more than deepest.
func tooDeep(data []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := d.SkipValue()
	var fault *jsontext.SyntacticError
	return errors.As(err, &fault) && fault.Err != nil && fault.Err.Error() == "exceeded max depth"
}

// lineFormats are those of which every line is a value of its own.
var lineFormats = []string{"claude-code", "pi", "codex", "openai-jsonl"}

// keepUnread keeps the lines that a history warns of, for who looks for secrets.
func keepUnread(h *transcripts.History, data []byte) {
	if h == nil || len(h.Warnings) == 0 || !slices.Contains(lineFormats, h.Format) {
		return
	}
	wanted := map[int][]int{} // indexes of warnings, by line
	for i, w := range h.Warnings {
		if w.Line > 0 {
			wanted[w.Line] = append(wanted[w.Line], i)
		}
	}
	number := 0
	for line := range bytes.Lines(data) {
		if len(wanted) == 0 {
			return
		}
		number++
		for _, i := range wanted[number] {
			h.Warnings[i].Text = string(line)
		}
		delete(wanted, number)
	}
}
