package record

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// httpTape holds what a transcript has of requests that are no model exchanges.
type httpTape struct {
	base string // the path of the recorded upstream

	mu     sync.Mutex
	lines  map[string][]*httpAnswer // by method and path
	missed map[string]bool          // what was asked for and not there: method and path, as asked
}

// httpAnswer is one http line.
type httpAnswer struct {
	request  string // the body that was sent
	exchange *transcripts.Exchange
	used     bool
}

func newHTTPTape(f *transcripts.File) *httpTape {
	t := &httpTape{lines: map[string][]*httpAnswer{}, missed: map[string]bool{}}
	if u, err := url.Parse(f.Header.Upstream); err == nil {
		t.base = strings.TrimRight(u.Path, "/")
	}
	for _, line := range f.HTTP {
		key, answer := readHTTPLine(line)
		t.lines[t.key(key[0], key[1])] = append(t.lines[t.key(key[0], key[1])], answer)
	}
	return t
}

// key names a method and a path. The path of the recorded upstream and the /v1
// of our own address are the same.
func (t *httpTape) key(method, path string) string {
	path = strings.TrimRight(path, "/")
	for _, base := range []string{t.base, "/v1"} {
		if rest, ok := strings.CutPrefix(path, base); ok && base != "" && strings.HasPrefix(rest, "/") {
			path = rest
			break
		}
	}
	return method + " " + anySecret(path)
}

// anySecret is text with no number in the placeholders of secrets: those of two
// sessions are counted in different orders.
func anySecret(text string) string {
	return secretMark.ReplaceAllStringFunc(text, kindOfSecret)
}

// readHTTPLine reads one http line; key is its method and path.
func readHTTPLine(line *transcripts.HTTP) (key [2]string, answer *httpAnswer) {
	answer = &httpAnswer{exchange: &transcripts.Exchange{Line: line.Line}}
	e := answer.exchange
	for _, v := range valuesIn(line.Raw) {
		value := line.Raw[v.start:v.end]
		text := func() string { return valueNode(value).text } // the values of a body are many, and nested
		switch v.pointer {
		case "/method":
			key[0] = text()
		case "/path":
			key[1] = text()
		case "/request":
			answer.request = anySecret(string(value))
		case "/status":
			if n, ok := wholeNumber(text()); ok {
				e.Status = n
			}
		case "/error":
			e.Err = text()
		case "/response":
			e.Response = jsontext.Value(value)
		case "/text":
			whole := text()
			e.Text = &whole
		case "/base64":
			if raw, err := base64.StdEncoding.DecodeString(text()); err == nil {
				e.Base64 = raw
			}
		default:
			if name, ok := strings.CutPrefix(v.pointer, "/headers/"); ok && !strings.Contains(name, "/") {
				e.Headers = append(e.Headers, transcripts.Member{Name: name, Value: jsontext.Value(value)})
			}
		}
	}
	return key, answer
}

// answer finds the line that answers a request: one with the same body that was
// not used yet, else the next one, else the last one once more.
func (t *httpTape) answer(method, path, request string) *httpAnswer {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines[t.key(method, path)]
	var next *httpAnswer
	for _, line := range lines {
		if line.used {
			continue
		}
		if line.request == anySecret(request) {
			next = line
			break
		}
		if next == nil {
			next = line
		}
	}
	if next == nil && len(lines) > 0 {
		next = lines[len(lines)-1]
	}
	if next != nil {
		next.used = true
	}
	return next
}

// miss reports whether a path is missed for the first time.
func (t *httpTape) miss(method, path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	asked := method + " " + path
	before := t.missed[asked]
	t.missed[asked] = true
	return !before
}

// notes name what was asked for and not there, in order.
func (t *httpTape) notes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(t.missed)) {
		lines = append(lines, key+" was not recorded, and answered with status 404")
	}
	return lines
}

// other answers a request that is none for a model answer, or one that cannot be
// read as such.
func (p *Playback) other(req *http.Request, body []byte) *delivery {
	path := p.replay.options.Redact.Text(req.URL.Path)
	request := ""
	if len(body) > 0 {
		request = string(bytes.TrimSpace(p.replay.normal(body)))
	}
	line := p.others.answer(req.Method, path, request)
	if line == nil && p.options.Live != nil {
		return &delivery{live: &liveCall{playback: p, req: req}}
	}
	if line == nil {
		return p.unknownPath(req.Method, path)
	}
	e := line.exchange
	if e.Status == 0 {
		return &delivery{none: e.Err}
	}
	d := &delivery{status: e.Status, blocks: bodyOf(p.replay.options.Fold, e)}
	d.header = headOf(e, p.options.Speed > 0)
	if req.Method == http.MethodHead {
		d.blocks = nil
	}
	return d.withLength()
}

// unknownPath refuses what was not recorded. Under Strict that is a finding.
func (p *Playback) unknownPath(method, path string) *delivery {
	message := fmt.Sprintf("%s %s was not recorded", method, path)
	if p.others.miss(method, path) && p.options.Strict {
		p.replay.ledger.add(place{}, codeMissing, message,
			"session: "+message+"\n  to accept it: tapetree record "+p.replay.options.Name)
	}
	wire, _ := runtime.WireOf(path)
	return refusal(wire, http.StatusNotFound, "tapetree replay: "+message+"; to accept it: tapetree record "+p.replay.options.Name)
}
