// Package proxy serves HTTP: the recording proxy, which passes a client's
// requests on, and the replay server, which answers them from transcripts. Both
// hold several sessions at once.
package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Sessions answers the requests that a Server takes.
type Sessions interface {
	// ServeSession answers a request of a session, "" for the default one. The
	// request's path is as if the session had the server to itself.
	ServeSession(session string, w http.ResponseWriter, r *http.Request)
	// SessionCount is how many sessions are open.
	SessionCount() int
}

// ServerOptions bound what clients can take of a Server. Zero values are
// replaced by the defaults.
type ServerOptions struct {
	MaxHeader int           // bytes of a request's head; more is 431
	MaxBody   int64         // bytes of a request's body; more is 413
	Head      time.Duration // how long a request's head may take; 0: Idle
	Idle      time.Duration // how long a client may send, or take, nothing in the middle of a request
	ErrorLog  *log.Logger   // of net/http; nil: nothing is logged
}

// The defaults of ServerOptions.
const (
	DefaultMaxHeader = 64 << 10
	DefaultMaxBody   = 128 << 20
	DefaultIdle      = 2 * time.Minute
)

// Server takes requests at one address. The base URL of the default session is
// URL()+"/v1", that of the session NAME is URL()+"/s/NAME/v1"; GET /healthz says
// that it runs.
type Server struct {
	http     *http.Server
	listener net.Listener
	sessions Sessions
	options  ServerOptions
	loopback bool // only who asks for this machine by name is answered
	cancel   context.CancelFunc

	mu       sync.Mutex
	stopping bool
	handlers sync.WaitGroup
	served   chan struct{} // closed when no connection is accepted any more
	err      error         // why, if nobody stopped it
}

// Listen opens addr, "127.0.0.1:0" for any free port of the loopback interface,
// and serves there.
func Listen(addr string, sessions Sessions, o ServerOptions) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return nil, errors.New("listen on " + addr + ": must be HOST:PORT, as in 127.0.0.1:0; 0.0.0.0 for every interface")
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return Serve(listener, sessions, o), nil
}

// Serve serves at a listener, which it closes in the end.
func Serve(listener net.Listener, sessions Sessions, o ServerOptions) *Server {
	if o.MaxHeader == 0 {
		o.MaxHeader = DefaultMaxHeader
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Head == 0 {
		o.Head = o.Idle
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.New(io.Discard, "", 0)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		listener: listener, sessions: sessions, options: o, cancel: cancel,
		loopback: isLoopback(listener.Addr().String()), served: make(chan struct{}),
	}
	s.http = &http.Server{
		Handler: s, MaxHeaderBytes: o.MaxHeader, ErrorLog: o.ErrorLog,
		ReadHeaderTimeout: o.Head, IdleTimeout: o.Idle,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.err = err
		}
	}()
	return s
}

// URL is where the server is reached, without a path.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Loopback reports that only this machine can reach the server.
func (s *Server) Loopback() bool { return s.loopback }

// Done is closed when the server takes no more connections; Err then says why,
// nil if it was shut down.
func (s *Server) Done() <-chan struct{} { return s.served }

// Err is why the server stopped. It may be called after Done is closed.
func (s *Server) Err() error { return s.err }

// Shutdown takes no more requests and returns when those under way have ended.
// When ctx ends first, their connections are cut, and the error is that of ctx.
// In any case no goroutine of the server is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close() // the listener is closed already; the rest is cut
	}
	s.cancel()
	s.handlers.Wait()
	<-s.served
	return err
}

// enter counts a request in; false when the server is stopping.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.handlers.Add(1)
	return true
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		w.Header().Set("Connection", "close")
		WriteError(w, r, http.StatusServiceUnavailable, "stopping", "the server is stopping")
		return
	}
	defer s.handlers.Done()
	conn := http.NewResponseController(w)
	out := &idleWriter{ResponseWriter: w, conn: conn, idle: s.options.Idle}
	defer out.renew() // for what is still to be sent
	s.serve(out, r)
}

// serve answers a request that has been counted in.
func (s *Server) serve(w *idleWriter, r *http.Request) {
	if refused := s.foreign(r); refused != "" {
		WriteError(w, r, http.StatusForbidden, "forbidden_host", refused)
		return
	}
	session, own, ok := route(r)
	if !ok {
		WriteError(w, r, http.StatusNotFound, "unknown_session",
			"a session is named by letters, digits and . _ - @ after /s/, as in /s/NAME/v1")
		return
	}
	if own.URL.Path == "/healthz" && session == "" {
		s.health(w, r)
		return
	}
	if r.ContentLength > s.options.MaxBody {
		w.Header().Set("Connection", "close")
		tooLarge(w, own, s.options.MaxBody)
		return
	}
	own.Body = &idleBody{ReadCloser: http.MaxBytesReader(w.ResponseWriter, r.Body, s.options.MaxBody), conn: w.conn, idle: w.idle}
	s.sessions.ServeSession(session, w, own)
}

// health answers GET /healthz.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		WriteError(w, r, http.StatusMethodNotAllowed, "method_not_allowed", "/healthz answers GET")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(struct { // a client that is gone needs no answer
		Status   string `json:"status"`
		Sessions int    `json:"sessions"`
	}{"ok", s.sessions.SessionCount()})
}

var sessionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$`)

// route takes the session out of a request's path.
func route(r *http.Request) (session string, own *http.Request, ok bool) {
	rest, named := strings.CutPrefix(r.URL.Path, "/s/")
	own = r.Clone(r.Context())
	if !named {
		return "", own, true
	}
	session, _, _ = strings.Cut(rest, "/")
	if !sessionName.MatchString(session) {
		return "", own, false
	}
	prefix := "/s/" + session
	own.URL.Path = strings.TrimPrefix(own.URL.Path, prefix)
	own.URL.RawPath = strings.TrimPrefix(own.URL.RawPath, prefix)
	if own.URL.RawPath != "" && own.URL.RawPath[0] != '/' { // /s/NAME%2F…: its path has no beginning of its own
		return "", own, false
	}
	if own.URL.Path == "" {
		own.URL.Path = "/"
	}
	return session, own, true
}

// foreign says why a request is none of a program of this machine, "" if it is
// one: a web page can make a browser ask us, under its own name (DNS rebinding)
// or across sites.
func (s *Server) foreign(r *http.Request) string {
	if !s.loopback {
		return ""
	}
	if !isLoopback(r.Host) && !strings.EqualFold(r.Host, s.listener.Addr().String()) {
		return "this server answers requests for localhost only, not for another host"
	}
	origin := strings.ToLower(r.Header.Get("Origin"))
	scheme, host, isURL := strings.Cut(origin, "://")
	switch {
	case isURL && (scheme == "http" || scheme == "https") && !isLoopback(host),
		origin == "null", // a page in a sandbox, of whatever host
		origin == "" && strings.EqualFold(r.Header.Get("Sec-Fetch-Site"), "cross-site"): // what a page shows, such as an image
		return "this server answers no web pages of other hosts"
	}
	return ""
}

// isLoopback reports whether HOST or HOST:PORT is this machine by a name that
// nobody else can give away.
func isLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// tooLarge refuses a body.
func tooLarge(w http.ResponseWriter, r *http.Request, limit int64) {
	WriteError(w, r, http.StatusRequestEntityTooLarge, "request_too_large",
		"the request body is larger than the limit of "+byteCount(limit))
}
