package record

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
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
func (g *trafficGroup) moments() []moment {
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
// Which entry each exchange came from is returned with the transcript.
func (out *TrafficImport) play(ctx context.Context, h *transcripts.Traffic, g *trafficGroup, o TrafficOptions) (*transcripts.File, map[runtime.Place]transcripts.TrafficIndex, error) {
	upstream := o.Redact.URL(g.base)
	if o.Together { // the recorder tells the first agent's upstream from the others'
		upstream = ""
	}
	header := transcripts.Header{
		Name: strings.TrimSuffix(filepath.Base(g.path), ".jsonl"), Upstream: upstream, By: o.By,
	}
	if !h.Began.IsZero() {
		header.Recorded = g.entries[0].Start.Format(time.RFC3339)
	}
	create := transcripts.Create
	if o.InMemory {
		create = transcripts.CreateInMemory
	}
	writer, err := create(g.path, header)
	if err != nil {
		return nil, nil, err
	}
	p := &trafficPlayer{out: out, traffic: h, group: g, writer: writer, open: map[int]*http.Response{}, now: g.entries[0].Start}
	recorder := NewRecorder(writer, RecorderOptions{
		Fold: o.Fold, Redact: o.Redact, Attribute: &o.Attribute, Now: func() time.Time { return p.now }, Sequence: !h.Timed,
	})
	p.transport = recorder.Transport(p)
	for _, m := range g.moments() {
		if err = ctx.Err(); err == nil {
			err = p.step(ctx, m)
		}
		if err != nil {
			kept, _ := writer.Keep() // it fails with what failed before, which is told
			if !o.InMemory {
				err = fmt.Errorf("%w; what was finished is in %s", err, kept)
			}
			return nil, nil, err
		}
		p.place(m.entry)
	}
	file, err := recorder.Close()
	return file, p.places(), err
}

// trafficPlayer is both ends of the recorder: the client that asks, and the
// upstream that answers, as the entries say. Everything happens in one
// goroutine, at the time that now says.
type trafficPlayer struct {
	out       *TrafficImport
	traffic   *transcripts.Traffic
	group     *trafficGroup
	transport http.RoundTripper
	now       time.Time
	open      map[int]*http.Response
	entry     *transcripts.TrafficEntry // whose request is being sent
	writer    *transcripts.Writer
	written   []*transcripts.Exchange // so far
	from      []int                   // the entry of each
}

// place notes that what was written last came from an entry.
func (p *trafficPlayer) place(entry int) {
	p.writer.Amend(func(f *transcripts.File) {
		for _, e := range f.Exchanges[len(p.written):] {
			p.written, p.from = append(p.written, e), append(p.from, entry)
		}
	})
}

// places tells the entries of the exchanges by their final places.
func (p *trafficPlayer) places() map[runtime.Place]transcripts.TrafficIndex {
	places := make(map[runtime.Place]transcripts.TrafficIndex, len(p.written))
	for i, e := range p.written {
		places[runtime.Place{Agent: e.Agent, Turn: e.Turn, Try: max(e.Try, 1)}] = p.group.entries[p.from[i]]
	}
	return places
}

func (p *trafficPlayer) step(ctx context.Context, m moment) error {
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
func (p *trafficPlayer) begin(ctx context.Context, n int) error {
	at := p.group.entries[n]
	e, err := p.traffic.Read(at)
	if err != nil {
		return err
	}
	if !p.fits(e) {
		return nil
	}
	if asksModel(at) {
		p.nameModel(e)
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

// deployment is the name of a model in an address, as Azure has it.
var deployment = regexp.MustCompile(`/deployments/([^/]+)/`)

// nameModel puts the model's name into a request that has it in its address
// alone: a transcript keeps no address.
func (p *trafficPlayer) nameModel(e *transcripts.TrafficEntry) {
	name := deployment.FindStringSubmatch(e.URL.Path)
	body := bytes.TrimLeft(e.Body, " \t\r\n")
	if name == nil || !bytes.HasPrefix(body, []byte("{")) || !jsontext.Value(body).IsValid() {
		return
	}
	var asked struct {
		Model *string `json:"model"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || asked.Model != nil {
		return
	}
	quoted, _ := jsontext.AppendQuote(nil, name[1]) // bytes that are no UTF-8 become U+FFFD
	comma := ","
	if rest := bytes.TrimLeft(body[1:], " \t\r\n"); rest[0] == '}' {
		comma = ""
	}
	e.Body = slices.Concat([]byte(`{"model":`), quoted, []byte(comma), body[1:])
	p.out.warn(e.TrafficIndex, "the model's name %s stands in the address alone, and was put into the request", quoted)
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
func (p *trafficPlayer) fits(e *transcripts.TrafficEntry) bool {
	model := asksModel(e.TrafficIndex)
	switch {
	case e.Sockets > 0 || e.Status == http.StatusSwitchingProtocols:
		p.out.leave(e.TrafficIndex, fmt.Sprintf("a WebSocket of %s, which no transcript holds", counted(e.Sockets, "message")))
		return false
	case model && e.NoBody:
		p.out.Hidden++
		p.out.warn(e.TrafficIndex, "left out, for the file does not hold what was asked")
		return false
	case e.Status == 0 && trafficFailure(e.Failed) == runtime.EndClientClosed:
		p.out.leave(e.TrafficIndex, "the client gave it up before there was an answer")
		return false
	}
	if model && e.Header.Get("Content-Encoding") == "" && !jsontext.Value(e.Body).IsValid() {
		p.out.Hidden++
		p.out.warn(e.TrafficIndex, "what was asked is no whole JSON (%d bytes), so it is kept as a request of no agent", len(e.Body))
	}
	if e.Status != 0 && e.Lost > 0 {
		p.out.warn(e.TrafficIndex, "the file does not hold the body of the answer (%d bytes), so it is kept as one that broke off", e.Lost)
	}
	return true
}

// RoundTrip implements http.RoundTripper: it answers as the entry says.
func (p *trafficPlayer) RoundTrip(req *http.Request) (*http.Response, error) {
	e := p.entry
	var end error
	switch failure := trafficFailure(e.Failed); {
	case e.Status == 0:
		p.now = e.End
		return nil, trafficRefusal(e.Failed)
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

// trafficFailure reads what browsers say of a failed request; "" when nothing
// failed.
func trafficFailure(text string) runtime.End {
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

// trafficRefusal is the error of a request that got no response.
func trafficRefusal(text string) error {
	upper := strings.ToUpper(text)
	switch {
	case trafficFailure(text) == runtime.EndTimeout:
		return os.ErrDeadlineExceeded
	case strings.Contains(upper, "SSL"), strings.Contains(upper, "CERT"), strings.Contains(upper, "TLS"):
		return tls.RecordHeaderError{Msg: text}
	default:
		return errors.New(cmp.Or(text, "no response"))
	}
}
