package runtime

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestABodyInACodingIsNotRead(t *testing.T) {
	for _, c := range []struct {
		codings []string
		start   string
		want    string
	}{
		{nil, "{}", ""},
		{nil, "", ""},
		{nil, "\x1f", ""},
		{[]string{""}, "{}", ""},
		{[]string{"Identity"}, "data: {}", ""},
		{[]string{" BR "}, "{}", `the body is in the coding "br", which is not read here and not kept`},
		{[]string{"gzip", "br"}, "", `the body is in the coding "gzip, br", which is not read here and not kept`},
		{nil, "\x1f\x8b\x08", `the body is in the coding "gzip", which is not read here and not kept`},
	} {
		assert.Equal(t, UnreadCoding(http.Header{"Content-Encoding": c.codings}, []byte(c.start)), c.want)
	}
}

// Such a text is known again.
func TestIsUnread(t *testing.T) {
	assert.Assert(t, IsUnread(UnreadSize(9)))
	assert.Assert(t, IsUnread(UnreadCoding(http.Header{"Content-Encoding": {`"odd", x`}}, nil)))
	assert.Assert(t, !IsUnread("the model says: "+UnreadSize(9)))
	assert.Assert(t, !IsUnread(""))
}

// The transport undoes one coding, the one it asks for.
func TestLiveReportsACodingThatItCannotRead(t *testing.T) {
	var twice bytes.Buffer
	outer := gzip.NewWriter(&twice)
	inner := gzip.NewWriter(outer)
	_, _ = inner.Write([]byte(sse(delta(`{"content":"hi"}`))))
	assert.NilError(t, inner.Close())
	assert.NilError(t, outer.Close())
	for _, status := range []int{200, 400} {
		for coding, body := range map[string]string{"br": "\x8b\x02\x80", "gzip": twice.String()} {
			l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", coding)
				w.WriteHeader(status)
				events(w, body)
			})
			kind := map[int]string{200: KindMalformed, 400: KindStatus}[status]
			text := `the body is in the coding "` + coding + `", which is not read here and not kept`
			assert.DeepEqual(t, liveError(t, l, true), UpstreamError{Status: status, Kind: kind, Text: text})
		}
	}
}

// An upstream that goes on after [DONE] cannot spoil the answer, or hold it up.
func TestLiveStopsReadingSoonAfterDone(t *testing.T) {
	sent := make(chan int, 1)
	more := sse(delta(`{"content":"` + strings.Repeat("more", 8<<10) + `"}`))
	l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		events(w, sse(delta(`{"content":"hi"}`)), "data: [DONE]\n\n")
		count := 0
		for ; r.Context().Err() == nil; count++ {
			events(w, more)
		}
		sent <- count
	})
	answer, err := l.Complete(t.Context(), liveRequest(true))
	assert.NilError(t, err)
	assert.Equal(t, answer.Message.Content, "hi")
	// What lies in the sockets' buffers was sent too; the limit is beyond that.
	assert.Assert(t, <-sent*len(more) < DefaultMaxBytes/2)
}
