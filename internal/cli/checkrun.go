package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/internal/report"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

// checker checks files, several at once, and reports them in order.
type checker struct {
	app        *app
	jobs       int
	failOn     string
	update     bool
	thresholds scenarios.Thresholds
	known      *baseline
	wanted     wanted
}

// checked is what became of one file.
type checked struct {
	histories []*report.CheckFile
	passed    bool // it is no history, and nobody said that it was one
	fault     any  // what the checking panicked with
}

// together is how many bytes of files are held at once, unless one file alone
// has more.
const together = 64 << 20

// all checks the files. What is found is reported in the order of the files, as
// soon as those before are done, and then let go: memory does not grow with
// their number.
func (c *checker) all(ctx context.Context, tasks []checkTask, to report.CheckWriter) (*report.Check, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer frugal(largest(tasks))()
	room := newRoom(together)
	results := make(chan chan checked, c.jobs) // in the order of the files
	go func() {
		defer close(results)
		for _, task := range tasks {
			done := make(chan checked, 1)
			select {
			case results <- done:
			case <-ctx.Done():
				return
			}
			size := sizeOf(task.path)
			room.take(size)
			go func() {
				defer room.give(size)
				done <- c.file(ctx, task)
			}()
		}
	}()
	sum := &report.Check{}
	var failed error
	for done := range results {
		result := <-done
		if result.fault != nil {
			panic(result.fault)
		}
		if failed != nil {
			continue
		}
		if result.passed {
			sum.Passed++
		}
		for _, h := range result.histories {
			c.known.mark(h)
			sum.Add(h)
			if failed = to.File(h); failed != nil {
				cancel()
				break
			}
		}
	}
	if failed != nil {
		return nil, failed
	}
	if ctx.Err() == nil && !c.update {
		sum.Stale = c.known.stale()
	}
	return sum, to.Close(sum)
}

// file checks the histories of one file.
func (c *checker) file(ctx context.Context, task checkTask) (result checked) {
	defer func() {
		if fault := recover(); fault != nil {
			result = checked{fault: fmt.Sprintf("check %s: %v", task.path, fault)}
		}
	}()
	o := histories.Options{Redact: c.app.secrets(), Lean: true}
	each := histories.Each(ctx, task.path, o)
	if task.suite != "" {
		each = c.app.histories(ctx, true, task.suite)
	}
	for h, err := range each {
		switch {
		case ctx.Err() != nil:
			return result
		case err != nil && task.listed && errors.Is(err, histories.ErrUnknown):
			result.passed = true
		case err != nil:
			result.histories = append(result.histories, &report.CheckFile{File: task.path, Error: c.reason(task.path, err)})
		default:
			result.histories = append(result.histories, c.history(task.path, h))
		}
	}
	return result
}

// reason says why a file could not be read, its name first.
func (c *checker) reason(path string, err error) string {
	text := oneLine(c.app.secrets().Mask(err.Error()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + ": there is no such file"
	case strings.Contains(text, path):
		return text
	}
	return path + ": " + text
}

// history checks one history.
func (c *checker) history(path string, h *transcripts.History) *report.CheckFile {
	count := h.Count()
	f := &report.CheckFile{File: path, Part: h.Part, Format: h.Format, Agents: count.Agents, Messages: count.Messages, Calls: count.Calls}
	for _, w := range h.Warnings {
		f.Unread = append(f.Unread, report.CheckPlace{Line: w.Line, Message: w.Msg})
	}
	wanted := c.wanted.of(path)
	for _, found := range scenarios.CheckHistory(h, scenarios.CheckOptions{Thresholds: c.thresholds}) {
		finding := report.CheckFinding{Code: found.Code, Severity: found.Weight(), Agent: string(found.Agent), Turn: found.Turn,
			Line: h.Spots[transcripts.TurnKey{Agent: found.Agent, Turn: found.Turn}].Line, Message: c.app.secrets().Mask(found.Message), Known: wanted[found.Code]}
		f.Findings = append(f.Findings, finding)
	}
	return f
}

// wanted knows which findings the scenario of a transcript wants.
type wanted struct {
	mu       sync.Mutex
	projects map[string]map[string]map[string]string // folder, transcript and code to what wants it
}

// of returns the codes that are wanted in a transcript, each with the file that
// says so. A scenario that cannot be read wants nothing: replay says so.
func (w *wanted) of(path string) map[string]string {
	folder := filepath.Dir(path)
	project, source := filepath.Dir(folder), scenarios.DirSource(filepath.Dir(folder))
	if strings.HasPrefix(path, builtinPlace) {
		project, source = builtinPlace, scenarios.BuiltinSource()
	} else if filepath.Base(folder) != "transcripts" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.projects[project] == nil {
		if w.projects == nil {
			w.projects = map[string]map[string]map[string]string{}
		}
		w.projects[project] = wantedIn(source)
	}
	return w.projects[project][strings.TrimSuffix(filepath.Base(path), ".jsonl")]
}

func wantedIn(source scenarios.Source) map[string]map[string]string {
	list := map[string]map[string]string{}
	names, err := source.Names()
	if err != nil {
		return list
	}
	for _, name := range names {
		s, err := source.Load(name)
		if err != nil || len(s.Want.Findings) == 0 {
			continue
		}
		codes := map[string]string{}
		for _, code := range s.Want.Findings {
			codes[code] = "scenarios/" + name + ".txtar wants it"
		}
		list[firstOf(s.Transcript, name)] = codes
	}
	return list
}

// historyFiles lists the regular files below a folder, in the order of their
// paths. What a name hides that begins with a dot is passed over.
func historyFiles(folder string) ([]checkTask, error) {
	var list []checkTask
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == folder:
			return files.Reason(err)
		case err != nil:
			return nil
		case path != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case entry.Type().IsRegular():
			list = append(list, checkTask{path: path, listed: true})
		}
		return nil
	})
	return list, err
}

// largest is how many bytes the largest file has.
func largest(tasks []checkTask) int64 {
	size := int64(0)
	for _, task := range tasks {
		size = max(size, sizeOf(task.path))
	}
	return size
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// room is what may be taken at once: who wants more than all of it waits until
// nobody else has any.
type room struct {
	mu         sync.Mutex
	freed      *sync.Cond
	size, used int64
}

func newRoom(size int64) *room {
	r := &room{size: size}
	r.freed = sync.NewCond(&r.mu)
	return r
}

func (r *room) take(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.used > 0 && r.used+n > r.size {
		r.freed.Wait()
	}
	r.used += n
}

func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	r.freed.Broadcast()
}
