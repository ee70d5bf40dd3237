package transcripts

import "github.com/tapetree/tapetree/runtime"

// Amend lets change put right what is only known when a recording ends: the
// header, and where exchanges belong whose agent was inferred. Close writes the
// file as change left it; the partial file keeps what was written before. Two
// exchanges at one place, or a place that is none, make Close fail. change must
// not keep the file. After a failed write nothing is changed.
func (w *Writer) Amend(change func(f *File)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		change(w.file)
	}
}

// IsAgent reports whether path names an agent or a side conversation in the
// form that transcripts hold: root/2.1, root2, root/?1, root/2.1#2,
// root~title.1.
func IsAgent(path runtime.Path) bool {
	_, ok := agentKey(path)
	return ok
}
