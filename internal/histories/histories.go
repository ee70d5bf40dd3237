// Package histories reads sessions from any file that tells of some: our
// transcripts, recorded traffic, and the histories that other programs keep.
// What a file is, its content says, not its name.
package histories

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"github.com/tapetree/tapetree/transcripts/imports"
)

// ErrUnknown is in the chain of the error for a file in no format that is
// known.
var ErrUnknown = errors.New("no history")

// Options of reading.
type Options struct {
	Fold          *runtime.Folder  // paths to replace in recorded traffic; nil: none
	Redact        *record.Redactor // secrets to replace in recorded traffic; nil: by shape alone
	IgnoreHeaders bool             // tell agents of recorded traffic apart by what they say alone
	Alone         bool             // read nothing beside the file, such as the files of its subagents
	Lean          bool             // of transcripts, for judging and comparing alone; uses up the data: see transcripts.ParseLean
}

// Each reads the sessions of one file, one after another, so that a file of
// many is never held whole as histories. An error ends it; the histories before
// it hold.
func Each(ctx context.Context, path string, o Options) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		data, err := Load(path)
		if err != nil {
			yield(nil, err)
			return
		}
		for h, err := range parse(ctx, path, data, o) {
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// Load reads a file, unpacked. The error names it.
func Load(path string) ([]byte, error) {
	data, err := files.ReadPath(path, files.TranscriptLimit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return unpack(path, data)
}

// Parse does the same for the bytes of a file; path is how messages name it, and
// data stays in use. What is packed with gzip is unpacked.
func Parse(ctx context.Context, path string, data []byte, o Options) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		data, err := unpack(path, data)
		if err != nil {
			yield(nil, err)
			return
		}
		for h, err := range parse(ctx, path, data, o) {
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// parse reads what is unpacked.
func parse(ctx context.Context, path string, data []byte, o Options) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		if err := holdsNothing(path, data); err != nil {
			yield(nil, err)
			return
		}
		what, importer := detect(path, data)
		switch what {
		case kindTranscript:
			parse := transcripts.Parse
			if o.Lean {
				parse = transcripts.ParseLean
			}
			f, err := parse(path, data)
			if err != nil {
				yield(nil, err)
				return
			}
			h, err := f.History()
			yield(h, err)
		case kindImport:
			read := importer.ReadFile
			if o.Alone {
				read = importer.Read
			}
			for h, err := range read(path, data) {
				keepUnread(h, data)
				if !yield(h, err) || err != nil {
					return
				}
			}
		case kindUnknown:
			yield(nil, unknown(path, data))
		default:
			traffic, err := openTraffic(what, path, data)
			if err != nil {
				yield(nil, err)
				return
			}
			readTraffic(ctx, traffic, o, yield)
		}
	}
}

// unknownError says that a file is in no format that is known.
type unknownError struct{ text string }

func (e *unknownError) Error() string { return e.text }

func (e *unknownError) Is(target error) bool { return target == ErrUnknown }

// unknown says what a file is not, and what it may be.
func unknown(path string, data []byte) error {
	what := "it is in no format that is known"
	switch {
	case tooDeep(data):
		what = fmt.Sprintf("its values stand more than %d deep in each other", deepest)
	case has(data, "request") != "" && has(data, "response") != "":
		what = "it holds requests with their responses, in no format that is known"
	case imports.Half(data) != "":
		what = imports.Half(data)
	}
	return &unknownError{fmt.Sprintf("%s: no history: %s. Known are: %s", path, what, strings.Join(Formats(), "; "))}
}
