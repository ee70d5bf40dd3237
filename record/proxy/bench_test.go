package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// BenchmarkFirstByte measures how long a client waits for the first byte of an
// answer whose first event the upstream gives at once, the rest when the client
// has it: asked directly, through a plain reverse proxy, and through ours.
// later-ns is ours without direct. All are medians. "openings" are conversations
// of 100 KB that nobody has seen before, "turns" is one conversation that grows
// from 100 KB by 2 KB a turn.
func BenchmarkFirstByte(b *testing.B) {
	prompt := "system " + strings.Repeat("You are a careful assistant. ", 3500)
	for _, kind := range []string{"short", "openings", "turns"} {
		b.Run(kind, func(b *testing.B) {
			gate := make(chan bool)
			blocks := events("x")
			v := newWorld(b, func(w http.ResponseWriter, _ *http.Request, _ string) {
				sse(w, blocks[0])
				<-gate
				sse(w, blocks[1:]...)
			})
			base, err := url.Parse(v.upstream.URL + "/api")
			assert.NilError(b, err)
			plain := httptest.NewServer(&httputil.ReverseProxy{
				Rewrite: func(r *httputil.ProxyRequest) {
					r.SetURL(base)
					// Passed on while it is read, a body now and then breaks the answer off.
					if body, err := io.ReadAll(r.Out.Body); err == nil {
						r.Out.Body = io.NopCloser(bytes.NewReader(body))
					}
				},
				FlushInterval: -1, Transport: NewTransport(),
			})
			defer plain.Close()
			way := []string{v.upstream.URL + "/api", plain.URL, v.URL()}
			took := make([][]time.Duration, len(way))
			turns := []string{prompt}
			n := 0
			for b.Loop() {
				n++
				body := ask(fmt.Sprintf("user short %d", n))
				switch kind {
				case "openings":
					body = ask(fmt.Sprintf("system %d", n), prompt, "user go")
				case "turns":
					if len(turns) > 200 { // as a compaction would
						turns = []string{prompt, fmt.Sprintf("user anew %d", n)}
					}
					turns = append(turns, fmt.Sprintf("user %d %s", n, strings.Repeat("more ", 400)))
					body = ask(turns...)
					turns = append(turns, "assistant x")
				}
				for i, to := range way {
					took[i] = append(took[i], firstByte(b, to+"/v1/chat/completions", body, gate))
				}
			}
			var median []float64
			for i := range way {
				slices.Sort(took[i])
				median = append(median, float64(took[i][len(took[i])/2]))
			}
			b.ReportMetric(median[0], "direct-ns")
			b.ReportMetric(median[1], "plain-ns")
			b.ReportMetric(median[2], "ours-ns")
			b.ReportMetric(median[2]-median[0], "later-ns")
		})
	}
}

// firstByte asks and returns when the first byte of the answer's body has come.
func firstByte(b *testing.B, to, body string, gate chan<- bool) time.Duration {
	start := time.Now()
	resp, err := client.Post(to, "application/json", strings.NewReader(body))
	assert.NilError(b, err)
	_, err = io.ReadFull(resp.Body, make([]byte, 1))
	took := time.Since(start)
	gate <- true
	assert.NilError(b, err)
	_, err = io.Copy(io.Discard, resp.Body)
	assert.NilError(b, err)
	assert.Equal(b, resp.StatusCode, http.StatusOK)
	assert.NilError(b, resp.Body.Close())
	return took
}
