package record

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// What a comparison may use, beside the volatile rules of the scenario, and
// still call two requests equal. Every use is counted under these names.
const (
	usePlaceholders = "placeholders" // paths of this machine, secrets
	useIDs          = "ids"          // call ids, renamed one to one
	useJSONForm     = "json-form"    // order of members, escapes and blanks: the same values
)

// difference is one place where a live value departs from the recorded one.
type difference struct {
	pointer        string   // JSON pointer into the request
	recorded, sent string   // shown form; absent for what is not there
	part           *parting // of shown texts; nil: where they part as they are
}

const absent = "(nothing)"

// diff holds live JSON values against recorded ones, both in placeholder form,
// and collects where they part.
type diff struct {
	rules   *Volatile
	ids     *pairs
	secrets *pairs
	uses    map[string]int
	found   []difference
}

// values compares two values at pointer at.
func (d *diff) values(at string, recorded, sent *node) {
	switch {
	case recorded == nil && sent == nil:
	case recorded == nil:
		d.add(at, absent, sent.show())
	case sent == nil:
		d.add(at, recorded.show(), absent)
	case recorded.kind != sent.kind:
		d.add(at, recorded.show(), sent.show())
	case recorded.kind == jsontext.KindBeginObject:
		d.objects(at, recorded, sent)
	case recorded.kind == jsontext.KindBeginArray:
		d.arrays(at, recorded, sent)
	case recorded.kind == jsontext.KindString:
		if !d.texts(at, recorded.text, sent.text) {
			d.found = append(d.found, difference{at, recorded.show(), sent.show(), d.partTexts(at, recorded.text, sent.text)})
		}
	case !recorded.isScalarEqual(sent):
		d.add(at, recorded.show(), sent.show())
	}
}

func (d *diff) objects(at string, recorded, sent *node) {
	for _, m := range recorded.members {
		d.values(pointer(at, m.name), m.value, sent.member(m.name))
	}
	for _, m := range sent.members {
		if recorded.member(m.name) == nil {
			d.values(pointer(at, m.name), nil, m.value)
		}
	}
}

func (d *diff) arrays(at string, recorded, sent *node) {
	for i := range max(len(recorded.elems), len(sent.elems)) {
		var r, s *node
		if i < len(recorded.elems) {
			r = recorded.elems[i]
		}
		if i < len(sent.elems) {
			s = sent.elems[i]
		}
		d.values(at+"/"+strconv.Itoa(i), r, s)
	}
}

// Places in a message that are no plain text.
var (
	idPlace = regexp.MustCompile(`^/messages/\d+/(tool_call_id|tool_calls/\d+/id|content/\d+/(id|tool_use_id))$` +
		`|^/input/\d+/(call_id|id)$|^/previous_response_id$`)
	argumentsPlace = regexp.MustCompile(`^/messages/\d+/tool_calls/\d+/function/arguments$|^/input/\d+/arguments$`)
)

// texts reports whether two strings count as equal, and counts what that took.
func (d *diff) texts(at, recorded, sent string) bool {
	if idPlace.MatchString(at) {
		same := d.ids.same(recorded, sent)
		if same && recorded != sent {
			d.uses[useIDs]++
		}
		return same
	}
	if recorded == sent {
		return true
	}
	if argumentsPlace.MatchString(at) {
		if same, ok := d.arguments(at, recorded, sent); ok {
			return same
		}
	}
	return d.plain(recorded, sent)
}

// arguments compares the arguments of a call as the JSON they hold; ok is false
// when one of them holds none.
func (d *diff) arguments(at, recorded, sent string) (same, ok bool) {
	r, rerr := parseNode([]byte(recorded))
	s, serr := parseNode([]byte(sent))
	if rerr != nil || serr != nil {
		return false, false
	}
	inner := &diff{rules: d.rules, ids: d.ids, secrets: d.secrets, uses: d.uses}
	inner.values(at+"#", r, s)
	if len(inner.found) == 0 {
		d.uses[useJSONForm]++
	}
	return len(inner.found) == 0, true
}

// plain compares two texts of no special meaning.
func (d *diff) plain(recorded, sent string) bool {
	used := map[string]int{}
	recorded, sent = d.alignSecrets(recorded, sent, used)
	if recorded != sent {
		recorded, sent = d.rules.Apply(recorded, nil), d.rules.Apply(sent, used)
	}
	if recorded != sent {
		return false
	}
	for rule, n := range used {
		d.uses[rule] += n
	}
	return true
}

// secretMark is the placeholder of a secret.
var secretMark = regexp.MustCompile(`\{\{secret:[A-Za-z0-9_.-]+:\d+\}\}`)

// alignSecrets gives the secrets of sent the numbers they have in recorded, when
// both texts hold the same kinds in the same order and the numbers pair one to
// one with all pairs seen before.
func (d *diff) alignSecrets(recorded, sent string, used map[string]int) (string, string) {
	rs, ss := secretMark.FindAllString(recorded, -1), secretMark.FindAllString(sent, -1)
	if len(rs) == 0 || len(rs) != len(ss) {
		return recorded, sent
	}
	for i, r := range rs {
		if kindOfSecret(r) != kindOfSecret(ss[i]) || !d.secrets.same(r, ss[i]) {
			return recorded, sent
		}
	}
	used[usePlaceholders]++
	next := 0
	return recorded, secretMark.ReplaceAllStringFunc(sent, func(string) string {
		next++
		return rs[next-1]
	})
}

func kindOfSecret(mark string) string {
	return mark[:strings.LastIndexByte(mark, ':')]
}

func (d *diff) add(at, recorded, sent string) {
	d.found = append(d.found, difference{at, recorded, sent, nil})
}
