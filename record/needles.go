package record

import (
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strings"
)

// minKnown is the least length in bytes of a text that is searched for
// everywhere. The search below looks at every fifth byte and depends on it.
const minKnown = 8

// needles are texts to find wherever they stand. A text is probed four bytes
// at a time at every fifth place: whatever is eight bytes long or more holds
// one whole probe. So the cost hardly depends on how many needles there are.
type needles struct {
	all    []spelling
	have   map[string]bool
	filter [1 << 10]uint64 // one bit a hash of four bytes
	byHash map[uint16][]probe

	certain []spelling // secrets that the user gave, each as it is
}

// spelling is one way a secret can be written.
type spelling struct {
	text   string
	secret string
	kind   string
	around int // bytes on either side that hold some bits of the secret too
}

type probe struct {
	needle, offset int
}

const stride = minKnown - 3

// add makes a secret findable in all its spellings; it reports whether the
// secret was new.
func (n *needles) add(secret, kind string) bool {
	if n.have[secret] {
		return false
	}
	for _, text := range spellings(secret) {
		n.put(spelling{text, secret, kind, 0})
	}
	for _, core := range base64Cores(secret) {
		n.put(spelling{core, secret, kind, 1})
	}
	return true
}

// addCertain does the same for a secret that the user gave: of such a one also
// the beginning is found, where a text breaks off in it.
func (n *needles) addCertain(secret, kind string) bool {
	isNew := n.add(secret, kind)
	if isNew {
		n.certain = append(n.certain, spelling{secret, secret, kind, 0})
	}
	return isNew
}

func (n *needles) put(s spelling) {
	if len(s.text) < minKnown || n.have[s.text] {
		return
	}
	if n.have == nil {
		n.have, n.byHash = map[string]bool{}, map[uint16][]probe{}
	}
	n.have[s.text] = true
	at := len(n.all)
	n.all = append(n.all, s)
	for offset := range stride {
		h := hash4(s.text[offset:])
		n.filter[h>>6] |= 1 << (h & 63)
		n.byHash[h] = append(n.byHash[h], probe{at, offset})
	}
}

func hash4(s string) uint16 {
	word := binary.LittleEndian.Uint32([]byte(s[:4]))
	return uint16(word * 2654435761 >> 16)
}

// find returns every needle of text, in no order, overlaps included.
func (n *needles) find(text string) []match {
	if len(n.all) == 0 {
		return nil
	}
	var found []match
	for i := 0; i+4 <= len(text); i += stride {
		h := hash4(text[i:])
		if n.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, p := range n.byHash[h] {
			s := n.all[p.needle]
			start := i - p.offset
			if start >= 0 && strings.HasPrefix(text[start:], s.text) {
				found = append(found, s.match(text, start))
			}
		}
	}
	return n.findTorn(found, text)
}

// findTorn adds the secret that text breaks off in, as a body does that was cut
// off. Less than half of one gives nothing away, and could be a word.
func (n *needles) findTorn(found []match, text string) []match {
	for _, secret := range n.certain {
		least := max(minKnown, (len(secret.text)+1)/2)
		if len(text) < least {
			continue
		}
		from := max(0, len(text)-len(secret.text)+1)
		for start := from; start+least <= len(text); start++ {
			next := strings.Index(text[start:], secret.text[:least])
			if next < 0 {
				break
			}
			start += next
			if strings.HasPrefix(secret.text, text[start:]) {
				return append(found, match{start: start, end: len(text), kind: secret.kind, value: secret.secret})
			}
		}
	}
	return found
}

func (s spelling) match(text string, start int) match {
	end := start + len(s.text)
	if s.around > 0 {
		if start > 0 && isBase64(text[start-1]) {
			start--
		}
		for end < len(text) && (isBase64(text[end]) && end == start+len(s.text) || text[end] == '=') {
			end++
		}
	}
	return match{start: start, end: end, kind: s.kind, value: s.secret}
}

// spellings returns how a text writes a secret: as is, in a URL, in JSON, in
// JSON inside JSON.
func spellings(secret string) []string {
	inner := insideQuotes(secret)
	html := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(inner)
	all := []string{
		secret, inner, insideQuotes(inner), html, strings.ReplaceAll(inner, "/", `\/`),
		strings.ReplaceAll(html, "/", `\/`),
		url.QueryEscape(secret), url.PathEscape(secret), encodeURIComponent(secret),
	}
	for _, text := range all[6:] {
		all = append(all, lowerPercent(text))
	}
	if plain, err := url.QueryUnescape(secret); err == nil {
		all = append(all, plain)
	}
	return all
}

// insideQuotes writes text as it stands inside a JSON string.
func insideQuotes(text string) string {
	value := quoted(text)
	return string(value[1 : len(value)-1])
}

// encodeURIComponent escapes as JavaScript does.
func encodeURIComponent(s string) string {
	r := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	return r.Replace(url.QueryEscape(s))
}

func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// base64Cores returns the characters that base64 writes for secret at each of
// the three places it can have in a longer text (as in "user:password"),
// without those that its neighbours share.
func base64Cores(secret string) []string {
	var cores []string
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
			from := (8*shift + 5) / 6
			to := 8 * (shift + len(secret)) / 6
			cores = append(cores, text[from:to])
		}
	}
	return cores
}

func isBase64(c byte) bool {
	return isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_'
}
