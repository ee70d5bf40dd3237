package transcripts

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// HAR is a HAR file (HTTP archive, version 1.1 or 1.2): requests and responses
// as a browser, a proxy or a debugger wrote them down. Only an index of it is
// held in memory; an entry is read when it is asked for.
type HAR struct {
	Path    string
	Entries []HARIndex // those that can be read, by the time at which they began
	// Warnings name what could not be read, with the number of the entry; the
	// rest is in Entries.
	Warnings []string
	// Torn is set when the file breaks off or is no JSON from some point on:
	// what stands before it is in Entries.
	Torn *SyntaxError

	source io.ReaderAt
}

// HARIndex says where an entry stands and what it is.
type HARIndex struct {
	Number     int // from 1, as it stands in the file
	Start, End time.Time
	Method     string
	URL        *url.URL

	from, to int64
}

// OpenHAR reads the index of a HAR file of size bytes; path is how messages
// name it. An entry that is wrong is a warning. The error of a file that is no
// HAR at all is a *SyntaxError.
func OpenHAR(path string, source io.ReaderAt, size int64) (*HAR, error) {
	h := &HAR{Path: path, source: source}
	mark := make([]byte, 3)
	n, err := source.ReadAt(mark, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	from := int64(0)
	switch mark = mark[:n]; {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		from = 3
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, &SyntaxError{File: path, Msg: "is UTF-16; a HAR file is UTF-8", Fix: "convert it, as with `iconv -f UTF-16 -t UTF-8`"}
	}
	r := &harReader{har: h, base: from, dec: jsontext.NewDecoder(io.NewSectionReader(source, from, size-from), harJSON...)}
	found, err := r.document()
	var read *harReadError
	switch {
	case errors.As(err, &read):
		return nil, fmt.Errorf("read %s: %w", path, read.err)
	case err != nil && !r.inEntries:
		return nil, &SyntaxError{File: path, Msg: fmt.Sprintf("is no HAR file: %s", harReason(err))}
	case err != nil && r.whole:
		h.Warnings = append(h.Warnings, fmt.Sprintf("%s: breaks off after its last entry, at byte %d: %s", path, r.base+harOffset(err), harReason(err)))
	case err != nil:
		h.Torn = &SyntaxError{File: path, Msg: fmt.Sprintf("breaks off in entry %d, at byte %d: %s; no later entry can be read",
			r.number, r.base+harOffset(err), harReason(err))}
	case !found:
		return nil, &SyntaxError{File: path, Msg: "is no HAR file: it has no log.entries"}
	}
	slices.SortStableFunc(h.Entries, func(a, b HARIndex) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Number, b.Number))
	})
	return h, nil
}

// Read reads an entry of the index.
func (h *HAR) Read(at HARIndex) (*HAREntry, error) {
	raw := make([]byte, at.to-at.from)
	if _, err := h.source.ReadAt(raw, at.from); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s entry %d: %w", h.Path, at.Number, err)
	}
	e, err := readHAREntry(raw)
	if err != nil { // it could be read when the file was opened
		return nil, fmt.Errorf("read %s entry %d: the file has changed: %s", h.Path, at.Number, harReason(err))
	}
	e.HARIndex = at
	return e, nil
}

// harJSON is lenient where programs that write HAR files are.
var harJSON = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// harReader walks a file token by token.
type harReader struct {
	har       *HAR
	dec       *jsontext.Decoder
	base      int64 // of the decoder's offsets in the file
	inEntries bool
	whole     bool // all entries have been read
	number    int  // of the entry that is being read
}

// harReadError is a fault of the disk, not of the file's text.
type harReadError struct{ err error }

func (e *harReadError) Error() string { return e.err.Error() }

// document looks for log.entries and reads them.
func (r *harReader) document() (found bool, err error) {
	err = r.object(func(name string) error {
		if name != "log" || r.dec.PeekKind() != '{' {
			return r.skip()
		}
		return r.object(func(name string) error {
			if name != "entries" || r.dec.PeekKind() != '[' {
				return r.skip()
			}
			found = true
			return r.entries()
		})
	})
	if err != nil {
		return found, err
	}
	if _, err := r.token(); !errors.Is(err, io.EOF) {
		return found, cmp.Or(err, errors.New("data after its end"))
	}
	return found, nil
}

func (r *harReader) object(member func(name string) error) error {
	if kind := r.dec.PeekKind(); kind != '{' && kind != 0 {
		return errors.New("it is no JSON object")
	}
	if _, err := r.token(); err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.token()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

func (r *harReader) entries() error {
	if _, err := r.token(); err != nil {
		return err
	}
	r.inEntries = true
	last := time.Unix(0, 0).UTC()
	for r.dec.PeekKind() != ']' {
		r.number++
		raw, err := r.dec.ReadValue()
		if err != nil {
			return readFault(err)
		}
		to := r.base + r.dec.InputOffset()
		e, err := readHAREntry(raw)
		if err != nil {
			r.warn("%s", harReason(err))
			continue
		}
		if e.Start.IsZero() {
			r.warn("%s has no startedDateTime that can be read; it is taken to follow the entry before it", e.Name())
			e.Start, e.End = last, last.Add(e.End.Sub(e.Start))
		}
		last = e.End
		e.Number, e.from, e.to = r.number, to-int64(len(raw)), to
		r.har.Entries = append(r.har.Entries, e.HARIndex)
	}
	_, err := r.token()
	r.whole = err == nil
	return err
}

func (r *harReader) warn(format string, args ...any) {
	r.har.Warnings = append(r.har.Warnings, fmt.Sprintf("%s: entry %d: ", r.har.Path, r.number)+fmt.Sprintf(format, args...))
}

func (r *harReader) token() (jsontext.Token, error) {
	token, err := r.dec.ReadToken()
	if err != nil {
		return token, readFault(err)
	}
	return token.Clone(), nil
}

func (r *harReader) skip() error {
	return readFault(r.dec.SkipValue())
}

// readFault tells a fault of the disk from one of the text.
func readFault(err error) error {
	var syntax *jsontext.SyntacticError
	if err == nil || errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if inner := errors.Unwrap(err); inner != nil { // the decoder says only that it was reading
		err = inner
	}
	return &harReadError{err}
}

// harOffset is where in its text a decoder found something wrong.
func harOffset(err error) int64 {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return syntax.ByteOffset
	}
	return 0
}

// harReason says in one line what is wrong with a text, without the offsets
// that only its decoder understands.
func harReason(err error) string {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "unexpected end of the file"
	case errors.As(err, &syntax):
		return syntax.Err.Error()
	case errors.As(err, &semantic):
		return fmt.Sprintf("%s is a JSON %s, which cannot stand there", cmp.Or(string(semantic.JSONPointer), "it"), semantic.JSONKind)
	default:
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
}
