package transcripts

import "bytes"

// scannedLine is a line as far as it is read without knowing those before.
type scannedLine struct {
	number     int
	line       *line
	err        error
	unfinished bool // it breaks off, and nothing comes after it
}

// linesAhead is how many lines can wait to be read.
const linesAhead = 256

// scanAhead scans the lines of data, in their order, beside the reading of them:
// on a long file that is a third of the work. It ends with the first error, or
// when stop is called.
func scanAhead(path string, data []byte, lean bool) (lines <-chan scannedLine, stop func()) {
	queue, stopped := make(chan scannedLine, linesAhead), make(chan struct{})
	go func() {
		defer close(queue)
		for number, text := range splitLines(data) {
			s := scannedLine{number: number}
			body := bytes.TrimRight(text, "\r\n")
			switch {
			case len(body) == 0:
				s.err = &SyntaxError{File: path, Line: number, Msg: "blank line", Fix: "remove it"}
			default:
				s.line, s.err = scan(path, number, body)
				s.line.lean = lean
				s.unfinished = s.err != nil && s.line.torn && len(body) == len(text)
			}
			select {
			case queue <- s:
			case <-stopped:
				return
			}
			if s.err != nil {
				return
			}
		}
	}()
	return queue, func() { close(stopped) }
}
