package transcripts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
)

// sealSize is how many hexadecimal digits of the hash a sum keeps: 64 bits are
// plenty against accidents, and a sum is no protection against malice.
const sealSize = 16

// sealed are the kinds of line that carry a sum.
func sealed(kind string) bool {
	switch kind {
	case "system", "tools", "exchange", "tool":
		return true
	}
	return false
}

// seal returns the sum of a line given in pieces: SHA-256 over the line as it
// is written, without line end and without the sum member and its comma.
func seal(pieces ...[]byte) string {
	hash := sha256.New()
	for _, piece := range pieces {
		hash.Write(piece)
	}
	return hex.EncodeToString(hash.Sum(nil))[:sealSize]
}

// checkSum takes the sum of a line and holds it against the line. Only an
// authored file may go without.
func (l *line) checkSum(authored bool) error {
	m := l.find("sum")
	if m == nil {
		if authored {
			return nil
		}
		return l.sealFault("the line has no sum")
	}
	m.taken = true
	if m.Value.Kind() != '"' {
		return l.fault("key %q must be a string, not %s", "sum", kindName(m.Value.Kind()))
	}
	if unquote(m.Value) != seal(l.text[:m.from], l.text[m.to:]) {
		return l.sealFault("the sum does not fit the line: it was changed after it was recorded")
	}
	return nil
}

func (l *line) sealFault(msg string) error {
	return &SyntaxError{
		File: l.file, Line: l.number, Msg: msg, Seal: true,
		Fix: "if the change is meant, run: tapetree rebase --reseal " + commandName(l.file),
	}
}

// commandName is how a command names the transcript at path: NAME for
// transcripts/NAME.jsonl, else the path.
func commandName(path string) string {
	slashed := filepath.ToSlash(path)
	base, isTranscript := strings.CutSuffix(slashed[strings.LastIndexByte(slashed, '/')+1:], ".jsonl")
	folder := strings.TrimPrefix(slashed[:strings.LastIndexByte(slashed, '/')+1], "./")
	if isTranscript && (folder == "" || folder == "transcripts/" || strings.HasSuffix(folder, "/transcripts/")) {
		return base
	}
	return path
}

// Reseal computes the sums of a transcript anew, line by line, and changes
// nothing else; changed is how many lines got another sum. A line without sum
// gets one unless the file is authored. An unfinished last line stays as it
// is. What does not begin with the header of a format that is known is refused.
// Errors are *SyntaxError.
func Reseal(path string, data []byte) (out []byte, changed int, err error) {
	authored := false
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, 0, emptyFile(path)
	}
	out = make([]byte, 0, len(data)+64)
	for number, text := range splitLines(data) {
		body := bytes.TrimRight(text, "\r\n")
		l, err := scan(path, number, body)
		if l.torn && len(body) == len(text) && number > 1 {
			return append(out, text...), changed, nil
		}
		if err == nil && number == 1 {
			err = newReader(path).resealable(l)
		}
		if err != nil {
			return nil, 0, err
		}
		kind := l.optString("kind")
		if kind == "header" {
			authored = l.optString("by") == Authored
		}
		fresh := body
		if sealed(kind) {
			fresh = l.reseal(authored)
		}
		if !bytes.Equal(fresh, body) {
			changed++
		}
		out = append(append(out, fresh...), text[len(body):]...)
	}
	return out, changed, nil
}

// resealable reads the first line as the header.
func (r *reader) resealable(first *line) error {
	read := *first // what reading takes out of it is wanted again
	read.members = slices.Clone(first.members)
	return r.readLine(&read)
}

// reseal returns the line with its right sum. A new sum stands before the
// response of an exchange, else last.
func (l *line) reseal(authored bool) []byte {
	from := bytes.LastIndexByte(l.text, '}')
	to := from
	switch m, status := l.find("sum"), l.find("status"); {
	case m != nil:
		from, to = m.from, m.to
	case authored:
		return l.text
	case status != nil:
		from, to = status.from, status.from
	}
	head, tail := l.text[:from], l.text[to:]
	return joinSum(head, seal(head, tail), tail)
}

// joinSum puts a sum between the two halves of a line.
func joinSum(head []byte, sum string, tail []byte) []byte {
	out := make([]byte, 0, len(head)+len(tail)+len(sum)+9)
	out = append(append(out, head...), `,"sum":"`...)
	out = append(append(out, sum...), '"')
	return append(out, tail...)
}

// splitLines yields the lines of a file with their numbers and line ends.
func splitLines(data []byte) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		for number := 1; len(data) > 0; number++ {
			end := bytes.IndexByte(data, '\n') + 1
			if end == 0 {
				end = len(data)
			}
			if !yield(number, data[:end]) {
				return
			}
			data = data[end:]
		}
	}
}
