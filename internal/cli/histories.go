package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/transcripts"
)

// historyPath is the file that an argument of a reading command names: a path,
// or a name in the transcripts folder. A file or a folder of that very name is
// meant where the transcripts folder has none.
func (a *app) historyPath(arg string) string {
	if isPath(arg) || filepath.Ext(arg) != "" && !strings.HasSuffix(arg, ".") && exists(arg) {
		return arg
	}
	named := filepath.Join(a.dir, "transcripts", strings.TrimSuffix(arg, ".jsonl")+".jsonl")
	if !exists(named) && exists(arg) {
		return arg
	}
	return named
}

// readHistories gives the sessions of the file that an argument names. Where
// there is none, the error says how one comes about.
func (a *app) readHistories(ctx context.Context, arg string) iter.Seq2[*transcripts.History, error] {
	return a.readHistoriesBy(ctx, arg, histories.Options{Redact: a.secrets()})
}

func (a *app) readHistoriesBy(ctx context.Context, arg string, o histories.Options) iter.Seq2[*transcripts.History, error] {
	path := a.historyPath(arg)
	return func(yield func(*transcripts.History, error) bool) {
		for h, err := range histories.Each(ctx, path, o) {
			if errors.Is(err, fs.ErrNotExist) {
				err = noTranscript(path, arg)
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// histories does the same for a name of the suite inside the program, where that
// is asked for.
func (a *app) histories(ctx context.Context, builtin bool, arg string) iter.Seq2[*transcripts.History, error] {
	if !builtin {
		return a.readHistories(ctx, arg)
	}
	data, err := fs.ReadFile(transcripts.Suite, arg+".jsonl")
	if err != nil {
		found, _ := a.openSource(true)
		missing := badInput("there is no transcript %q in the suite inside tapetree%s", arg, didYouMean(arg, found.names, ""))
		return func(yield func(*transcripts.History, error) bool) { yield(nil, missing) }
	}
	return histories.Parse(ctx, "builtin:transcripts/"+arg+".jsonl", data, histories.Options{})
}

// noTranscript says that there is no such file, which name was meant, or else
// how a transcript comes about.
func noTranscript(path, arg string) error {
	return &exitError{exitCannotRun, fmt.Errorf("there is no transcript %s%s", path, firstOf(
		didYouMean(strings.TrimSuffix(filepath.Base(arg), ".jsonl"), transcriptNames(filepath.Dir(path)), ""),
		": `tapetree record NAME -- COMMAND` records one of any program, `tapetree run --prompt TEXT --record NAME` one of tapetree's own runner"))}
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
