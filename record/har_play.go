package record

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// moment is the beginning or the end of an entry.
type moment struct {
	at    time.Time
	entry int // in the group
	end   bool
	rank  int // of moments at one time
}

// The ranks: what ends makes room for what begins, and an entry that takes no
// time has ended before another one begins.
const (
	rankEnd = iota
	rankAtOnce
	rankBegin
)

// harGrain is the precision of the times in HAR files: what ended within it
// after another request began is taken to have ended before.
const harGrain = time.Millisecond

// moments lists beginnings and ends in the order of the clock.
func (g *harGroup) moments() []moment {
	var all []moment
	for i, e := range g.entries {
		begin, end := moment{e.Start, i, false, rankBegin}, moment{e.End.Add(-harGrain), i, true, rankEnd}
		if !end.at.After(begin.at) {
			begin.rank, end.rank, end.at = rankAtOnce, rankAtOnce, begin.at
		}
		all = append(all, begin, end)
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.entry, b.entry))
	})
	return all
}

// play sends one group through a recorder.
func (out *HARImport) play(ctx context.Context, h *transcripts.HAR, g *harGroup, o HAROptions) (*transcripts.File, error) {
	upstream := o.Redact.URL(g.base)
	if o.Together { // the recorder tells the first agent's upstream from the others'
		upstream = ""
	}
	writer, err := transcripts.Create(g.path, transcripts.Header{
		Name: strings.TrimSuffix(filepath.Base(g.path), ".jsonl"), Upstream: upstream,
		Recorded: g.entries[0].Start.Format(time.RFC3339), By: o.By,
	})
	if err != nil {
		return nil, err
	}
	p := &harPlayer{out: out, har: h, group: g, open: map[int]*http.Response{}, now: g.entries[0].Start}
	recorder := NewRecorder(writer, RecorderOptions{
		Fold: o.Fold, Redact: o.Redact, Attribute: &o.Attribute, Now: func() time.Time { return p.now },
	})
	p.transport = recorder.Transport(p)
	for _, m := range g.moments() {
		if err = ctx.Err(); err == nil {
			err = p.step(ctx, m)
		}
		if err != nil {
			kept, _ := writer.Keep() // it fails with what failed before, which is told
			return nil, fmt.Errorf("%w; what was finished is in %s", err, kept)
		}
	}
	return recorder.Close()
}

// harPlayer is both ends of the recorder: the client that asks, and the
// upstream that answers, as the entries say. Everything happens in one
// goroutine, at the time that now says.
type harPlayer struct {
	out       *HARImport
	har       *transcripts.HAR
	group     *harGroup
	transport http.RoundTripper
	now       time.Time
	open      map[int]*http.Response
	entry     *transcripts.HAREntry // whose request is being sent
}

func (p *harPlayer) step(ctx context.Context, m moment) error {
	if !m.end {
		return p.begin(ctx, m.entry)
	}
	resp := p.open[m.entry]
	if resp == nil {
		return nil
	}
	delete(p.open, m.entry)
	p.now = p.group.entries[m.entry].End
	_, err := io.Copy(io.Discard, resp.Body)
	return errors.Join(ownFault(err), resp.Body.Close())
}

// begin sends a request. All of an answer is read at once, but for its end: the
// file does not say when its parts came, and a call in it may have begun an
// agent long before the last one was written. What failed has failed at its end.
func (p *harPlayer) begin(ctx context.Context, n int) error {
	at := p.group.entries[n]
	e, err := p.har.Read(at)
	if err != nil {
		return err
	}
	if !p.fits(e) {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, e.URL.String(), strings.NewReader(string(e.Body)))
	if err != nil {
		p.out.leave(at, "its method is none of HTTP")
		return nil
	}
	req.Header = e.Header
	p.now, p.entry = at.Start, e
	resp, err := p.transport.RoundTrip(req)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		p.out.warn(at, "left out: %s", refused.Text)
		return nil
	}
	if err != nil {
		return ownFault(err)
	}
	p.open[n] = resp
	if e.Status/100 == 2 && len(e.Content) > 0 {
		p.now = at.Start.Add(e.Wait)
		_, err = io.ReadFull(resp.Body, make([]byte, len(e.Content)))
	}
	return ownFault(err)
}

// ownFault passes on what the recorder could not do; how a response ended is
// no fault.
func ownFault(err error) error {
	if own, ok := errors.AsType[*runtime.OwnError](err); ok {
		return own
	}
	return nil
}

// fits reports whether a transcript can hold an entry, and says what of it
// will be missing there.
func (p *harPlayer) fits(e *transcripts.HAREntry) bool {
	model := asksModel(e.HARIndex)
	switch {
	case e.Sockets > 0 || e.Status == http.StatusSwitchingProtocols:
		p.out.leave(e.HARIndex, fmt.Sprintf("a WebSocket of %s, which no transcript holds", counted(e.Sockets, "message")))
		return false
	case model && e.NoBody:
		p.out.Hidden++
		p.out.warn(e.HARIndex, "left out, for the file does not hold what was asked")
		return false
	case e.Status == 0 && harFailure(e.Failed) == runtime.EndClientClosed:
		p.out.leave(e.HARIndex, "the client gave it up before there was an answer")
		return false
	}
	if model && e.Header.Get("Content-Encoding") == "" && !jsontext.Value(e.Body).IsValid() {
		p.out.Hidden++
		p.out.warn(e.HARIndex, "what was asked is no whole JSON (%d bytes), so it is kept as a request of no agent", len(e.Body))
	}
	if e.Status != 0 && e.Lost > 0 {
		p.out.warn(e.HARIndex, "the file does not hold the body of the answer (%d bytes), so it is kept as one that broke off", e.Lost)
	}
	return true
}

// RoundTrip implements http.RoundTripper: it answers as the entry says.
func (p *harPlayer) RoundTrip(req *http.Request) (*http.Response, error) {
	e := p.entry
	var end error
	switch failure := harFailure(e.Failed); {
	case e.Status == 0:
		p.now = e.End
		return nil, harRefusal(e.Failed)
	case failure == runtime.EndClientClosed:
		end = context.Canceled
	case failure == runtime.EndTimeout:
		end = os.ErrDeadlineExceeded
	case failure == runtime.EndReset, e.Lost > 0:
		end = io.ErrUnexpectedEOF
	}
	length := int64(-1)
	if end == nil && e.Status/100 == 2 {
		end, length = io.EOF, int64(len(e.Content))
	}
	return &http.Response{
		StatusCode: e.Status, Status: fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: e.Response, ContentLength: length, Request: req,
		Body: io.NopCloser(io.MultiReader(strings.NewReader(string(e.Content)), &failing{cmp.Or(end, io.EOF)})),
	}, nil
}

// failing is what comes after the last byte of a body.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// harFailure reads what browsers say of a failed request; "" when nothing
// failed.
func harFailure(text string) runtime.End {
	text = strings.ToUpper(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	}
	switch {
	case text == "":
		return ""
	case has("ABORTED", "CANCELED", "CANCELLED"):
		return runtime.EndClientClosed
	case has("TIMED_OUT", "TIMED OUT", "TIMEOUT"):
		return runtime.EndTimeout
	default:
		return runtime.EndReset
	}
}

// harRefusal is the error of a request that got no response.
func harRefusal(text string) error {
	upper := strings.ToUpper(text)
	switch {
	case harFailure(text) == runtime.EndTimeout:
		return os.ErrDeadlineExceeded
	case strings.Contains(upper, "SSL"), strings.Contains(upper, "CERT"), strings.Contains(upper, "TLS"):
		return tls.RecordHeaderError{Msg: text}
	default:
		return errors.New(cmp.Or(text, "no response"))
	}
}
