package runtime

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words of the placeholders, in the order in which they claim a path that
// is given for two of them.
var folderWords = [...]string{"workspace", "tmp", "home"}

// Folder exchanges paths of this machine for the placeholders {{workspace}},
// {{tmp}} and {{home}}, and back. A nil *Folder changes nothing. It is
// immutable and safe for concurrent use.
//
// A run of two or more braces that stands before one of our words by itself
// is written twice ("{{tmp" becomes "{{{{tmp"); a placeholder after n braces
// of the text has 2n+1 of them. So every folded text has one meaning, and
// Expand(Fold(x)) == x. Only where a word has several spellings is the first
// one what Expand writes.
type Folder struct {
	needles []needle                 // longest first
	paths   [len(folderWords)]string // what Expand writes; "" unknown
	hints   []string                 // one of them is in any text that holds a needle
}

// needle is one spelling of one path.
type needle struct {
	path string
	word int
}

// NewFolder takes the spellings of each path, the one to expand to first.
// Spellings that are empty, relative or a file system's root are left out.
func NewFolder(workspace, tmp, home []string) *Folder {
	f := &Folder{}
	seen := map[string]bool{}
	for word, spellings := range [][]string{workspace, tmp, home} {
		for _, given := range spellings {
			for _, p := range spellingsOf(given) {
				if f.paths[word] == "" {
					f.paths[word] = p
				}
				if !seen[p] {
					seen[p] = true
					f.needles = append(f.needles, needle{p, word})
				}
			}
		}
	}
	slices.SortStableFunc(f.needles, func(a, b needle) int { return cmp.Compare(len(b.path), len(a.path)) })
	for _, n := range f.needles {
		f.hints = append(f.hints, hintOf(n.path))
	}
	slices.Sort(f.hints)
	f.hints = slices.Compact(f.hints)
	return f
}

// spellingsOf cleans a path. Of a Windows path it returns both slashes and
// both cases of the drive letter, as given first.
func spellingsOf(given string) []string {
	if strings.HasPrefix(given, "/") {
		if clean := path.Clean(given); clean != "/" && clean != "//" {
			return []string{clean}
		}
		return nil
	}
	clean := strings.TrimRight(given, `\/`)
	if strings.HasPrefix(clean, `\\`) && len(clean) > 2 {
		return []string{clean}
	}
	if len(clean) < 4 || clean[1] != ':' || clean[2] != '\\' && clean[2] != '/' || !unicode.IsLetter(rune(clean[0])) {
		return nil
	}
	var all []string
	other := string(clean[0]^0x20) + clean[1:]
	for _, p := range []string{clean, other} {
		all = append(all, p)
		for _, slashed := range []string{strings.ReplaceAll(p, `\`, "/"), strings.ReplaceAll(p, "/", `\`)} {
			if !slices.Contains(all, slashed) {
				all = append(all, slashed)
			}
		}
	}
	return all
}

// hintOf returns the longest piece of p that JSON writes in one way only.
func hintOf(p string) string {
	pieces := strings.FieldsFunc(p, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
	if len(pieces) == 0 {
		return ""
	}
	return slices.MaxFunc(pieces, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// Fold writes placeholders for paths: the longest first, whole path components
// only, so a path /tmp/ws is found neither in /tmp/ws2 nor in /x/tmp/ws.
func (f *Folder) Fold(text string) string {
	if f == nil {
		return text
	}
	return ApplyEdits(text, f.FoldEditor().Find(Spot{Text: text}))
}

// Expand writes paths for placeholders. A placeholder whose path is not known
// stays.
func (f *Folder) Expand(text string) string {
	if f == nil {
		return text
	}
	return ApplyEdits(text, f.expandEdits(text))
}

// FoldJSON folds inside the strings of a JSON value, however they are escaped,
// and in JSON inside such a string, such as the arguments of a call. Bytes
// outside the paths stay as they are. What is no JSON is folded as text.
func (f *Folder) FoldJSON(raw []byte) []byte { return editJSON(raw, f.FoldEditor()) }

// ExpandJSON is the inverse of FoldJSON, but for the escaping inside a path.
func (f *Folder) ExpandJSON(raw []byte) []byte { return editJSON(raw, f.ExpandEditor()) }

func editJSON(raw []byte, e Editor) []byte {
	text := string(raw)
	edits := e.Edits(Spot{Text: text})
	if len(edits) == 0 {
		return raw
	}
	return []byte(ApplyEdits(text, edits))
}

// FoldEditor is the editor behind FoldJSON, for texts that come in pieces.
func (f *Folder) FoldEditor() Editor {
	if f == nil {
		return Editor{Maybe: func(string) bool { return false }}
	}
	return Editor{
		Maybe: f.maybe,
		Find:  func(s Spot) []Edit { return f.foldEdits(s) },
		Keep:  keepBraces,
	}
}

// ExpandEditor is the editor behind ExpandJSON, for texts that come in pieces.
func (f *Folder) ExpandEditor() Editor {
	if f == nil {
		return Editor{Maybe: func(string) bool { return false }}
	}
	return Editor{Maybe: f.maybe, Find: func(s Spot) []Edit {
		if s.Number {
			return nil
		}
		return f.expandEdits(s.Text)
	}}
}

// maybe is one rule for both directions, so that both skip the same texts.
func (f *Folder) maybe(text string) bool {
	if strings.Contains(text, `\u00`) { // braces, slashes or letters in disguise
		return true
	}
	for _, hint := range f.hints {
		if strings.Contains(text, hint) {
			return true
		}
	}
	if !strings.Contains(text, "{{") {
		return false
	}
	return slices.ContainsFunc(folderWords[:], func(word string) bool { return strings.Contains(text, word) })
}

// keepBraces drops the paths of a text that folding would turn into JSON, as a
// Windows path in wrongly escaped JSON does: there Expand would escape it.
func keepBraces(edits []Edit) []Edit {
	return slices.DeleteFunc(edits, func(e Edit) bool { return strings.Trim(e.New, "{") != "" })
}

func (f *Folder) foldEdits(s Spot) []Edit {
	if s.Number {
		return nil
	}
	text := s.Text
	var edits []Edit
	taken := map[int]bool(nil)
	for _, n := range f.needles {
		for at := 0; ; {
			i := strings.Index(text[at:], n.path)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(n.path)
			at = start + 1
			if taken[start] || !pathStarts(text, start) || !pathEnds(text, end) {
				continue
			}
			if taken == nil {
				taken = map[int]bool{}
			}
			taken[start] = true
			edits = append(edits, placeholderEdit(text, start, end, n.word))
			at = end
		}
	}
	edits = appendBraces(edits, text)
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	return edits
}

func placeholderEdit(text string, start, end, word int) Edit {
	braces := bracesBefore(text, start)
	open := "{{"
	if braces > 0 {
		open = strings.Repeat("{", 2*braces+1)
	}
	return Edit{start - braces, end, open + folderWords[word] + "}}"}
}

// appendBraces adds the doubling of brace runs that stand before our words.
func appendBraces(edits []Edit, text string) []Edit {
	for at := 0; ; {
		start, end := nextBraces(text, at)
		if start < 0 {
			return edits
		}
		if wordAt(text[end:]) >= 0 {
			edits = append(edits, Edit{start, end, strings.Repeat("{", 2*(end-start))})
		}
		at = end
	}
}

func (f *Folder) expandEdits(text string) []Edit {
	var edits []Edit
	for at := 0; ; {
		start, end := nextBraces(text, at)
		if start < 0 {
			return edits
		}
		at = end
		word := wordAt(text[end:])
		if word < 0 {
			continue
		}
		braces := end - start
		if braces > 2 && braces%2 == 0 {
			edits = append(edits, Edit{start, end, strings.Repeat("{", braces/2)})
			continue
		}
		closed := end + len(folderWords[word])
		if f.paths[word] == "" || !strings.HasPrefix(text[closed:], "}}") {
			continue
		}
		at = closed + 2
		edits = append(edits, Edit{start, at, strings.Repeat("{", (braces-1)/2) + f.paths[word]})
	}
}

// nextBraces finds the next run of two or more opening braces.
func nextBraces(text string, from int) (start, end int) {
	i := strings.Index(text[from:], "{{")
	if i < 0 {
		return -1, -1
	}
	start = from + i
	end = start + 2
	for end < len(text) && text[end] == '{' {
		end++
	}
	return start, end
}

func bracesBefore(text string, at int) int {
	n := 0
	for n < at && text[at-n-1] == '{' {
		n++
	}
	return n
}

// wordAt returns which of our words text begins with, or -1.
func wordAt(text string) int {
	return slices.IndexFunc(folderWords[:], func(word string) bool { return strings.HasPrefix(text, word) })
}
