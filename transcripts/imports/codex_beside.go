package imports

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"slices"
)

// beside reads the rollouts in the same folder of the threads that the session
// started, and of those that they started.
func (s *codexSession) beside(path string, root *codexThread, dir fs.FS) {
	names, _ := fs.Glob(dir, "rollout-*.jsonl")
	slices.Sort(names)
	if len(names) > besideMax {
		s.builder.Warn(0, "more files stand beside it than are looked at; the rest was left out")
		names = names[:besideMax]
	}
	type found struct{ name, id string }
	of := map[string][]found{} // by parent
	for _, name := range names {
		if name == filepath.Base(path) {
			continue
		}
		head, err := readHead(dir, name, besideHead)
		if err != nil {
			continue
		}
		line, _, _ := bytes.Cut(head, []byte{'\n'})
		var t codexThread
		m := members(line, "type", "payload") // of a line that is longer than the head, nothing
		if text(m.of("type")) == "session_meta" {
			t.meta(m.of("payload"))
		}
		if t.parent != "" && t.id != "" {
			of[t.parent] = append(of[t.parent], found{name, t.id})
		}
	}
	s.of = map[string][]*codexThread{}
	queue := []string{root.id}
	known := map[string]bool{root.id: true}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, one := range of[parent] {
			if known[one.id] {
				continue
			}
			known[one.id] = true
			data, err := readRegular(dir, one.name, besideFile)
			if err != nil {
				s.builder.Warn(0, one.name+" beside it cannot be read, and was left out")
				continue
			}
			t := parseCodex(data, false, func(_ int, msg string) { s.builder.Warn(0, one.name+" beside it: "+msg) })
			s.threads[t.id] = t
			s.of[parent] = append(s.of[parent], t)
			queue = append(queue, t.id)
		}
	}
}
