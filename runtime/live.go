package runtime

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"
)

// What bounds a live request when the fields of Live are zero.
const (
	DefaultIdle     = 10 * time.Minute // as long as the vendors' own clients wait
	DefaultMaxBytes = 64 << 20         // an answer of 100,000 tokens, each in a frame of its own, has 40 MB

	afterFinish = 30 * time.Second       // for usage and [DONE] after a finish_reason
	afterDone   = 250 * time.Millisecond // for the end of the body after [DONE], so that the connection can be used again
	restBytes   = 64 << 10               // of the body after [DONE]
)

// Live is the model behind an OpenAI-compatible endpoint. go-openai builds and
// sends the request (address, authorization, headers); the bytes of the body are
// those of Request.Body, and the response is read by Decode's own decoder, for
// go-openai's types lose what must go back. Redirects are not followed.
type Live struct {
	BaseURL string            // "" means go-openai's default
	Key     string            // "" sends no authorization
	Org     string            // OpenAI-Organization, "" for none
	HTTP    http.RoundTripper // nil: net/http's, with the environment's proxy settings
	Dialect Dialect

	Idle     time.Duration // how long no byte may come before the try fails; 0 means DefaultIdle
	MaxBytes int64         // the largest response body; 0 means DefaultMaxBytes
}

// Complete sends req once. A response that is no complete answer, a failed
// connect and a silence of Idle are an *UpstreamError; a context that has ended
// is its error, with the *UpstreamError of an answer that had begun; a base URL that is none, and an *OwnError from HTTP, are errors
// of ours.
func (l *Live) Complete(ctx context.Context, req *Request) (*Answer, error) {
	config, query, err := l.config()
	if err != nil {
		return nil, err
	}
	w := newWatch(At(ctx, req.Place), cmp.Or(l.Idle, DefaultIdle))
	defer w.stop()
	wire := &liveWire{client: l.client(), body: req.Body(), query: query}
	config.HTTPClient = wire
	send(w.ctx, openai.NewClientWithConfig(config), req.Stream)
	var answer *Answer
	if err = w.why(wire.err); wire.response != nil {
		defer wire.response.Body.Close()
		answer, err = l.read(wire.response, w)
	}
	if err == nil {
		return answer, nil
	}
	return nil, l.sort(ctx, err)
}

// sort turns the error of a try into what Complete promises.
func (l *Live) sort(ctx context.Context, err error) error {
	if isOwn(err) {
		var sent *url.Error // the client's frame around it says nothing here
		if errors.As(err, &sent) {
			return sent.Err
		}
		return err
	}
	up, ok := asUpstream(err)
	if ended := ctx.Err(); ended != nil {
		if ok && up.Partial != "" { // what was written until then is part of the report
			return fmt.Errorf("%w: %w", ended, up)
		}
		return ended
	}
	if !ok {
		up = connectError(ConnectKind(err), err.Error())
	}
	if len(l.Key) >= 8 { // an upstream may repeat the key
		up.Text = strings.ReplaceAll(up.Text, l.Key, "[key]")
	}
	return up
}

// config is go-openai's configuration for this endpoint, and the query that
// belongs behind the path which go-openai adds.
func (l *Live) config() (config openai.ClientConfig, query string, err error) {
	config = openai.DefaultConfig(l.Key)
	config.OrgID = l.Org
	if l.BaseURL != "" {
		config.BaseURL = l.BaseURL
	}
	u, err := url.Parse(config.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return config, "", fmt.Errorf("base URL %q: must look like https://host/v1", config.BaseURL)
	}
	query, u.RawQuery, u.Fragment, u.RawFragment = u.RawQuery, "", "", ""
	config.BaseURL = u.String()
	return config, query, nil
}

var defaultTransport = sync.OnceValue(func() http.RoundTripper {
	return http.DefaultTransport.(*http.Transport).Clone()
})

func (l *Live) client() *http.Client {
	transport := l.HTTP
	if transport == nil {
		transport = defaultTransport()
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send makes go-openai send a request; liveWire keeps what comes of it. The model is
// not named, because go-openai refuses models by lists of its own.
func send(ctx context.Context, client *openai.Client, stream bool) {
	request := openai.ChatCompletionRequest{Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser}}}
	if !stream {
		_, _ = client.CreateChatCompletion(ctx, request)
		return
	}
	if opened, err := client.CreateChatCompletionStream(ctx, request); err == nil {
		_ = opened.Close()
	}
}

// liveWire is the HTTP client that go-openai sends through. It puts our bytes in the
// place of go-openai's body and keeps the response to itself.
type liveWire struct {
	client   *http.Client
	body     []byte
	query    string // of the base URL
	response *http.Response
	err      error
}

// Do sends req with our body. go-openai gets an empty success in any case.
func (w *liveWire) Do(req *http.Request) (*http.Response, error) {
	own := req.Clone(req.Context())
	own.URL.RawQuery = w.query
	own.ContentLength = int64(len(w.body))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(w.body)), nil }
	own.Body, _ = own.GetBody()
	w.response, w.err = w.client.Do(own) //nolint:bodyclose // Complete closes it
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader("{}")),
		Request:    req,
	}, w.err
}

// read reads a response to its end.
func (l *Live) read(resp *http.Response, w *watch) (*Answer, error) {
	limit := cmp.Or(l.MaxBytes, DefaultMaxBytes)
	b := &liveBody{from: resp.Body, watch: w, left: limit, limit: limit}
	r := &Response{Status: resp.StatusCode, Header: resp.Header}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	r.Stream = kind == "text/event-stream"
	first, err := b.next()
	for len(first) < len(gzipMagic) && err == nil {
		var piece []byte
		piece, err = b.next()
		first = append(first, piece...)
	}
	if text := UnreadCoding(resp.Header, first); text != "" && !isOwn(err) {
		r.Stream, r.Body = false, []byte(text)
		return Decode(r, l.Dialect)
	}
	if r.Stream && r.Status/100 == 2 && (len(first) == 0 || isStream(true, first)) {
		return l.readStream(r.Status, b, first, err)
	}
	r.Body = first
	for err == nil {
		var piece []byte
		piece, err = b.next()
		r.Body = append(r.Body, piece...)
	}
	r.End = EndOf(err)
	if err != io.EOF && r.Status/100 == 2 {
		return nil, b.broken(r, err)
	}
	return Decode(r, l.Dialect)
}

// readStream decodes an event stream while it arrives.
func (l *Live) readStream(status int, b *liveBody, piece []byte, err error) (*Answer, error) {
	var split Splitter
	s := streamDecoder{dialect: l.Dialect, status: status}
	rest := 0
	for {
		for _, block := range split.Feed(piece) {
			s.block(block)
		}
		if err != nil {
			break
		}
		switch {
		case s.over() && rest > restBytes:
			return s.end(EndClientClosed)
		case s.over():
			b.watch.limit = afterDone
			rest += len(piece)
		case s.finish != "":
			b.watch.limit = min(b.watch.limit, afterFinish)
		}
		piece, err = b.next()
	}
	if isOwn(err) {
		return nil, err
	}
	var large *sizeError
	if errors.As(err, &large) && !s.over() {
		return nil, s.malformed(large.Error())
	}
	if tail := split.Rest(); tail != nil {
		s.block(tail)
	}
	return s.end(EndOf(err))
}

// liveBody reads a response within its bounds of size and silence.
type liveBody struct {
	from        io.Reader
	watch       *watch
	left, limit int64
	buf         [32 << 10]byte
}

// next returns the bytes that come next, also along with an error.
func (b *liveBody) next() ([]byte, error) {
	b.watch.reset()
	n, err := b.from.Read(b.buf[:])
	if b.left -= int64(n); b.left < 0 {
		return nil, &sizeError{b.limit}
	}
	return bytes.Clone(b.buf[:n]), b.watch.why(err)
}

// broken is the error of a success whose body did not come whole.
func (b *liveBody) broken(r *Response, err error) error {
	var large *sizeError
	switch {
	case isOwn(err):
		return err
	case errors.As(err, &large):
		return &UpstreamError{Status: r.Status, Kind: KindMalformed, Text: err.Error()}
	case r.End == EndTimeout:
		return &UpstreamError{Status: r.Status, Kind: KindTimeout, Text: err.Error(), Retry: true}
	default:
		return &UpstreamError{Status: r.Status, Kind: KindCut, Text: "the response broke off: " + err.Error(), Retry: true}
	}
}

type sizeError struct{ limit int64 }

func (e *sizeError) Error() string {
	return UnreadSize(e.limit)
}
