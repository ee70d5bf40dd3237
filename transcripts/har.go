package transcripts

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// OpenHAR reads the index of a HAR file of size bytes; path is how messages
// name it. An entry that is wrong is a warning. The error of a file that is no
// HAR at all is a *SyntaxError.
func OpenHAR(path string, source io.ReaderAt, size int64) (*Traffic, error) {
	h := &Traffic{Path: path, Format: "har", Word: "entry", Timed: true}
	h.read = func(at TrafficIndex) (*TrafficEntry, error) { return rereadHAR(source, at) }
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
		h.Warnings = append(h.Warnings, Warning{Msg: fmt.Sprintf("breaks off after its last entry, at byte %d: %s", r.base+harOffset(err), harReason(err))})
	case err != nil:
		h.Torn = &SyntaxError{File: path, Msg: fmt.Sprintf("breaks off in entry %d, at byte %d: %s; no later entry can be read",
			r.number, r.base+harOffset(err), harReason(err))}
	case !found:
		return nil, &SyntaxError{File: path, Msg: "is no HAR file: it has no log.entries"}
	}
	h.inOrder()
	if len(h.Entries) > 0 {
		h.Began = h.Entries[0].Start
	}
	return h, nil
}

// rereadHAR reads an entry of the index.
func rereadHAR(source io.ReaderAt, at TrafficIndex) (*TrafficEntry, error) {
	raw := make([]byte, at.to-at.from)
	if _, err := source.ReadAt(raw, at.from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	e, err := readHAREntry(raw)
	if err != nil { // it could be read when the file was opened
		return nil, fmt.Errorf("the file has changed: %s", harReason(err))
	}
	return e, nil
}

// harJSON is lenient where programs that write HAR files are.
var harJSON = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// harReader walks a file token by token.
type harReader struct {
	har       *Traffic
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
		r.har.Entries = append(r.har.Entries, e.TrafficIndex)
	}
	_, err := r.token()
	r.whole = err == nil
	return err
}

func (r *harReader) warn(format string, args ...any) {
	r.har.warn(r.number, 0, format, args...)
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
