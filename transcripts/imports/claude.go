package imports

import (
	"io/fs"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
)

// claudeCode reads the sessions of Claude Code, one a file, of all versions from
// 1.0 on, and what its SDK streams. Subagents are told apart by their name, or
// by the chain of their messages, and hang under the call that started them.
// Their messages stand in the session's file, in lines of its progress, or in
// files beside it.
var claudeCode = Importer{
	Name: formatClaude, Title: "Claude Code session",
	Detect: isClaude,
	Read: func(path string, data []byte) iter.Seq2[*transcripts.History, error] {
		return readClaude(path, data, nil)
	},
	Beside: readClaude,
}

const formatClaude = "claude-code"

func readClaude(path string, data []byte, beside fs.FS) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		s := newClaudeSession(path)
		objectLines(data, claudeNames, s.builder.Warn, func(number int, raw jsontext.Value, m lineMembers) {
			if text(m.of("type")) == "" {
				s.stray(strayKind(raw), number)
				return
			}
			if s.id == "" {
				s.id = text(m.of("sessionId"))
			}
			s.take(parseClaudeLine(number, m))
		})
		if beside != nil {
			s.beside(path, beside)
		}
		if h := s.history(); h != nil {
			yield(h, nil)
			return
		}
		yield(nil, nothing(path, s.builder.Warnings()))
	}
}
