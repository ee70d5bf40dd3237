package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/internal/report"
)

// baseline is a file of findings that are known. Each is told by a fingerprint
// of what it is and in which file, not of where in it, so that it is the same
// after lines were added.
type baseline struct {
	path    string // "": none
	update  bool   // all that is found becomes known
	folder  string // absolute; names of files are told from here
	entries map[string]baselineEntry
	matched map[string]bool
	checked map[string]bool // files, as entries name them
	found   []baselineEntry
}

// baselineFile is the form of the file.
type baselineFile struct {
	Version  int             `json:"version"`
	Findings []baselineEntry `json:"findings"`
}

type baselineEntry struct {
	Fingerprint string `json:"fingerprint"`
	Code        string `json:"code"`
	File        string `json:"file"`
	Part        string `json:"part,omitzero"`
	Agent       string `json:"agent,omitzero"`
	Message     string `json:"message"`
}

const baselineVersion = 1

// openBaseline reads the file; one that is to be written need not exist.
func openBaseline(path string, update bool) (*baseline, error) {
	b := &baseline{path: path, update: update, entries: map[string]baselineEntry{}, matched: map[string]bool{}, checked: map[string]bool{}}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("find folder of %s: %w", path, err)
	}
	b.folder = folder
	if path == "" {
		return b, nil
	}
	data, err := files.ReadPath(path, files.Limit)
	if update && errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, badInput("read baseline %s: %w; --update-baseline writes one", path, err)
	}
	var read baselineFile
	if err := json.Unmarshal(data, &read, json.RejectUnknownMembers(true)); err != nil {
		return nil, badInput("%s: is no baseline: %w", path, err)
	}
	if read.Version != baselineVersion {
		return nil, badInput("%s: version %d of a baseline is not known, only %d", path, read.Version, baselineVersion)
	}
	for _, entry := range read.Findings {
		b.entries[entry.Fingerprint] = entry
	}
	return b, nil
}

// numbered are the places in a message that move when something before them is
// added or taken away.
var numbered = regexp.MustCompile(`\b(message|call|turn|turns|line) [0-9]+`)

// mark gives each finding of a history its fingerprint, and says which are
// known. Of equal ones the second, third and so on have their number in it.
func (b *baseline) mark(h *report.CheckFile) {
	name := b.name(h.File)
	counts := map[string]int{} // how often a finding came, by all that tells it
	if b.path != "" {          // without a baseline nothing is kept
		b.checked[name] = true
	}
	for i := range h.Findings {
		f := &h.Findings[i]
		message := numbered.ReplaceAllString(f.Message, "$1 N")
		told := fmt.Sprintf("%q %q %q %q %q", f.Code, name, h.Part, f.Agent, message)
		counts[told]++
		hash := sha256.Sum256(fmt.Appendf(nil, "%s %d", told, counts[told]))
		f.Fingerprint = hex.EncodeToString(hash[:12])
		if b.path == "" {
			continue
		}
		b.matched[f.Fingerprint] = true
		if f.Known != "" {
			continue
		}
		b.found = append(b.found, baselineEntry{f.Fingerprint, f.Code, name, h.Part, f.Agent, f.Message})
		if _, known := b.entries[f.Fingerprint]; known || b.update {
			f.Known = "it is in " + b.path
		}
	}
}

// name is a file as the baseline names it: from its folder, with slashes.
func (b *baseline) name(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		if relative, err := filepath.Rel(b.folder, absolute); err == nil {
			return filepath.ToSlash(relative)
		}
	}
	return filepath.ToSlash(path)
}

// stale names the entries of files that were checked and do not have them any
// more.
func (b *baseline) stale() []string {
	var list []string
	for fingerprint, entry := range b.entries {
		if !b.matched[fingerprint] && b.checked[entry.File] {
			list = append(list, entry.String())
		}
	}
	slices.Sort(list)
	return list
}

func (e baselineEntry) String() string {
	text := e.File + ":"
	for _, part := range []string{e.Part, e.Agent} {
		if part != "" {
			text += " " + part + ":"
		}
	}
	return text + " " + e.Code + ": " + e.Message
}

// write writes what was found in the place of what was known of the files that
// were checked; of others, what was known stays.
func (b *baseline) write() error {
	file := baselineFile{Version: baselineVersion, Findings: append([]baselineEntry{}, b.found...)}
	for _, entry := range b.entries {
		if !b.checked[entry.File] {
			file.Findings = append(file.Findings, entry)
		}
	}
	slices.SortFunc(file.Findings, func(x, y baselineEntry) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Part, y.Part), cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Code, y.Code),
			cmp.Compare(x.Message, y.Message), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	data, err := json.Marshal(file, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("write baseline %s: %w", b.path, err)
	}
	return writeFile(b.path, append(data, '\n'))
}
