package transcripts

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Traffic is a file of recorded HTTP requests and responses: a HAR file, a
// cassette, a httprr trace. Only an index of it is held in memory; an entry is
// read when it is asked for.
type Traffic struct {
	Path    string
	Format  string         // har, go-vcr, x-vcr, vcrpy or httprr
	Word    string         // what the format calls an entry
	Entries []TrafficIndex // those that can be read, in the order in which they began
	// Timed is set where the file says when its requests came, or how long they
	// took. Without, Start and End tell the order alone: each entry ended before
	// the next one began.
	Timed bool
	// Began is when the first request came, as far as the file says it; else zero.
	Began time.Time
	// Warnings name what could not be read, with the number of the entry; the
	// rest is in Entries.
	Warnings []Warning
	// Torn is set when the file breaks off or cannot be understood from some point
	// on: what stands before it is in Entries.
	Torn *SyntaxError

	read func(TrafficIndex) (*TrafficEntry, error)
}

// TrafficIndex says where an entry stands and what it is.
type TrafficIndex struct {
	Number     int // from 1, as it stands in the file
	Line       int // from 1; 0: not known
	Start, End time.Time
	Method     string
	URL        *url.URL

	from, to int64
}

// TrafficEntry is one request and what came of it.
type TrafficEntry struct {
	TrafficIndex
	Header   http.Header
	Body     []byte
	NoBody   bool          // the request had a body that the file does not hold
	Wait     time.Duration // from Start to the first byte of the response
	Status   int           // 0: no response
	Response http.Header
	Content  []byte // the response's body, decoded
	Lost     int64  // the size of a response's body that the file does not hold; 0: none is missing
	// Failed is what the program that wrote the file says of a failure, such as
	// net::ERR_ABORTED; "" for none.
	Failed  string
	Sockets int // messages of a WebSocket
}

// Read reads an entry of the index.
func (t *Traffic) Read(at TrafficIndex) (*TrafficEntry, error) {
	e, err := t.read(at)
	if err != nil {
		return nil, fmt.Errorf("read %s %s %d: %w", t.Path, t.Word, at.Number, err)
	}
	e.TrafficIndex = at
	return e, nil
}

// Name is the entry's method and address, without what may be secret in it.
func (i TrafficIndex) Name() string {
	u := url.URL{Scheme: i.URL.Scheme, Host: i.URL.Host, Path: i.URL.Path}
	return i.Method + " " + u.String()
}

// In is the warning as a person reads it; path is the file.
func (w Warning) In(path string) string {
	if w.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", path, w.Line, w.Msg)
	}
	return path + ": " + w.Msg
}

// warn notes what is wrong with an entry.
func (t *Traffic) warn(number, line int, format string, args ...any) {
	t.Warnings = append(t.Warnings, Warning{Line: line, Msg: fmt.Sprintf("%s %d: ", t.Word, number) + fmt.Sprintf(format, args...)})
}

// inOrder sorts the entries by the time at which they began.
func (t *Traffic) inOrder() {
	slices.SortStableFunc(t.Entries, func(a, b TrafficIndex) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Number, b.Number))
	})
}

// trafficStep parts the entries of a file without times: more than the grain
// of the clock with which they are played.
const trafficStep = 10 * time.Millisecond

// inSequence gives each entry its time: after the one before it, and as long as
// it took where the file says that.
func (t *Traffic) inSequence(took []time.Duration) {
	t.Timed = slices.ContainsFunc(took, func(d time.Duration) bool { return d > 0 })
	now := t.Began
	if now.IsZero() {
		now = time.Unix(0, 0).UTC()
	}
	for i := range t.Entries {
		t.Entries[i].Start = now
		if !t.Timed {
			now = now.Add(trafficStep)
		} else {
			now = now.Add(took[i])
		}
		t.Entries[i].End = now
	}
}

// began takes the date of a response for that of the file, if it is the first
// one that says it.
func (t *Traffic) began(h http.Header) {
	if !t.Began.IsZero() {
		return
	}
	if at, err := http.ParseTime(h.Get("Date")); err == nil && at.Year() > 1970 && at.Year() < 2200 {
		t.Began = at.UTC()
	}
}

// CountLines finds the line of each entry; data is the whole file.
func (t *Traffic) CountLines(data []byte) {
	order := make([]*TrafficIndex, len(t.Entries))
	for i := range t.Entries {
		order[i] = &t.Entries[i]
	}
	slices.SortFunc(order, func(a, b *TrafficIndex) int { return cmp.Compare(a.from, b.from) })
	line, at := 1, int64(0)
	for _, e := range order {
		if e.from > int64(len(data)) {
			return
		}
		line += bytes.Count(data[at:e.from], []byte("\n"))
		e.Line, at = line, e.from
	}
}
