package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Options sets up a recording proxy.
type Options struct {
	// Upstream is the base URL of an OpenAI-compatible endpoint, as clients are
	// given it: https://api.openai.com/v1. Its path takes the place of a request's
	// leading /v1, its query is added to the request's.
	Upstream *url.URL
	// AnthropicUpstream is that of an Anthropic endpoint, usually without /v1; it
	// gets what is asked below /v1/messages, and what has the header
	// anthropic-version. nil: Upstream gets that too.
	AnthropicUpstream *url.URL
	// Open begins the recording of a session, at its first request; "" is the
	// default session. An error refuses the request; one that holds a
	// *record.RefusedError is the client's, and no session has begun.
	Open func(session string) (*record.Recorder, error)
	// Transport sends requests on; nil: net/http's, with the environment's proxy
	// settings, and bodies left in the coding that the client asked for.
	Transport http.RoundTripper
	// Strict refuses by name what is neither a request for a model answer nor one
	// of the small endpoints around them.
	Strict bool
	// Ended is told of every session that ends, by Close too; nil: nobody is.
	Ended    func(Result)
	ErrorLog *log.Logger // of net/http; nil: nothing is logged
}

// Proxy passes what clients ask to its upstreams and records it, one recorder a
// session. Bytes pass unbuffered and unchanged in both directions. It is the
// Sessions of a Server.
type Proxy struct {
	options Options
	buffers buffers

	mu       sync.Mutex
	sessions map[string]*session
	closed   bool
}

// session is one recording.
type session struct {
	name     string
	open     sync.Once
	recorder *record.Recorder
	err      error // why it could not begin
	proxy    *httputil.ReverseProxy
	ended    bool
	under    sync.WaitGroup // requests under way
}

// Result is what became of a session.
type Result struct {
	Session string
	File    *transcripts.File
	Notes   []string // what the client changed in answers that it sent back
	Err     error    // transcripts.ErrEmpty if it asked for no model answer
}

// New returns a proxy. It needs an upstream and Open.
func New(o Options) (*Proxy, error) {
	if o.Upstream == nil {
		o.Upstream = o.AnthropicUpstream
	}
	if o.Open == nil {
		return nil, errors.New("proxy: nothing opens its recordings")
	}
	for _, u := range []*url.URL{o.Upstream, cmp.Or(o.AnthropicUpstream, o.Upstream)} {
		if u == nil {
			return nil, errors.New("proxy: an upstream is needed, as in https://api.openai.com/v1")
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("proxy: upstream %q: must look like https://host/v1", u.Redacted())
		}
	}
	if o.Transport == nil {
		o.Transport = NewTransport()
	}
	return &Proxy{options: o, sessions: map[string]*session{}}, nil
}

// NewTransport is net/http's transport, without a coding of its own and with
// room for many sessions at once.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	return t
}

// SessionCount implements Sessions.
func (p *Proxy) SessionCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, s := range p.sessions {
		if !s.ended {
			n++
		}
	}
	return n
}

// ServeSession implements Sessions. DELETE / ends the session: its transcript is
// put in place, and nothing more is taken for it.
func (p *Proxy) ServeSession(name string, w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodDelete && r.URL.Path == "/" {
		p.answerEnd(name, w, r)
		return
	}
	if p.options.Strict && !isKnown(r) {
		WriteError(w, r, http.StatusNotFound, "unknown_path",
			fmt.Sprintf("%s %s is no request that is recorded here, and --strict refuses all others", r.Method, r.URL.Path))
		return
	}
	s, why := p.enter(name)
	if s == nil {
		WriteError(w, r, http.StatusGone, "session_ended", why)
		return
	}
	defer s.under.Done()
	s.open.Do(func() { p.begin(s) })
	if refused, ok := errors.AsType[*record.RefusedError](s.err); ok {
		p.forget(s)
		WriteError(w, r, http.StatusBadRequest, "bad_session", refused.Text)
		return
	}
	if s.err != nil {
		WriteError(w, r, http.StatusInternalServerError, "recording_failed", s.err.Error())
		return
	}
	s.proxy.ServeHTTP(w, r)
}

// enter counts a request into its session, which begins with it if need be.
func (p *Proxy) enter(name string) (s *session, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, "the proxy has ended"
	}
	s = p.sessions[name]
	if s == nil {
		s = &session{name: name}
		p.sessions[name] = s
	}
	if s.ended {
		return nil, fmt.Sprintf("session %q has ended; a new recording needs a new name", name)
	}
	s.under.Add(1)
	return s, ""
}

// forget drops a session that has not begun.
func (p *Proxy) forget(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[s.name] == s {
		delete(p.sessions, s.name)
	}
}

// begin opens the session's recording.
func (p *Proxy) begin(s *session) {
	if s.recorder, s.err = p.options.Open(s.name); s.err != nil {
		return
	}
	s.proxy = &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     s.recorder.Transport(&onward{options: &p.options}),
		FlushInterval: -1,
		BufferPool:    &p.buffers,
		ErrorLog:      cmp.Or(p.options.ErrorLog, silent),
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, err error) { p.failed(s, w, r, err) },
	}
}

// rewrite leaves a request as the client wrote it.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}

// onward sends a request to its upstream. It stands behind the recorder, which
// so sees the path that the client asked for, and replays it.
type onward struct{ options *Options }

// RoundTrip implements http.RoundTripper.
func (o *onward) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := req.Clone(req.Context())
	sent.URL, sent.Host = o.options.target(req), ""
	sent.Header.Del("Expect") // the body is here already: nobody need wait for leave to send it
	readableCodings(sent.Header)
	return o.options.Transport.RoundTrip(sent)
}

// isAnthropic reports whether a request is one of Anthropic's.
func isAnthropic(r *http.Request) bool {
	return r.URL.Path == "/v1/messages" || strings.HasPrefix(r.URL.Path, "/v1/messages/") ||
		r.Header.Get("Anthropic-Version") != ""
}

// upstream is where a request goes: an OpenAI-compatible endpoint's path takes
// the place of a leading /v1; so does that of an Anthropic endpoint which ends in
// /v1, any other stands before it.
func (o *Options) upstream(req *http.Request) (base *url.URL, prefix, path string) {
	base, path = o.Upstream, req.URL.EscapedPath()
	rest, isV1 := strings.CutPrefix(path, "/v1")
	isV1 = isV1 && (rest == "" || rest[0] == '/')
	if o.AnthropicUpstream != nil && isAnthropic(req) {
		base = o.AnthropicUpstream
		prefix = strings.TrimRight(base.EscapedPath(), "/")
		isV1 = isV1 && strings.HasSuffix(prefix, "/v1")
	} else if prefix = strings.TrimRight(base.EscapedPath(), "/"); !isV1 {
		prefix = ""
	}
	if isV1 {
		path = rest
	}
	return base, prefix, path
}

// target is the URL of a request at its upstream.
func (o *Options) target(req *http.Request) *url.URL {
	base, prefix, path := o.upstream(req)
	to := *req.URL
	to.Scheme, to.Host, to.User = base.Scheme, base.Host, base.User
	to.RawPath = prefix + path
	to.Path, _ = url.PathUnescape(to.RawPath) // both halves were escaped by net/url
	if base.RawQuery != "" {
		to.RawQuery = strings.Trim(base.RawQuery+"&"+to.RawQuery, "&")
	}
	return &to
}

// isKnown reports whether a request is for a model answer or for one of the
// small endpoints that clients of models ask.
func isKnown(r *http.Request) bool {
	if _, ok := runtime.WireOf(r.URL.Path); ok {
		return r.Method == http.MethodPost
	}
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	return path == "/models" || strings.HasPrefix(path, "/models/") || path == "/embeddings" || path == "/messages/count_tokens"
}

// failed answers a request that got no response.
func (p *Proxy) failed(s *session, w http.ResponseWriter, r *http.Request, err error) {
	var (
		large   *http.MaxBytesError
		body    *record.BodyError
		refused *record.RefusedError
		own     *runtime.OwnError
		network net.Error
	)
	switch {
	case errors.As(err, &large):
		tooLarge(w, r, large.Limit)
	case errors.As(err, &body) && errors.As(err, &network) && network.Timeout():
		w.Header().Set("Connection", "close")
		WriteError(w, r, http.StatusRequestTimeout, "request_timeout", "the request body did not come in time")
	case errors.As(err, &body), errors.Is(err, context.Canceled), r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // nobody is there to be answered
	case errors.As(err, &refused):
		WriteError(w, r, http.StatusBadRequest, "bad_request", refused.Text)
	case errors.As(err, &own):
		WriteError(w, r, http.StatusInternalServerError, "recording_failed", s.recorder.Mask(own.Error()))
	default:
		to := p.options.target(r)
		WriteError(w, r, http.StatusBadGateway, "upstream_"+runtime.ConnectKind(err),
			s.recorder.Mask(fmt.Sprintf("the upstream %s://%s cannot be reached: %v", to.Scheme, to.Host, err)))
	}
}

// answerEnd ends a session for a client.
func (p *Proxy) answerEnd(name string, w http.ResponseWriter, r *http.Request) {
	result, open := p.CloseSession(name)
	switch {
	case !open:
		WriteError(w, r, http.StatusNotFound, "unknown_session", fmt.Sprintf("session %q is not open", name))
	case result.Err != nil:
		WriteError(w, r, http.StatusInternalServerError, "recording_failed", result.Err.Error())
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(struct { // the session has ended, whoever hears of it
			Session   string `json:"session"`
			File      string `json:"file"`
			Exchanges int    `json:"exchanges"`
		}{name, result.File.Path, len(result.File.Exchanges)})
	}
}

// CloseSession ends a session when its requests under way have ended; false if
// none of that name is open. Its name is not taken again.
func (p *Proxy) CloseSession(name string) (Result, bool) {
	p.mu.Lock()
	s := p.sessions[name]
	if s == nil || s.ended {
		p.mu.Unlock()
		return Result{Session: name}, false
	}
	s.ended = true
	p.mu.Unlock()
	return p.end(s), true
}

// end sums a session up and lets go of it.
func (p *Proxy) end(s *session) Result {
	s.under.Wait()
	result := Result{Session: s.name, Err: s.err}
	if s.recorder != nil {
		result.File, result.Err = s.recorder.Close()
		result.Notes = s.recorder.EchoNotes()
	}
	s.recorder, s.proxy = nil, nil
	if p.options.Ended != nil {
		p.options.Ended(result)
	}
	return result
}

// Close ends every session, in the order of their names. Shut the server down
// first: Close waits for the requests under way.
func (p *Proxy) Close() []Result {
	p.mu.Lock()
	p.closed = true
	var open []*session
	for _, s := range p.sessions {
		if !s.ended {
			s.ended = true
			open = append(open, s)
		}
	}
	p.mu.Unlock()
	slices.SortFunc(open, func(a, b *session) int { return cmp.Compare(a.name, b.name) })
	var results []Result
	for _, s := range open {
		results = append(results, p.end(s))
	}
	if idle, ok := p.options.Transport.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
	return results
}
