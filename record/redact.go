package record

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tapetree/tapetree/runtime"
)

// offlineKey is the key a foreign agent gets on replay. It is no secret.
const offlineKey = "tapetree-offline-key"

// minEnvSecret is the length in characters below which an environment value is
// not taken for a secret: "true", "none" and ports would be replaced everywhere.
const minEnvSecret = 12

// Redactor replaces secrets by {{secret:KIND:N}}: values of the environment,
// keys of a known shape, and random values beside a telling name. N counts the
// distinct secrets in the order in which this Redactor met them. A secret that
// was known by its place alone is known from then on wherever it stands. Safe
// for concurrent use.
type Redactor struct {
	mu     sync.RWMutex
	known  needles
	marks  map[string]string // secret -> placeholder
	learnt int
}

// NewRedactor takes the environment, "NAME=value" lines. Values of 12 or more
// characters whose name ends in KEY, TOKEN, SECRET, PASSWORD or CREDENTIALS,
// in any case, are secrets in every spelling: as is, base64, URL and JSON.
func NewRedactor(environ []string) *Redactor {
	r := &Redactor{marks: map[string]string{}}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		value = strings.TrimSpace(value)
		if secretEnvName(name) && utf8.RuneCountInString(value) >= minEnvSecret && value != offlineKey {
			r.known.addCertain(value, "env")
		}
	}
	return r
}

func secretEnvName(name string) bool {
	name = strings.ToUpper(name)
	for _, end := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// Text redacts one text. Where it is JSON, as arguments are, it stays JSON.
func (r *Redactor) Text(s string) string {
	var edits []runtime.Edit
	r.settle(func() { edits = r.editor().Edits(runtime.Spot{Text: s}) })
	return runtime.ApplyEdits(s, edits)
}

// member redacts a text as the value of a JSON member is.
func (r *Redactor) member(name, s string) string {
	var edits []runtime.Edit
	r.settle(func() { edits = r.editor().Edits(runtime.Spot{Text: s, Member: name}) })
	return runtime.ApplyEdits(s, edits)
}

// JSON redacts inside the strings of a JSON value, and in JSON inside them.
// Bytes outside the secrets stay as they are.
func (r *Redactor) JSON(raw []byte) []byte {
	text := string(raw)
	var edits []runtime.Edit
	r.settle(func() { edits = r.editor().Edits(runtime.Spot{Text: text}) })
	if len(edits) == 0 {
		return raw
	}
	return []byte(runtime.ApplyEdits(text, edits))
}

// SSE redacts the blocks of a stream. A secret that is split over several
// blocks is found in the text they carry: its placeholder goes whole into the
// first of them, and recut is true.
func (r *Redactor) SSE(blocks []string) (out []string, recut bool) {
	r.settle(func() { out, recut = editSSE(r.editor(), blocks) })
	return out, recut
}

// URL returns u without userinfo, query and fragment, its path redacted. What
// the removed parts hold is known as a secret from then on.
func (r *Redactor) URL(u string) string {
	r.learnURL(u)
	if parsed, err := url.Parse(u); err == nil && parsed.Opaque == "" {
		parsed.User, parsed.RawQuery, parsed.Fragment, parsed.RawFragment, parsed.ForceQuery = nil, "", "", "", false
		return r.Text(parsed.String())
	}
	u, _, _ = strings.Cut(u, "#")
	u, _, _ = strings.Cut(u, "?")
	if scheme, rest, ok := strings.Cut(u, "://"); ok {
		authority, path, slash := strings.Cut(rest, "/")
		authority = authority[strings.LastIndexByte(authority, '@')+1:]
		if u = scheme + "://" + authority; slash {
			u += "/" + path
		}
	}
	return r.Text(u)
}

// Learn makes the credentials that a request carries in its headers and URL
// known, so that an echo of them is replaced too. Call it before anything of
// the exchange is redacted.
func (r *Redactor) Learn(h http.Header, u string) {
	for _, name := range sortedNames(h) {
		if !isSecretHeader(name) {
			continue
		}
		for _, value := range h[name] {
			if scheme, rest, ok := strings.Cut(value, " "); ok && isScheme(scheme) {
				value = rest
			}
			r.learn("header", strings.TrimSpace(value))
		}
	}
	r.learnURL(u)
}

func (r *Redactor) learnURL(u string) {
	parsed, err := url.Parse(u)
	if err != nil {
		r.Text(u)
		return
	}
	if password, ok := parsed.User.Password(); ok {
		r.learn("url", password)
	}
	query := parsed.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if isSecretName(name) {
			for _, value := range query[name] {
				r.learn("url", value)
			}
		}
	}
}

// learn makes a value known that its place says is a secret. Short ones are
// left out as they are in the environment: local servers take any word for a
// key, and that word would be replaced wherever it stands.
func (r *Redactor) learn(kind, value string) {
	if utf8.RuneCountInString(value) < minEnvSecret || value == offlineKey || strings.Contains(value, "{{") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known.addCertain(value, kind) {
		r.learnt++
	}
}

// Find returns the kinds of the secrets in text, sorted, each once.
// Placeholders are none.
func (r *Redactor) Find(text string) []string {
	var kinds []string
	find := runtime.Editor{Find: func(s runtime.Spot) []runtime.Edit {
		for _, m := range r.matches(s) {
			kinds = append(kinds, m.kind)
		}
		return nil
	}}
	find.Edits(runtime.Spot{Text: text})
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Count is how many secrets there are in text. Placeholders are none.
func (r *Redactor) Count(text string) int {
	n := 0
	find := runtime.Editor{Find: func(s runtime.Spot) []runtime.Edit {
		n += len(r.matches(s))
		return nil
	}}
	find.Edits(runtime.Spot{Text: text})
	return n
}

// Mask hides every secret in text behind ***, for a terminal.
func (r *Redactor) Mask(text string) string {
	mask := runtime.Editor{Find: func(s runtime.Spot) []runtime.Edit {
		var edits []runtime.Edit
		for _, m := range r.matches(s) {
			edits = append(edits, runtime.Edit{Start: m.start, End: m.end, New: "***"})
		}
		return edits
	}}
	return runtime.ApplyEdits(text, mask.Edits(runtime.Spot{Text: text}))
}

// MaskKnown hides behind *** what is known to be a secret whatever it looks
// like: values of the environment and those learnt since. For a text that a
// person must see as it is, such as a command to be approved.
func (r *Redactor) MaskKnown(text string) string {
	mask := runtime.Editor{Find: func(s runtime.Spot) []runtime.Edit {
		r.mu.RLock()
		found := r.known.find(s.Text)
		r.mu.RUnlock()
		var edits []runtime.Edit
		for _, m := range apart(found) {
			edits = append(edits, runtime.Edit{Start: m.start, End: m.end, New: "***"})
		}
		return edits
	}}
	return runtime.ApplyEdits(text, mask.Edits(runtime.Spot{Text: text}))
}

// HasSecret reports that a placeholder of a secret stands in text. There is no
// way back from it: the value is not kept anywhere.
func HasSecret(text string) bool {
	return strings.Contains(text, "{{secret:") && secretMark.MatchString(text)
}

// settle runs redact, and once more if it met new secrets: they may also stand
// bare in front of the place that gave them away.
func (r *Redactor) settle(redact func()) {
	before := r.learntSoFar()
	redact()
	if r.learntSoFar() != before {
		redact()
	}
}

func (r *Redactor) learntSoFar() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.learnt
}

func (r *Redactor) editor() runtime.Editor {
	return runtime.Editor{Find: func(s runtime.Spot) []runtime.Edit {
		found := r.matches(s)
		if len(found) == 0 {
			return nil
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		edits := make([]runtime.Edit, 0, len(found))
		for _, m := range found {
			edits = append(edits, runtime.Edit{Start: m.start, End: m.end, New: r.mark(m)})
		}
		return edits
	}}
}

// mark returns the placeholder of a secret; r.mu is held.
func (r *Redactor) mark(m match) string {
	if mark, ok := r.marks[m.value]; ok {
		return mark
	}
	mark := fmt.Sprintf("{{secret:%s:%d}}", m.kind, len(r.marks)+1)
	r.marks[m.value] = mark
	if m.random && r.known.add(m.value, m.kind) {
		r.learnt++
	}
	return mark
}

// secret returns what a placeholder of this Redactor stands for, "" for one of
// another.
func (r *Redactor) secret(mark string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for value, known := range r.marks {
		if known == mark {
			return value
		}
	}
	return ""
}

// match is one secret in one text.
type match struct {
	start, end int
	kind       string
	value      string // what tells it from other secrets, however it is spelled
	random     bool   // too random to be anything else: known from now on
}

// matches returns the secrets of one text, sorted, overlapping ones joined.
func (r *Redactor) matches(s runtime.Spot) []match {
	r.mu.RLock()
	found := r.known.find(s.Text)
	r.mu.RUnlock()
	if s.Number {
		return slices.DeleteFunc(found, func(m match) bool { return m.start > 0 || m.end < len(s.Text) })
	}
	return apart(appendShapes(found, s))
}

// apart sorts matches and makes one of those that overlap.
func apart(found []match) []match {
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	kept := found[:0]
	for _, m := range found {
		if last := len(kept) - 1; last >= 0 && m.start < kept[last].end {
			kept[last].end = max(kept[last].end, m.end)
			continue
		}
		kept = append(kept, m)
	}
	return kept
}
