package record

import (
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// shape is a kind of key that its beginning gives away.
type shape struct {
	prefix string
	kind   string
	set    *charset // of what follows the prefix
	min    int      // how many of them there must be at least
	max    int      // 0: as many as there are; else no more may follow
	weak   bool     // could be a random id too: not looked for in ids
}

type charset [256]bool

func chars(ranges string) *charset {
	var set charset
	for i := 0; i < len(ranges); i++ {
		if i+2 < len(ranges) && ranges[i+1] == '-' {
			for c := ranges[i]; c <= ranges[i+2]; c++ {
				set[c] = true
			}
			i += 2
			continue
		}
		set[ranges[i]] = true
	}
	return &set
}

var (
	alnum   = chars("A-Za-z0-9")
	word    = chars("A-Za-z0-9_")
	urlSafe = chars("A-Za-z0-9_-")
	dotted  = chars("A-Za-z0-9_.-")
	base    = chars("A-Za-z0-9+/=_-")
	upper   = chars("A-Z0-9")
	hex     = chars("a-f0-9")
)

// shapes: longer prefixes stand before the shorter ones they begin with. The
// least lengths are below what the vendors issue today, since a key that is
// not seen is worse than a word that is replaced.
var shapes = []shape{
	{"sk-ant-", "anthropic", urlSafe, 16, 0, false},
	{"sk-or-v1-", "openrouter", alnum, 16, 0, false},
	{"sk-proj-", "openai", urlSafe, 16, 0, false},
	{"sk-svcacct-", "openai", urlSafe, 16, 0, false},
	{"sk-admin-", "openai", urlSafe, 16, 0, false},
	{"sk-", "openai", urlSafe, 16, 0, false},
	{"ghp_", "github", alnum, 16, 0, false},
	{"gho_", "github", alnum, 16, 0, false},
	{"ghu_", "github", alnum, 16, 0, false},
	{"ghs_", "github", dotted, 16, 0, false},
	{"ghr_", "github", alnum, 16, 0, false},
	{"github_pat_", "github", word, 16, 0, false},
	{"glpat-", "gitlab", dotted, 16, 0, false},
	{"gldt-", "gitlab", urlSafe, 16, 0, false},
	{"glrt-", "gitlab", dotted, 16, 0, false},
	{"AKIA", "aws", upper, 12, 17, false},
	{"ASIA", "aws", upper, 12, 17, false},
	{"AIza", "google", urlSafe, 30, 0, false},
	{"ya29.", "google", dotted, 20, 0, false},
	{"GOCSPX-", "google", urlSafe, 20, 0, false},
	{"xoxb-", "slack", urlSafe, 10, 0, false},
	{"xoxp-", "slack", urlSafe, 10, 0, false},
	{"xoxa-", "slack", urlSafe, 10, 0, false},
	{"xoxr-", "slack", urlSafe, 10, 0, false},
	{"xoxs-", "slack", urlSafe, 10, 0, false},
	{"xoxo-", "slack", urlSafe, 10, 0, false},
	{"xoxc-", "slack", urlSafe, 10, 0, false},
	{"xoxd-", "slack", dotted, 10, 0, false},
	{"xoxe-", "slack", dotted, 10, 0, false},
	{"xoxe.", "slack", dotted, 10, 0, false},
	{"xapp-", "slack", urlSafe, 10, 0, false},
	{"sk_live_", "stripe", alnum, 12, 0, false},
	{"sk_test_", "stripe", alnum, 12, 0, false},
	{"rk_live_", "stripe", alnum, 12, 0, false},
	{"rk_test_", "stripe", alnum, 12, 0, false},
	{"whsec_", "stripe", base, 16, 0, false},
	{"npm_", "npm", alnum, 30, 0, false},
	{"pypi-", "pypi", urlSafe, 40, 0, false},
	{"rubygems_", "rubygems", hex, 32, 0, false},
	{"dckr_pat_", "docker", urlSafe, 16, 0, false},
	{"hf_", "huggingface", alnum, 20, 0, false},
	{"SG.", "sendgrid", dotted, 30, 0, false},
	{"SK", "twilio", hex, 32, 32, true},
	{"AC", "twilio", hex, 32, 32, true},
	{"dop_v1_", "digitalocean", hex, 32, 0, false},
	{"doo_v1_", "digitalocean", hex, 32, 0, false},
	{"dor_v1_", "digitalocean", hex, 32, 0, false},
	{"gsk_", "groq", alnum, 20, 0, false},
	{"xai-", "xai", alnum, 20, 0, false},
	{"pplx-", "perplexity", alnum, 20, 0, false},
	{"nvapi-", "nvidia", urlSafe, 20, 0, false},
	{"csk-", "cerebras", alnum, 20, 0, false},
	{"r8_", "replicate", alnum, 20, 0, false},
	{"tvly-", "tavily", urlSafe, 16, 0, false},
	{"lin_api_", "linear", alnum, 20, 0, false},
	{"hvs.", "vault", urlSafe, 20, 0, false},
	{"shpat_", "shopify", hex, 20, 0, false},
	{"AGE-SECRET-KEY-1", "age", upper, 20, 0, false},
	{"ATATT3x", "atlassian", base, 20, 0, false},
}

// shapesBy lists the shapes by their first byte.
var shapesBy = func() (by [256][]shape) {
	for _, s := range shapes {
		by[s.prefix[0]] = append(by[s.prefix[0]], s)
	}
	return by
}()

// shapeStarts has a bit for each two bytes that begin a shape or a JWT.
var shapeStarts = func() (set [256][4]uint64) {
	add := func(prefix string) { set[prefix[0]][prefix[1]>>6] |= 1 << (prefix[1] & 63) }
	for _, s := range shapes {
		add(s.prefix)
	}
	add(jwtPrefix)
	return set
}()

const jwtPrefix = "eyJ"

// signs are the bytes that the other rules go by.
var signs = chars("=:~")

// runBytes are the bytes a secret, or NAME=SECRET, is written with. What
// stands between others is short in most texts and passed over.
var runBytes = func() (set charset) {
	for c := byte('!'); c <= '~'; c++ {
		set[c] = strings.IndexByte("\"'<>()[]{},;\\`", c) < 0
	}
	return set
}()

// appendShapes adds every secret that its own shape or its neighbours give
// away, in one pass over the text.
func appendShapes(found []match, s runtime.Spot) []match {
	text := s.Text
	scan := shapeScan{text: text, found: found, id: isIDMember(s.Member), member: s.Member}
	for i := 0; i < len(text); i++ {
		if !runBytes[text[i]] {
			continue
		}
		start := i
		for i < len(text) && runBytes[text[i]] {
			i++
		}
		if i-start >= minKnown && !isMark(text, start, i) {
			scan.run(start, i)
		}
	}
	return appendPEM(scan.found, text)
}

// isMark reports that text[start:end] is the inside of a placeholder of ours.
func isMark(text string, start, end int) bool {
	if !strings.HasPrefix(text[start:end], "secret:") || start < 2 || end+2 > len(text) {
		return false
	}
	return secretMark.MatchString(text[start-2 : end+2])
}

// shapeScan is one pass over one text.
type shapeScan struct {
	text   string
	found  []match
	id     bool // the text is an id of the protocol
	member string
}

// run looks at text[start:end], which holds no space, quote or bracket.
func (s *shapeScan) run(start, end int) {
	s.context(start, end)
	text := s.text[:end]
	for i := start; i < len(text); i++ {
		c := text[i]
		if signs[c] {
			s.sign(i, end)
			continue
		}
		if i+1 >= len(text) || shapeStarts[c][text[i+1]>>6]&(1<<(text[i+1]&63)) == 0 {
			continue
		}
		if c == jwtPrefix[0] {
			s.jwt(i)
		} else {
			i = max(i, s.shape(i)-1)
		}
	}
}

// sign looks around the sign at i.
func (s *shapeScan) sign(i, end int) {
	switch {
	case s.text[i] == '~':
		s.azureSecret(i)
	case strings.HasPrefix(s.text[i:], "://"):
		s.userinfo(i+len("://"), end)
	default:
		s.context(i+1, end)
		s.telegram(i)
	}
}

// shape matches the shapes at i and returns where the match ends, else i.
func (s *shapeScan) shape(i int) int {
	for _, shape := range shapesBy[s.text[i]] {
		if !strings.HasPrefix(s.text[i:], shape.prefix) || shape.weak && s.id {
			continue
		}
		body := i + len(shape.prefix)
		end := body
		for end < len(s.text) && shape.set[s.text[end]] {
			end++
		}
		end = trimEnd(s.text, body, end)
		n := end - body
		if n < shape.min || shape.max > 0 && n > shape.max || !startsFresh(s.text, i) {
			continue
		}
		if shape.prefix == "sk-" && isSlug(s.text[body:end]) {
			continue
		}
		s.add(i, end, shape.kind, true)
		return end
	}
	return i
}

func (s *shapeScan) add(start, end int, kind string, random bool) {
	value := s.text[start:end]
	if value == offlineKey {
		return
	}
	s.found = append(s.found, match{start: start, end: end, kind: kind, value: value, random: random})
}

// trimEnd takes the full stop of a sentence off a key.
func trimEnd(text string, from, to int) int {
	for to > from && strings.IndexByte(".,:;!?", text[to-1]) >= 0 {
		to--
	}
	return to
}

// jwt matches header.payload.signature; the signature may be missing.
func (s *shapeScan) jwt(i int) {
	if !strings.HasPrefix(s.text[i:], jwtPrefix) || !startsFresh(s.text, i) {
		return
	}
	end, parts := i, 0
	for part := i; ; {
		for end < len(s.text) && urlSafe[s.text[end]] {
			end++
		}
		if end-part < 8 {
			break
		}
		parts++
		if end == len(s.text) || s.text[end] != '.' || parts == 5 {
			break
		}
		end++
		part = end
	}
	end = trimEnd(s.text, i, end)
	if parts >= 2 && strings.Contains(s.text[i:end], ".") {
		s.add(i, end, "jwt", true)
	}
}

// telegram matches a bot token, 8 to 10 digits before the colon at i and 35
// characters after it.
func (s *shapeScan) telegram(i int) {
	start := i
	for start > 0 && '0' <= s.text[start-1] && s.text[start-1] <= '9' {
		start--
	}
	if digits := i - start; digits < 8 || digits > 10 || s.id || s.text[i] != ':' {
		return
	}
	end := i + 1
	for end < len(s.text) && urlSafe[s.text[end]] {
		end++
	}
	if end-i-1 != 35 {
		return
	}
	s.add(start, end, "telegram", true)
}

// azureSecret matches a client secret of Entra ID, abc8Q~ and 31 to 34 more;
// i is the tilde.
func (s *shapeScan) azureSecret(i int) {
	if i < 5 || s.text[i-1] != 'Q' || s.text[i-2] < '0' || s.text[i-2] > '9' {
		return
	}
	end := i + 1
	for end < len(s.text) && (dotted[s.text[end]] || s.text[end] == '~') {
		end++
	}
	if n := end - i - 1; n >= 31 && n <= 34 {
		s.add(i-5, end, "azure", true)
	}
}

// userinfo matches the password of scheme://user:password@host; from is where
// the authority begins. A user alone is a secret if it looks random.
func (s *shapeScan) userinfo(from, end int) {
	authority := s.text[from:end]
	if cut := strings.IndexAny(authority, "/?#"); cut >= 0 {
		authority = authority[:cut]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return
	}
	colon := strings.IndexByte(authority[:at], ':')
	switch {
	case colon >= 0 && colon+1 < at && authority[colon+1] != '$':
		s.add(from+colon+1, from+at, "url", isRandom(authority[colon+1:at]))
	case colon < 0 && isRandom(authority[:at]):
		s.add(from, from+at, "url", true)
	}
}

// appendPEM adds the private key blocks. One that breaks off is taken to the
// end of the text.
func appendPEM(found []match, text string) []match {
	const begin, end = "-----BEGIN ", "-----END "
	for at := 0; ; {
		i := strings.Index(text[at:], begin)
		if i < 0 {
			return found
		}
		start := at + i
		at = start + len(begin)
		label, _, ok := strings.Cut(text[at:], "-----")
		if !ok || len(label) > 40 || !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
			continue
		}
		stop := len(text)
		if j := strings.Index(text[at:], end+label+"-----"); j >= 0 {
			stop = at + j + len(end) + len(label) + len("-----")
		}
		found = append(found, match{start: start, end: stop, kind: "pem", value: text[start:stop], random: stop-start > 60})
		at = stop
	}
}

// startsFresh reports that what begins at i is not the middle of a word. The
// letter of an escape (\n, %3D, \u003d, a terminal's colour) is no word.
func startsFresh(text string, i int) bool {
	if i == 0 || !isAlnum(text[i-1]) {
		return true
	}
	before := text[:i]
	n := len(before)
	switch {
	case n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtbf", before[n-1]) >= 0:
		return true
	case n >= 3 && before[n-3] == '%' && isHex(before[n-2]) && isHex(before[n-1]):
		return true
	case n >= 6 && before[n-6:n-4] == `\u`:
		return true
	case before[n-1] == 'm':
		return strings.HasSuffix(strings.TrimRight(before[:n-1], "0123456789;"), "\x1b[")
	}
	return false
}

func isAlnum(c byte) bool { return alnum[c] }

func isHex(c byte) bool { return hex[c|0x20] }
