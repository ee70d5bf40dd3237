package record

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// WriteHistory writes a history of messages as a transcript at path, paths and
// secrets replaced as in a recording, and returns it with what it could not hold.
// Without an answer of a model nothing is written: the error holds
// transcripts.ErrEmpty.
func WriteHistory(h *transcripts.History, path string, header transcripts.Header, fold *runtime.Folder, redact *Redactor) (*transcripts.File, []string, error) {
	if redact == nil {
		redact = NewRedactor(nil)
	}
	told, lost := h.TranscriptWith(func(raw jsontext.Value) jsontext.Value {
		return redact.JSON(fold.FoldJSON(raw))
	})
	header.Recorded, header.Models, header.Imported = told.Header.Recorded, told.Header.Models, told.Header.Imported
	w, err := transcripts.Create(path, header)
	if err != nil {
		return nil, lost, err
	}
	for _, x := range told.Exchanges {
		if err := w.Exchange(x); err != nil {
			_, _ = w.Keep() // the failure is told
			return nil, lost, err
		}
	}
	file, err := w.Close(told.Timing, told.End)
	return file, lost, err
}
