package doctor

import (
	"bytes"
	"strings"
)

// Apply writes rules into the volatile section of a scenario file, after those
// that are there, and makes the section at the end of the file if there is none.
// Everything else stays as it is, comments and line ends too. Rules that the
// section has are not written again, so a second Apply changes nothing.
func Apply(scenario []byte, rules []string) []byte {
	from, to := volatileSection(scenario)
	have := map[string]bool{}
	if from >= 0 {
		for line := range bytes.Lines(scenario[from:to]) {
			have[string(bytes.TrimSpace(line))] = true
		}
	}
	end := "\n"
	if bytes.Contains(scenario, []byte("\r\n")) {
		end = "\r\n"
	}
	var text strings.Builder
	for _, rule := range rules {
		if !have[rule] {
			have[rule] = true
			text.WriteString(rule + end)
		}
	}
	if text.Len() == 0 {
		return scenario
	}
	if from < 0 {
		to = len(scenario)
		head := "-- volatile --" + end
		if to > 0 && scenario[to-1] != '\n' {
			head = end + head
		}
		return insert(scenario, to, head+text.String())
	}
	// Blank lines at the end of the section part it from the next one.
	for {
		line := lastLine(scenario[from:to])
		if line == nil || len(bytes.TrimSpace(line)) > 0 {
			break
		}
		to -= len(line)
	}
	added := text.String()
	if to > 0 && scenario[to-1] != '\n' {
		added = end + strings.TrimSuffix(added, end)
	}
	return insert(scenario, to, added)
}

func insert(text []byte, at int, added string) []byte {
	out := make([]byte, 0, len(text)+len(added))
	out = append(out, text[:at]...)
	out = append(out, added...)
	return append(out, text[at:]...)
}

// lastLine is the last line of text, line end included; nil of the empty text.
func lastLine(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	return text[bytes.LastIndexByte(text[:len(text)-1], '\n')+1:]
}

// volatileSection is where the body of the volatile section stands; from is -1
// where there is none.
func volatileSection(scenario []byte) (from, to int) {
	from, at := -1, 0
	for line := range bytes.Lines(scenario) {
		text := string(bytes.TrimRight(bytes.TrimPrefix(line, []byte("\ufeff")), "\r\n"))
		marker := len(text) >= 7 && strings.HasPrefix(text, "-- ") && strings.HasSuffix(text, " --")
		if marker && from >= 0 {
			return from, at
		}
		at += len(line)
		if marker && strings.TrimSpace(text[3:len(text)-3]) == "volatile" {
			from = at
		}
	}
	return from, at
}
