package scenarios

// shingles is an index of texts, made to find what they have in common with
// others in one pass over these. Of each text a shingle is kept at every
// step-th place; a common piece that is long enough holds a whole one.
type shingles struct {
	texts  []string
	step   int
	filter []uint64 // one bit a hash
	mask   uint64
	at     map[uint64]shinglePlace // the first place of each shingle
}

type shinglePlace struct{ text, offset int32 }

// hit is a piece that a searched text has in common with an indexed one.
type hit struct {
	text  int // which of the indexed
	start int // in the searched text
	words string
}

const (
	// shingleSize in bytes. Short pieces are found by chance, longer ones make the
	// step, and with it the index, larger.
	shingleSize = 32
	// shingleRoom is how many shingles are kept at most. Texts of more than 40 MB
	// are sampled more thinly: what is found there has to be longer.
	shingleRoom = 1 << 20
	shingleBase = 0x9E3779B97F4A7C15
)

// shinglePower is the weight of the byte that leaves the window.
var shinglePower = func() uint64 {
	power := uint64(1)
	for range shingleSize - 1 {
		power *= shingleBase
	}
	return power
}()

// newShingles indexes texts so that common pieces of least bytes are found.
func newShingles(incoming []incomingText, least int) *shingles {
	total := 0
	s := &shingles{}
	for _, in := range incoming {
		total += len(in.text)
		s.texts = append(s.texts, in.text)
	}
	s.step = max(1, least-shingleSize+1, total/shingleRoom)
	count := total/s.step + len(incoming)
	bits := 1 << 12
	for bits < 16*count {
		bits <<= 1
	}
	s.filter, s.mask = make([]uint64, bits/64), uint64(bits-1)
	s.at = make(map[uint64]shinglePlace, count)
	for i, text := range s.texts {
		for offset := 0; offset+shingleSize <= len(text); offset += s.step {
			hash := hashOf(text[offset : offset+shingleSize])
			if _, taken := s.at[hash]; !taken {
				s.at[hash] = shinglePlace{int32(i), int32(offset)}
			}
			bit := mixed(hash) & s.mask
			s.filter[bit>>6] |= 1 << (bit & 63)
		}
	}
	return s
}

func hashOf(text string) uint64 {
	hash := uint64(0)
	for i := range len(text) {
		hash = hash*shingleBase + uint64(text[i])
	}
	return hash
}

// mixed spreads a hash whose low bits hold little but the last bytes.
func mixed(hash uint64) uint64 { return hash ^ hash>>29 ^ hash>>47 }

// scan visits the shingles of text that the index has. What visit returns is
// where to go on in text; 0 stands for the next byte.
func (s *shingles) scan(text string, visit func(start int, place shinglePlace) (next int)) {
	if len(text) < shingleSize || len(s.at) == 0 {
		return
	}
	start := 0
	hash := hashOf(text[:shingleSize])
	for {
		next := start + 1
		if bit := mixed(hash) & s.mask; s.filter[bit>>6]&(1<<(bit&63)) != 0 {
			if place, found := s.at[hash]; found {
				next = max(next, visit(start, place))
			}
		}
		switch {
		case next+shingleSize > len(text):
			return
		case next == start+1:
			hash = (hash-uint64(text[start])*shinglePower)*shingleBase + uint64(text[start+shingleSize])
		default:
			hash = hashOf(text[next : next+shingleSize])
		}
		start = next
	}
}

// search visits the pieces that text has in common with the indexed ones, each
// as long as it can be, one after another.
func (s *shingles) search(text string, visit func(hit)) {
	s.scan(text, func(start int, place shinglePlace) int {
		begin, end := s.widen(text, start, place)
		if end > 0 {
			visit(hit{int(place.text), begin, text[begin:end]})
		}
		return end
	})
}

// widen makes a common shingle as long as it can be; end is 0 where the hashes
// only were the same.
func (s *shingles) widen(text string, start int, place shinglePlace) (begin, end int) {
	other, from := s.texts[place.text], int(place.offset)
	if text[start:start+shingleSize] != other[from:from+shingleSize] {
		return 0, 0
	}
	begin, end = start, start+shingleSize
	for end < len(text) && from+end-start < len(other) && text[end] == other[from+end-start] {
		end++
	}
	for begin > 0 && from-(start-begin) > 0 && text[begin-1] == other[from-(start-begin)-1] {
		begin--
	}
	return begin, end
}
