package record

import "sync"

// pairs is a one-to-one renaming that grows as values are met. The zero value
// holds none. Several goroutines may use it.
type pairs struct {
	mu       sync.Mutex
	toSent   map[string]string
	toRecord map[string]string
}

// same reports whether recorded and sent may stand for each other: neither was
// met before, or both were met together. A pair of two new values is kept.
func (p *pairs) same(recorded, sent string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, haveSent := p.toSent[recorded]
	r, haveRecorded := p.toRecord[sent]
	if haveSent || haveRecorded {
		return haveSent && haveRecorded && s == sent && r == recorded
	}
	if p.toSent == nil {
		p.toSent, p.toRecord = map[string]string{}, map[string]string{}
	}
	p.toSent[recorded], p.toRecord[sent] = sent, recorded
	return true
}

// recorded returns what sent was met with, if it was met.
func (p *pairs) recorded(sent string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recorded, ok := p.toRecord[sent]
	return recorded, ok
}

// sent returns what recorded was met with, if it was met.
func (p *pairs) sent(recorded string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent, ok := p.toSent[recorded]
	return sent, ok
}
