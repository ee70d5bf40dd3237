package imports

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Apart returns those of the files that are no part of another one of them: who
// reads a session's file has read the files of its subagents beside it (see
// Importer.Beside), and to read them again on their own would count them twice.
// A file of a subagent whose session is not among them stays. Of each file at
// most its beginning is looked at, and of most only the name; one that cannot be
// read stays.
func Apart(paths []string) []string {
	p := &parts{listed: map[string]bool{}, sessions: map[string][]claudeHead{}, rollouts: map[string]map[string]string{}}
	for _, path := range paths {
		p.listed[filepath.Clean(path)] = true
	}
	p.threads(paths)
	var list []string
	for _, path := range paths {
		if !p.ofSession(filepath.Clean(path)) && !p.ofThread(filepath.Clean(path)) {
			list = append(list, path)
		}
	}
	return list
}

// parts knows which files belong together.
type parts struct {
	listed   map[string]bool
	sessions map[string][]claudeHead      // of Claude Code, by folder
	rollouts map[string]map[string]string // of Codex: by folder, the parent of each thread
	own      map[string]string            // the thread of a rollout, by its path
}

// claudeHead is what the beginning of a session of Claude Code says.
type claudeHead struct {
	id   string
	says bool // it has a message of its own, so that it is no file of an agent
}

// headOf reads the whole lines at the beginning of a file.
func headOf(path string) [][]byte {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer folder.Close()
	head, err := readHead(folder.FS(), filepath.Base(path), besideHead)
	if err != nil {
		return nil
	}
	lines := bytes.Split(head, []byte{'\n'})
	if len(head) == besideHead {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func claudeHeadOf(path string) (h claudeHead) {
	for _, line := range headOf(path) {
		m := members(line, "type", "sessionId", "isSidechain", "message")
		if h.id == "" {
			h.id = text(m.of("sessionId"))
		}
		kind := text(m.of("type"))
		h.says = h.says || (kind == "user" || kind == "assistant") && !isTrue(m.of("isSidechain")) && m.of("message").Kind() == '{'
		if h.id != "" && h.says {
			break
		}
	}
	return h
}

// ofSession reports that a file is the one of an agent of Claude Code, and that
// of its session is listed too.
func (p *parts) ofSession(path string) bool {
	folder, name := filepath.Split(path)
	if !strings.HasPrefix(name, "agent-") || filepath.Ext(name) != ".jsonl" {
		return false
	}
	folder = filepath.Clean(folder)
	if session := filepath.Dir(folder) + ".jsonl"; filepath.Base(folder) == "subagents" && p.listed[session] && claudeHeadOf(session).says {
		return true
	}
	first := headOf(path)
	if len(first) == 0 {
		return false
	}
	id := text(members(first[0], "sessionId").of("sessionId"))
	return id != "" && slices.Contains(p.sessionsIn(folder), claudeHead{id, true})
}

// sessionsIn are the listed sessions of a folder.
func (p *parts) sessionsIn(folder string) []claudeHead {
	list, known := p.sessions[folder]
	if known {
		return list
	}
	for path := range p.listed {
		if filepath.Dir(path) == folder && filepath.Ext(path) == ".jsonl" && !strings.HasPrefix(filepath.Base(path), "agent-") {
			list = append(list, claudeHeadOf(path))
		}
	}
	p.sessions[folder] = list
	return list
}

// threads notes which threads of Codex the rollouts hold, and who started them.
// Of two files of one thread the first counts, as Beside has it.
func (p *parts) threads(paths []string) {
	p.own = map[string]string{}
	for _, path := range slices.Sorted(slices.Values(paths)) {
		path = filepath.Clean(path)
		if name := filepath.Base(path); !strings.HasPrefix(name, "rollout-") || filepath.Ext(name) != ".jsonl" {
			continue
		}
		for _, line := range headOf(path) {
			m := members(line, "type", "payload")
			if text(m.of("type")) != "session_meta" {
				continue
			}
			var t codexThread
			t.meta(m.of("payload"))
			folder := filepath.Dir(path)
			if p.rollouts[folder] == nil {
				p.rollouts[folder] = map[string]string{}
			}
			if _, twice := p.rollouts[folder][t.id]; t.id != "" && !twice {
				p.rollouts[folder][t.id], p.own[path] = t.parent, t.id
			}
			break
		}
	}
}

// ofThread reports that a file is a rollout of Codex whose thread another one
// started that is listed too, and that this goes back to one that nobody listed
// started.
func (p *parts) ofThread(path string) bool {
	id := p.own[path]
	if id == "" {
		return false
	}
	known := p.rollouts[filepath.Dir(path)]
	seen := map[string]bool{}
	for at := id; ; {
		parent := known[at]
		if _, listed := known[parent]; !listed || parent == "" {
			return at != id
		}
		if seen[at] {
			return false
		}
		seen[at], at = true, parent
	}
}
