package imports

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of what is read beside a session, so that a folder of other things
// costs nothing to speak of.
const (
	besideFile = 1 << 28 // bytes of one agent's file
	besideHead = 1 << 20 // bytes looked at to see which session a file is of
	besideMax  = 10_000  // files
)

// beside reads the agents of the session that have files of their own:
// SESSION/subagents/agent-ID.jsonl, before 2.1 agent-ID.jsonl in the session's
// own folder. A file that cannot be read is a warning.
func (s *claudeSession) beside(file string, dir fs.FS) {
	base := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	own, _ := fs.Glob(dir, path.Join(globLiteral(base), "subagents", "agent-*.jsonl"))
	near, _ := fs.Glob(dir, "agent-*.jsonl")
	names := append(own, near...)
	if main := s.byKey[""]; main == nil || !main.says() {
		return // it is the file of an agent
	}
	if len(names) > besideMax {
		s.builder.Warn(0, "more files stand beside it than are looked at; the rest was left out")
		names = names[:besideMax]
	}
	slices.Sort(names)
	for _, name := range names {
		s.besideOne(dir, name)
	}
}

func (s *claudeSession) besideOne(dir fs.FS, name string) {
	key := strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "agent-"), ".jsonl")
	if strings.HasPrefix(name, "agent-") && !s.mine(dir, name) {
		return
	}
	data, err := readRegular(dir, name, besideFile)
	if err != nil {
		s.builder.Warn(0, name+" beside it cannot be read, and was left out")
		return
	}
	var lines []*claudeLine
	objectLines(data, claudeNames, func(_ int, msg string) {
		s.builder.Warn(0, name+" beside it: "+msg)
	}, func(number int, _ jsontext.Value, m lineMembers) {
		lines = append(lines, parseClaudeLine(number, m))
	})
	if len(lines) == 0 {
		return
	}
	s.merge(key, lines)
	if meta, err := readRegular(dir, strings.TrimSuffix(name, ".jsonl")+".meta.json", besideHead); err == nil {
		m := members(meta, "toolUseId", "description")
		a := s.agent(key)
		if call := text(m.of("toolUseId")); call != "" {
			a.call = call
		}
		a.title = text(m.of("description"))
	}
}

// mine reports that a file beside the session is of it: it names an agent of the
// session, or its first line says so.
func (s *claudeSession) mine(dir fs.FS, name string) bool {
	head, err := readHead(dir, name, besideHead)
	if err != nil || s.id == "" {
		return false
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return text(members(line, "sessionId").of("sessionId")) == s.id
}

// readRegular reads a regular file of at most limit bytes.
func readRegular(dir fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(dir, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, fs.ErrInvalid
	}
	return readHead(dir, name, limit)
}

// readHead reads the first bytes of a regular file.
func readHead(dir fs.FS, name string, limit int64) ([]byte, error) {
	if info, err := fs.Stat(dir, name); err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// globLiteral writes a name so that a pattern means just it.
func globLiteral(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
