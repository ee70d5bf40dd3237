package record

import (
	"math"
	"strings"
)

// secretNames end the names whose value is a secret if it looks like one. They
// are compared without case, dots, dashes and underscores.
var secretNames = []string{
	"apikey", "token", "secret", "password", "passwd", "pwd", "passphrase", "secretkey", "accesskey", "accesskeyid", "privatekey",
	"authkey", "accountkey", "signingkey", "encryptionkey", "masterkey", "subscriptionkey", "licensekey", "clientkey", "storagekey",
	"sharedkey", "deploykey", "servicekey", "adminkey", "secretaccesskey", "sharedaccesskey", "credential", "credentials",
	"authorization", "auth", "bearer", "xamzsignature", "sessionid", "cookie",
}

// wholeNames are secret names only when they stand alone. The signature of a
// thought is none: it goes back to the provider as it came.
var wholeNames = map[string]bool{"key": true, "xkey": true, "sig": true}

// publicNames look like those above and are none: places in a list, and what
// is made to be shown.
var publicNames = []string{"pagetoken", "nexttoken", "continuationtoken", "publickey", "cachekey", "maxtoken"}

// passwordNames go with secrets that people make up, which are less random.
var passwordNames = []string{"password", "passwd", "pwd", "passphrase", "secret"}

// protocolIDs begin the ids of the wire, which are random and no secret.
var protocolIDs = []string{"call_", "toolu_", "chatcmpl-", "resp_", "fp_", "msg_", "run_", "thread_", "asst_", "gen-", "req_"}

func isIDMember(name string) bool {
	return name == "id" || name == "tool_call_id" || name == "system_fingerprint"
}

// isSecretName reports that a value under this name may be a secret.
func isSecretName(name string) bool {
	plain := plainName(name)
	if wholeNames[plain] || strings.HasSuffix(name, "_KEY") {
		return true
	}
	return hasSuffixOf(plain, secretNames) && !hasSuffixOf(plain, publicNames)
}

func plainName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name))
}

func hasSuffixOf(name string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

func isScheme(text string) bool {
	switch strings.ToLower(text) {
	case "bearer", "basic", "token", "apikey", "key":
		return true
	}
	return false
}

// context matches a value at text[start:end] that the name before it gives
// away: key=VALUE, "api_key": "VALUE", --token VALUE, <password>VALUE, the
// value of a JSON member, Authorization: Bearer VALUE.
func (s *shapeScan) context(start, end int) {
	if s.id || end-start < minKnown {
		return
	}
	name, bearer := nameBefore(s.text, start)
	if name == "" && start == 0 {
		name = s.member
	}
	if name == "" && !bearer || name != "" && !isSecretName(name) && !bearer {
		return
	}
	end = valueEnd(s.text, start, end)
	value := s.text[start:end]
	if len(value) < minKnown || isPlaceholder(value) || isScheme(value) {
		return
	}
	plain := plainName(name)
	random := isRandom(value)
	switch {
	case bearer && (strings.HasSuffix(plain, "authorization") || random || len(value) >= 16 && strings.ContainsAny(value, "0123456789")):
		s.add(start, end, "bearer", random)
	case random, hasSuffixOf(plain, passwordNames) && isPassword(value):
		s.add(start, end, kindOf(plain), random)
	}
}

// kindOf names the kind of a secret by the name it stands under.
func kindOf(plain string) string {
	switch {
	case strings.HasSuffix(plain, "secretaccesskey"), strings.HasSuffix(plain, "accesskeyid"):
		return "aws"
	case strings.HasSuffix(plain, "accountkey"), strings.HasSuffix(plain, "sharedaccesskey"), plain == "sig":
		return "azure"
	}
	return "value"
}

// valueEnd cuts a value where the next parameter begins.
func valueEnd(text string, start, end int) int {
	for i := start; i < end; i++ {
		if text[i] != '&' {
			continue
		}
		name, _, found := strings.Cut(text[i+1:end], "=")
		if found && name != "" && strings.IndexFunc(name, func(r rune) bool { return r > 127 || !dotted[byte(r)] }) < 0 {
			return trimEnd(text, start, i)
		}
	}
	return trimEnd(text, start, end)
}

// isPlaceholder reports that a value stands for one that is not there, or is
// an id of the wire.
func isPlaceholder(value string) bool {
	if value[0] == '$' || value[0] == '%' || strings.HasPrefix(value, "**") || value == offlineKey {
		return true
	}
	if strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 && strings.ContainsAny(value, "._-") {
		return true // a path: PWD=/tmp/a-b
	}
	for _, prefix := range protocolIDs {
		if strings.HasPrefix(value, prefix) {
			return true
		}
	}
	return false
}

// nameBefore returns the name that the value at i belongs to, "" for none, and
// whether the word Bearer or its like stands between the two.
func nameBefore(text string, i int) (name string, bearer bool) {
	at := skipBack(text, i)
	if w := wordBack(text, at); w < at && at < i && isScheme(text[w:at]) {
		bearer = strings.EqualFold(text[w:at], "bearer")
		if before := skipBack(text, w); before > 0 && strings.IndexByte("=:", text[before-1]) >= 0 {
			at = before
			bearer = true
		} else if bearer {
			return "", true
		}
	}
	sep := at
	for at > 0 && strings.IndexByte("=:>", text[at-1]) >= 0 && sep-at < 3 {
		at--
	}
	if at == sep && at >= 3 && strings.EqualFold(text[at-3:at], "%3D") {
		at -= 3
	}
	if at == sep { // no separator: an option of a command line, --token VALUE
		w := wordBack(text, at)
		if at < i && strings.HasPrefix(text[w:at], "--") {
			return text[w:at], bearer
		}
		return "", bearer
	}
	at = skipBack(text, at)
	return text[wordBack(text, at):at], bearer
}

// skipBack passes over quotes, backslashes and up to four blanks.
func skipBack(text string, i int) int {
	for blanks := 0; i > 0; i-- {
		switch text[i-1] {
		case ' ', '\t':
			if blanks++; blanks > 4 {
				return i
			}
		case '"', '\'', '\\', '`':
		default:
			return i
		}
	}
	return i
}

// wordBack returns where the name that ends at i begins; no name is longer
// than 64 bytes.
func wordBack(text string, i int) int {
	for low := max(0, i-64); i > low && dotted[text[i-1]]; {
		i--
	}
	return i
}

// isRandom reports that no person wrote value: letters and digits change often
// (random text does so about every second byte, words and numbers every fifth)
// or are at least many, all different.
func isRandom(value string) bool {
	var plain []byte
	separated := false
	for i := range len(value) {
		if isAlnum(value[i]) {
			plain = append(plain, value[i])
		} else {
			separated = true
		}
	}
	if len(plain) < 12 {
		return false
	}
	digits, letters, runs := measure(plain)
	if letters == 0 || digits == 0 && runs < 6 {
		return false
	}
	bits := entropy(plain)
	if float64(len(plain))/float64(runs) <= 3.2 && bits >= 3 {
		return true
	}
	return !separated && digits >= 3 && len(plain) >= 16 && bits >= 3.5
}

// measure counts digits, letters, and runs of one kind: of digits, of upper
// case, of lower case with the one capital before it.
func measure(plain []byte) (digits, letters, runs int) {
	previous := byte(0)
	length := 0
	for _, c := range plain {
		kind := byte('a')
		switch {
		case c <= '9':
			kind = '0'
			digits++
		case c <= 'Z':
			kind = 'A'
			letters++
		default:
			letters++
		}
		if kind == previous {
			length++
			continue
		}
		if !(kind == 'a' && previous == 'A' && length == 1) {
			runs++
		}
		previous, length = kind, 1
	}
	return digits, letters, runs
}

// entropy is Shannon's, in bits a byte.
func entropy(text []byte) float64 {
	var count [256]int
	for _, c := range text {
		count[c]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// isPassword reports that value could be one a person chose: letters with
// digits, and no expression, path or version.
func isPassword(value string) bool {
	return strings.ContainsAny(value, "0123456789") && strings.IndexFunc(value, func(r rune) bool { return r > '9' }) >= 0 &&
		!strings.ContainsAny(value, "./")
}

// isSlug reports that value is words joined by dashes, such as a class of a
// style sheet, and no key.
func isSlug(value string) bool {
	if !strings.Contains(value, "-") {
		return false
	}
	for part := range strings.SplitSeq(value, "-") {
		if len(part) > 12 || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return true
}
