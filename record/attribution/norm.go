package attribution

import (
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// thinking is what models write to themselves. Clients add it to an answer, or
// take it out, when they send the answer back.
var thinking = regexp.MustCompile(`(?s)<think>.*?</think>`)

// spoken is what an agent said in one turn: the part of it that every client
// sends back.
type spoken struct {
	text  string // as sent
	calls []runtime.Call
}

// plain is the text that counts: none beside calls, for clients shorten it
// there.
func (s spoken) plain() string {
	if len(s.calls) > 0 {
		return ""
	}
	text := s.text
	if strings.Contains(text, "<think>") {
		text = thinking.ReplaceAllString(text, "")
	}
	return strings.TrimSpace(text)
}

// and returns what two messages in a row say together: some clients send one
// answer back as two messages.
func (s spoken) and(m runtime.Message) spoken {
	s.text += m.Content
	s.calls = append(s.calls[:len(s.calls):len(s.calls)], m.Calls...)
	return s
}

// digest is the same for what is the same in content.
func (s spoken) digest() sum {
	fields := []string{"assistant", s.plain()}
	for _, c := range s.calls {
		fields = append(fields, c.Name, normalArguments(c.Arguments))
	}
	return digest(fields...)
}

// normalArguments gives arguments that mean the same one form: members sorted,
// nothing and null as an empty object. What is no JSON stays as it is.
func normalArguments(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return "{}"
	}
	value := jsontext.Value(text)
	tolerant := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if err := value.Canonicalize(tolerant...); err != nil {
		return text
	}
	return string(value)
}

// sum is a digest of a conversation or of a text.
type sum [16]byte

// digest hashes texts so that no two lists of texts run into each other.
func digest(fields ...string) sum {
	h := sha256.New()
	var size [8]byte
	for _, f := range fields {
		binary.LittleEndian.PutUint64(size[:], uint64(len(f)))
		h.Write(size[:])
		h.Write([]byte(f))
	}
	return sum(h.Sum(nil)[:len(sum{})])
}

// squash makes all white space single blanks.
func squash(text string) string { return strings.Join(strings.Fields(text), " ") }
