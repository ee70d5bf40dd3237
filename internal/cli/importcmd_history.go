package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

// importHistories imports a file of histories. Of several the second shows that
// there are several, so each is written when the next one is there.
func (a *app) importHistories(ctx context.Context, o *importOptions, path string, data []byte, base string) error {
	code, count, written := exitOK, 0, 0
	var last *transcripts.History
	var empty error // of a session in which no model answered
	write := func(name string) error {
		found, err := a.importHistory(ctx, o, last, data, name)
		switch {
		case errors.Is(err, transcripts.ErrEmpty):
			if empty != nil {
				fmt.Fprintf(a.err, "tapetree: %s\n", oneLine(a.secrets().Mask(empty.Error())))
			}
			empty = err
			return nil
		case err == nil:
			written++
		}
		code = worse(code, found)
		return err
	}
	for h, err := range histories.Parse(ctx, path, data, histories.Options{Redact: a.secrets()}) {
		if err != nil {
			return endedEarly(ctx, err)
		}
		if last != nil {
			if err := write(fmt.Sprintf("%s-%d", base, count)); err != nil {
				return err
			}
		}
		last = h
		count++
	}
	if last == nil {
		return badInput("%s: it holds no message of an agent", path)
	}
	name := base
	if count > 1 {
		name = fmt.Sprintf("%s-%d", base, count)
	}
	if err := write(name); err != nil {
		return err
	}
	if empty != nil {
		return empty
	}
	return silent(code)
}

// importHistory writes one history as a transcript, and judges it. data is the
// file, which a transcript is copied from.
func (a *app) importHistory(ctx context.Context, o *importOptions, h *transcripts.History, data []byte, name string) (int, error) {
	source := scenarios.DirSource(a.dir)
	to := source.TranscriptPath(name)
	if err := o.free(to); err != nil {
		return exitOK, err
	}
	for _, w := range h.Warnings {
		a.warnImported(w.In(h.Path))
	}
	if h.File != nil {
		if err := writeFile(to, data); err != nil {
			return exitOK, err
		}
		copied, err := transcripts.Parse(to, data)
		if err != nil {
			return exitOK, err
		}
		return a.judgeImported(ctx, source, copied, name, h.Path)
	}
	f, lost, err := record.WriteHistory(h, to, transcripts.Header{
		Name: name, By: fmt.Sprintf("tapetree %s from %s", version(), h.Format),
	}, o.folder(), a.secrets())
	a.sayLost(fmt.Sprintf("lost of %s, for no exchange holds it:", h.Name()), lost)
	switch {
	case errors.Is(err, transcripts.ErrEmpty):
		return exitOK, fmt.Errorf("import %s: it holds no answer of a model: %w", h.Name(), err)
	case err != nil:
		return exitOK, err
	}
	return a.judgeImported(ctx, source, f, name, h.Name())
}
