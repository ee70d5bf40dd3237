package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// telling is a Sessions that says what it was asked.
type telling struct{ hang chan bool }

func (s telling) SessionCount() int { return 2 }

func (s telling) ServeSession(session string, w http.ResponseWriter, r *http.Request) {
	if s.hang != nil {
		sse(w, "data: 1\n\n")
		s.hang <- true
		<-r.Context().Done()
		s.hang <- true
		return
	}
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		tooLarge(w, r, large.Limit)
		return
	}
	fmt.Fprintf(w, "%q %s %s %s", session, r.Method, r.URL.RequestURI(), body)
}

// raw sends a request as it is and returns the whole answer.
func raw(t *testing.T, s *Server, text string) string {
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	assert.NilError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, text)
	assert.NilError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	assert.NilError(t, err)
	body, err := io.ReadAll(resp.Body)
	assert.NilError(t, err)
	return resp.Status + " " + strings.TrimSpace(string(body))
}

func serving(t *testing.T, s Sessions, o ServerOptions) *Server {
	server, err := Listen("127.0.0.1:0", s, o)
	assert.NilError(t, err)
	t.Cleanup(func() { assert.NilError(t, server.Shutdown(context.Background())) })
	return server
}

func TestRoutes(t *testing.T) {
	s := serving(t, telling{}, ServerOptions{})
	for _, c := range []struct{ request, want string }{
		{"GET /v1/models?a=1", `200 OK "" GET /v1/models?a=1`},
		{"GET /s/a-b.c@2/v1/x%2Fy", `200 OK "a-b.c@2" GET /v1/x%2Fy`},
		{"GET /s/n", `200 OK "n" GET /`},
		{"GET /s/n/healthz", `200 OK "n" GET /healthz`},
		{"GET /healthz", `200 OK {"status":"ok","sessions":2}`},
		{"POST /healthz", `405 Method Not Allowed {"error":{"type":"tapetree_method_not_allowed","code":"method_not_allowed","message":"tapetree: /healthz answers GET"}}`},
		{"GET /s/%2e%2e/v1", `404 Not Found {"error":{"type":"tapetree_unknown_session","code":"unknown_session","message":"tapetree: a session is named by letters, digits and . _ - @ after /s/, as in /s/NAME/v1"}}`},
		{"GET /s/n%2f..%2fm/v1", `404 Not Found {"error":{"type":"tapetree_unknown_session","code":"unknown_session","message":"tapetree: a session is named by letters, digits and . _ - @ after /s/, as in /s/NAME/v1"}}`},
		{"GET /s//v1", `404 Not Found {"error":{"type":"tapetree_unknown_session","code":"unknown_session","message":"tapetree: a session is named by letters, digits and . _ - @ after /s/, as in /s/NAME/v1"}}`},
	} {
		assert.Equal(t, raw(t, s, c.request+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), c.want)
	}
}

// A web page that gave its own name our address, or asks across sites, is
// refused.
func TestForeignHosts(t *testing.T) {
	const (
		host = `403 Forbidden {"error":{"type":"tapetree_forbidden_host","code":"forbidden_host","message":"tapetree: this server answers requests for localhost only, not for another host"}}`
		page = `403 Forbidden {"error":{"type":"tapetree_forbidden_host","code":"forbidden_host","message":"tapetree: this server answers no web pages of other hosts"}}`
		fine = `200 OK "" GET /`
	)
	s := serving(t, telling{}, ServerOptions{})
	for _, c := range []struct{ header, want string }{
		{"Host: evil.example", host},
		{"Host: localhost.evil.example:80", host},
		{"Host: 10.0.0.1", host},
		{"Host: ", host},
		{"Host: LOCALHOST:99", fine},
		{"Host: app.localhost", fine},
		{"Host: 127.8.8.8", fine},
		{"Host: [::1]:80", fine},
		{"Host: localhost\r\nOrigin: https://evil.example", page},
		{"Host: localhost\r\nOrigin: http://localhost:3000", fine},
		{"Host: localhost\r\nOrigin: HTTPS://EVIL.EXAMPLE", page},
		{"Host: localhost\r\nOrigin: null", page},
		{"Host: localhost\r\nSec-Fetch-Site: cross-site", page},
		{"Host: localhost\r\nSec-Fetch-Site: none", fine},
		{"Host: localhost\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: cross-site", fine},
		{"Host: localhost\r\nOrigin: vscode-webview://abc\r\nSec-Fetch-Site: cross-site", fine},
		{"Host: localhost\r\nOrigin: vscode-webview://abc", fine},
	} {
		assert.Equal(t, raw(t, s, "GET / HTTP/1.1\r\n"+c.header+"\r\nConnection: close\r\n\r\n"), c.want, c.header)
	}
	s.loopback = false // bound elsewhere
	assert.Equal(t, raw(t, s, "GET / HTTP/1.1\r\nHost: box.example\r\nConnection: close\r\n\r\n"), fine)
}

func TestLimits(t *testing.T) {
	s := serving(t, telling{}, ServerOptions{MaxHeader: 8 << 10, MaxBody: 1 << 10})
	assert.Equal(t, raw(t, s, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 20<<10)+"\r\n\r\n"), "431 Request Header Fields Too Large 431 Request Header Fields Too Large")
	large := `413 Request Entity Too Large {"error":{"type":"tapetree_request_too_large","code":"request_too_large","message":"tapetree: the request body is larger than the limit of 1 KiB"}}`
	assert.Equal(t, raw(t, s, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1025\r\n\r\n"), large)
	body := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 1025, strings.Repeat("x", 1025))
	assert.Equal(t, raw(t, s, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"+body), large)
	assert.Equal(t, raw(t, s, "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), `200 OK "" POST / ok`)
}

// A client that stops in the middle of a request is not waited for.
func TestSlowClient(t *testing.T) {
	v := newWorld(t, saying(events("x")...))
	s := serving(t, v.proxy, ServerOptions{Idle: 20 * time.Millisecond})
	assert.Equal(t, raw(t, s, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"),
		`408 Request Timeout {"error":{"type":"tapetree_request_timeout","code":"request_timeout","message":"tapetree: the request body did not come in time"}}`)
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	assert.NilError(t, err)
	_, err = io.WriteString(conn, "POST / HT")
	assert.NilError(t, err)
	_, err = io.ReadAll(conn) // ends because the server gives up
	assert.NilError(t, err)
	assert.NilError(t, conn.Close())
}

// endless writes until the client takes no more.
type endless chan error

func (endless) SessionCount() int { return 0 }

func (e endless) ServeSession(_ string, w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			e <- err
			return
		}
	}
}

// A client that takes nothing of its answer is given up.
func TestClientThatTakesNothing(t *testing.T) {
	gaveUp := make(endless)
	s := serving(t, gaveUp, ServerOptions{Idle: 20 * time.Millisecond})
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	assert.NilError(t, err)
	_, err = io.WriteString(conn, "GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
	assert.NilError(t, err)
	assert.ErrorIs(t, <-gaveUp, os.ErrDeadlineExceeded)
	assert.NilError(t, conn.Close())
}

func TestListenRefuses(t *testing.T) {
	_, err := Listen(":80", telling{}, ServerOptions{})
	assert.Error(t, err, "listen on :80: must be HOST:PORT, as in 127.0.0.1:0; 0.0.0.0 for every interface")
	s := serving(t, telling{}, ServerOptions{})
	_, err = Listen(s.listener.Addr().String(), telling{}, ServerOptions{})
	assert.Error(t, err, "listen tcp "+s.listener.Addr().String()+": bind: address already in use")
}

// Shutdown waits for what is under way, and cuts it when telling to hurry. It
// leaves no goroutine.
func TestShutdown(t *testing.T) {
	before := goruntime.NumGoroutine()
	hang := make(chan bool)
	s, err := Listen("127.0.0.1:0", telling{hang}, ServerOptions{})
	assert.NilError(t, err)
	own := &http.Client{Transport: &http.Transport{}}
	resp, err := own.Get(s.URL() + "/v1/x")
	assert.NilError(t, err)
	<-hang
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Shutdown(ctx) }()
	<-s.Done() // nothing new is taken
	_, err = own.Get(s.URL() + "/v1/x")
	assert.Assert(t, err != nil)
	cancel()
	<-hang // the request ended
	assert.ErrorIs(t, <-ended, context.Canceled)
	assert.NilError(t, s.Err())
	body, err := io.ReadAll(resp.Body)
	assert.Equal(t, string(body), "data: 1\n\n")
	assert.Assert(t, cut(err), "%v", err)
	own.CloseIdleConnections()
	waitFor(t, before)
}

// waitFor waits until no more than n goroutines are left; the test's deadline
// ends it otherwise.
func waitFor(t testing.TB, n int) {
	for goruntime.NumGoroutine() > n {
		if t.Context().Err() != nil {
			return
		}
		goruntime.Gosched()
	}
}
