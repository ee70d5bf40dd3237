package scenarios

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// anything is the pattern that every value matches.
const anything = "_"

// value is a JSON value, decoded for comparing.
type value struct {
	kind    jsontext.Kind
	text    string // of a string; of a number or literal: as written
	list    []value
	members map[string]value
}

// decodeValue decodes a JSON text; ok is false when it is no JSON value (also
// when an object has a name twice).
func decodeValue(text string) (v value, ok bool) {
	if !jsontext.Value(text).IsValid() {
		return value{}, false
	}
	return decoded(jsontext.Value(text))
}

func decoded(raw jsontext.Value) (v value, ok bool) {
	v.kind = raw.Kind()
	switch v.kind {
	case '{':
		var members map[string]jsontext.Value
		if json.Unmarshal(raw, &members) != nil {
			return v, false
		}
		v.members = make(map[string]value, len(members))
		for name, member := range members {
			if v.members[name], ok = decoded(member); !ok {
				return v, false
			}
		}
	case '[':
		var list []jsontext.Value
		if json.Unmarshal(raw, &list) != nil {
			return v, false
		}
		v.list = make([]value, len(list))
		for i, item := range list {
			if v.list[i], ok = decoded(item); !ok {
				return v, false
			}
		}
	case '"':
		if json.Unmarshal(raw, &v.text) != nil {
			return v, false
		}
	default:
		v.text = strings.TrimSpace(string(raw))
	}
	return v, true
}

// match reports whether got is what the pattern asks for: the same value, where
// the string "_" stands for any value and a string "/…/" for every string (or
// the text of any number or literal) that the regexp matches. With subset, an
// object may have members that the pattern does not name; else it may not.
func (pat value) match(got value, subset bool) bool {
	if pat.kind == '"' {
		if pat.text == anything {
			return true
		}
		if expression, isPattern := pattern(pat.text); isPattern {
			re, err := regexp.Compile(expression)
			return err == nil && got.members == nil && got.list == nil && re.MatchString(got.text)
		}
	}
	if pat.kind != got.kind {
		return false
	}
	switch pat.kind {
	case '{':
		if !subset && len(pat.members) != len(got.members) {
			return false
		}
		for name, member := range pat.members {
			if other, found := got.members[name]; !found || !member.match(other, subset) {
				return false
			}
		}
		return true
	case '[':
		return slices.EqualFunc(pat.list, got.list, func(a, b value) bool { return a.match(b, subset) })
	case '0':
		return sameNumber(pat.text, got.text)
	default:
		return pat.text == got.text
	}
}

// sameNumber compares numbers as written or, when neither is too exact for
// that, as what they mean: 1, 1.0 and 1e0 are one number.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	const exact = 1 << 53
	return errX == nil && errY == nil && x == y && x < exact && x > -exact
}

// checkPatterns finds a broken regexp in the strings of a JSON text; a text
// that is no JSON has none.
func checkPatterns(text string) error {
	v, ok := decodeValue(text)
	if !ok {
		return nil
	}
	return v.checkPatterns()
}

func (pat value) checkPatterns() error {
	if expression, isPattern := pattern(pat.text); isPattern && pat.kind == '"' {
		if _, err := regexp.Compile(expression); err != nil {
			return fmt.Errorf("%q: %w", pat.text, err)
		}
	}
	for _, item := range pat.list {
		if err := item.checkPatterns(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pat.members)) {
		if err := pat.members[name].checkPatterns(); err != nil {
			return err
		}
	}
	return nil
}
