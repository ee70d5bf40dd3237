package scenarios

import (
	"bytes"
	"io"
	"sync"
)

// prefixWriter puts the name of a scenario before each line that its program
// writes. It writes whole lines only; end writes what is left of one. It is safe
// for concurrent use.
type prefixWriter struct {
	to     io.Writer
	prefix string

	mu   sync.Mutex
	rest []byte
}

// prefixed writes to to; nil: nowhere.
func prefixed(to io.Writer, name string) *prefixWriter {
	if to == nil {
		to = io.Discard
	}
	return &prefixWriter{to: to, prefix: name + " | "}
}

// longestLine is how many bytes a line may have before it is broken.
const longestLine = 64 << 10

// Write implements io.Writer. A program never fails because its output cannot be
// shown.
func (p *prefixWriter) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, data...)
	var lines []byte
	for {
		end := bytes.IndexByte(p.rest, '\n') + 1
		if end == 0 && len(p.rest) < longestLine {
			break
		}
		if end == 0 {
			end = len(p.rest)
		}
		lines = p.line(lines, p.rest[:end])
		p.rest = p.rest[end:]
	}
	if len(lines) > 0 {
		_, _ = p.to.Write(lines)
	}
	return len(data), nil
}

// line appends a line with its prefix and its end.
func (p *prefixWriter) line(to, line []byte) []byte {
	return append(append(append(to, p.prefix...), bytes.TrimSuffix(line, []byte("\n"))...), '\n')
}

// end writes a last line that has no end.
func (p *prefixWriter) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rest) > 0 {
		_, _ = p.to.Write(p.line(nil, p.rest))
		p.rest = nil
	}
}
