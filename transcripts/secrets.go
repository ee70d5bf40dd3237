package transcripts

import (
	"bytes"
	"fmt"
	"regexp"
)

// secretNumbers gives the placeholders {{secret:KIND:N}} of a file new
// numbers, from 1 for each kind, in the order they appear. Nil changes
// nothing.
type secretNumbers struct {
	known map[string]int // by KIND:N
	next  map[string]int // by KIND
}

func newSecretNumbers() *secretNumbers {
	return &secretNumbers{known: map[string]int{}, next: map[string]int{}}
}

// secretPattern also takes the braces before a placeholder, which make it a
// literal text.
var secretPattern = regexp.MustCompile(`(\{\{)?\{\{secret:([^:{}"\\]+):([0-9]+)\}\}`)

func (s *secretNumbers) renumber(text []byte) []byte {
	if s == nil || !bytes.Contains(text, []byte("{{secret:")) {
		return text
	}
	return secretPattern.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := secretPattern.FindSubmatch(found)
		if len(parts[1]) > 0 {
			return found
		}
		kind, name := string(parts[2]), string(parts[2])+":"+string(parts[3])
		if s.known[name] == 0 {
			s.next[kind]++
			s.known[name] = s.next[kind]
		}
		return fmt.Appendf(nil, "{{secret:%s:%d}}", kind, s.known[name])
	})
}
