package cli

import (
	"bytes"
	"io"
)

// lineWriter gives each line on its way to where it goes through a function. end
// gives the last one where it has no line end.
type lineWriter struct {
	to   io.Writer
	each func(line string) string
	rest []byte // of a line that is not whole
}

func (w *lineWriter) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if end == 0 {
		w.rest = append(w.rest, p...)
		return len(p), nil
	}
	var out bytes.Buffer
	whole := append(w.rest, p[:end]...)
	for line := range bytes.Lines(whole) {
		out.WriteString(w.each(string(line)))
	}
	w.rest = bytes.Clone(p[end:])
	if _, err := w.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *lineWriter) end() error {
	if len(w.rest) == 0 {
		return nil
	}
	_, err := io.WriteString(w.to, w.each(string(w.rest)))
	w.rest = nil
	return err
}

// masked hides secrets on their way to out, as those of the environment and what
// looks like a key.
func (a *app) masked(out io.Writer) *lineWriter {
	return &lineWriter{to: out, each: a.secrets().Mask}
}

// secretCount counts the secrets in what is written, and lets it pass.
type secretCount struct {
	lines *lineWriter
	found int
}

func (a *app) countSecrets(to io.Writer) *secretCount {
	c := &secretCount{}
	c.lines = &lineWriter{to: to, each: func(line string) string {
		c.found += a.secrets().Count(line)
		return line
	}}
	return c
}
