package transcripts

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// har wraps entries.
func har(entries ...string) string {
	return `{"log":{"version":"1.2","creator":{"name":"x","comment":"y"},"pages":[],"entries":[` + strings.Join(entries, ",") + `],"comment":"z"}}`
}

func openHAR(t testing.TB, text string) (*Traffic, error) {
	t.Helper()
	return OpenHAR("x.har", strings.NewReader(text), int64(len(text)))
}

// shownHAR gives an entry in one text.
func shownHAR(e *TrafficEntry) string {
	header := func(h http.Header) string {
		var b strings.Builder
		_ = h.Write(&b) // a Builder takes everything
		return strings.TrimSuffix(strings.ReplaceAll(b.String(), "\r\n", "; "), "; ")
	}
	out := fmt.Sprintf("%d %s +%s wait %s: %s [%s] %q", e.Number, e.Start.Format(time.RFC3339Nano), e.End.Sub(e.Start), e.Wait, e.Name(), header(e.Header), e.Body)
	if e.NoBody {
		out += " no body"
	}
	out += fmt.Sprintf(" -> %d [%s] %q", e.Status, header(e.Response), e.Content)
	if e.Lost > 0 {
		out += fmt.Sprintf(" lost %d", e.Lost)
	}
	if e.Failed != "" {
		out += " failed " + e.Failed
	}
	if e.Sockets > 0 {
		out += fmt.Sprintf(" %d socket messages", e.Sockets)
	}
	return out
}

// TestEntriesOfAllPrograms reads what Chrome, Firefox, mitmproxy and Charles
// write, with the parts that they leave out.
func TestEntriesOfAllPrograms(t *testing.T) {
	for _, c := range []struct{ name, entry, want string }{
		{"chrome", `{"_initiator":{"type":"script"},"_priority":"High","_resourceType":"fetch","cache":{},"connection":"1","request":{"method":"POST","url":"https://h/v1/chat/completions?key=s","httpVersion":"http/2.0","headers":[{"name":":authority","value":"h"},{"name":"Content-Type","value":"application/json"}],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":2,"postData":{"mimeType":"application/json","text":"{}"}},"response":{"status":200,"statusText":"","httpVersion":"http/2.0","headers":[{"name":"content-type","value":"text/event-stream"},{"name":"set-cookie","value":"a=1\nb=2"},{"name":"content-encoding","value":"br"}],"cookies":[],"content":{"size":6,"mimeType":"text/event-stream","text":"data: "},"redirectURL":"","headersSize":-1,"bodySize":-1,"_transferSize":17,"_error":null},"serverIPAddress":"1.2.3.4","startedDateTime":"2026-01-02T03:04:05.678Z","time":120.5,"timings":{"blocked":1,"dns":-1,"ssl":-1,"connect":-1,"send":0.5,"wait":100,"receive":19,"_blocked_queueing":1}}`,
			`1 2026-01-02T03:04:05.678Z +120.5ms wait 101.5ms: POST https://h/v1/chat/completions [Content-Type: application/json] "{}" -> 200 [Content-Type: text/event-stream; Set-Cookie: a=1; Set-Cookie: b=2] "data: "`},
		{"firefox, in base64 and another zone", `{"startedDateTime":"2026-01-02T04:04:05.678+01:00","request":{"bodySize":0,"method":"GET","url":"https://h/v1/models","headers":[],"headersSize":10},"response":{"status":200,"headers":[],"content":{"mimeType":"application/json","size":2,"encoding":"base64","text":"e30="}},"timings":{"blocked":0,"wait":7,"receive":1},"time":8}`,
			`1 2026-01-02T03:04:05.678Z +8ms wait 7ms: GET https://h/v1/models [] "" -> 200 [Content-Type: application/json] "{}"`},
		{"mitmproxy, without time", `{"startedDateTime":"2026-01-02T03:04:05.678901+00:00","time":0,"request":{"method":"post","url":"http://h:1/x","postData":{"mimeType":"application/x-www-form-urlencoded","text":"","params":[{"name":"a b","value":"c&d"},{"name":"e","value":1}]}},"response":{"status":"201","content":{"text":"ok"}},"timings":{"send":1,"receive":3,"wait":2,"connect":null}}`,
			`1 2026-01-02T03:04:05.678901Z +6ms wait 3ms: POST http://h:1/x [Content-Type: application/x-www-form-urlencoded] "a+b=c%26d&e=1" -> 201 [] "ok"`},
		{"charles, with gzip left in", `{"startedDateTime":"2026-01-02T03:04:05.678-0000","time":1,"request":{"method":"GET","url":"http://h/x"},"response":{"status":200,"headers":[{"name":"Content-Encoding","value":"gzip"},{"name":"Content-Length","value":"9"}],"content":{"encoding":"base64","text":"H4sI\r\nAAA"}}}`,
			`1 2026-01-02T03:04:05.678Z +1ms wait 1ms: GET http://h/x [] "" -> 200 [Content-Encoding: gzip] "\x1f\x8b\b\x00\x00"`},
		{"a request in base64", `{"startedDateTime":"2026-01-02T03:04:05Z","request":{"method":"POST","url":"http://h/x","headers":[{"name":"content-encoding","value":"gzip"}],"postData":{"encoding":"base64","text":"aGk"}}}`,
			`1 2026-01-02T03:04:05Z +0s wait 0s: POST http://h/x [] "hi" -> 0 [] ""`},
		{"a failure", `{"startedDateTime":"2026-01-02T03:04:05Z","time":-1,"request":{"method":"POST","url":"http://h/x","bodySize":44},"response":{"status":0,"_error":"net::ERR_ABORTED","headers":null,"content":{"size":-1}}}`,
			`1 2026-01-02T03:04:05Z +0s wait 0s: POST http://h/x [] "" no body -> 0 [] "" failed net::ERR_ABORTED`},
		{"a failure of the entry, a body that is not there", `{"startedDateTime":"2026-01-02T03:04:05Z","_error":"NS_ERROR_NET_RESET","request":{"method":"POST","url":"http://h/x"},"response":{"status":200,"content":{"size":12,"mimeType":"x-unknown"}}}`,
			`1 2026-01-02T03:04:05Z +0s wait 0s: POST http://h/x [] "" -> 200 [] "" lost 12 failed NS_ERROR_NET_RESET`},
		{"a WebSocket", `{"startedDateTime":"2026-01-02T03:04:05Z","request":{"method":"GET","url":"wss://u:p@h/x?y=z#f"},"response":{"status":101},"_webSocketMessages":[{"type":"send","data":"a"},{"type":"receive"}]}`,
			`1 2026-01-02T03:04:05Z +0s wait 0s: GET wss://h/x [] "" -> 101 [] "" 2 socket messages`},
		{"numbers that are none, and bytes that are no UTF-8", `{"startedDateTime":"2026-01-02 03:04:05","time":{},"timings":{"wait":1e300},"request":{"method":"GET","url":"http://h/x"},"response":{"status":7e9,"content":{"text":"` + "\xff" + `"}}}`,
			"1 2026-01-02T03:04:05Z +0s wait 0s: GET http://h/x [] \"\" -> 0 [] \"\ufffd\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := openHAR(t, "\ufeff"+har(c.entry))
			assert.NilError(t, err)
			assert.DeepEqual(t, told(h), []string(nil))
			assert.Equal(t, len(h.Entries), 1)
			e, err := h.Read(h.Entries[0])
			assert.NilError(t, err)
			assert.Equal(t, shownHAR(e), c.want)
		})
	}
}

func harGet(at, url string) string {
	return fmt.Sprintf(`{"startedDateTime":%q,"time":1,"request":{"method":"GET","url":%q}}`, at, url)
}

// told gives the warnings of a file.
func told(t *Traffic) []string {
	var out []string
	for _, w := range t.Warnings {
		out = append(out, w.In(t.Path))
	}
	return out
}

// indexed gives the index of a file, one entry a line.
func indexed(h *Traffic) string {
	var out strings.Builder
	for _, e := range h.Entries {
		fmt.Fprintf(&out, "%d %s %s\n", e.Number, e.Start.Format("15:04:05"), e.Name())
	}
	return out.String()
}

func TestEntriesStandInTheOrderOfTheClock(t *testing.T) {
	h, err := openHAR(t, har(harGet("2026-01-02T03:00:02Z", "http://h/c"), harGet("2026-01-02T03:00:00Z", "http://h/a"), harGet("2026-01-02T04:00:01+01:00", "http://h/b")))
	assert.NilError(t, err)
	assert.Equal(t, indexed(h), "2 03:00:00 GET http://h/a\n3 03:00:01 GET http://h/b\n1 03:00:02 GET http://h/c\n")
}

func TestABrokenEntryIsAWarningAndTheRestIsRead(t *testing.T) {
	good := harGet("2026-01-02T03:00:00Z", "http://h/a")
	for _, c := range []struct{ entry, want string }{
		{`17`, "it is a JSON number, which cannot stand there"},
		{`{}`, "it has no request"},
		{`{"request":null}`, "it has no request"},
		{`{"request":{"method":"GET","url":"/x?key=secret"}}`, "its request has no url that can be read"},
		{`{"request":{"method":"GET","url":"http://%zz"}}`, "its request has no url that can be read"},
		{`{"request":{"method":"","url":"http://h/x"}}`, "its request has no method"},
		{`{"request":{"method":17,"url":"http://h/x"}}`, "/request/method is a JSON number, which cannot stand there"},
		{`{"request":{"method":"POST","url":"http://h/x?k=s","postData":{"text":"*","encoding":"base64"}}}`, "POST http://h/x: its postData is no base64 although it says so"},
		{`{"request":{"method":"POST","url":"http://h/x"},"response":{"content":{"text":"*","encoding":"base64"}}}`, "POST http://h/x: its content is no base64 although it says so"},
	} {
		h, err := openHAR(t, har(good, c.entry, good))
		assert.NilError(t, err)
		assert.DeepEqual(t, told(h), []string{"x.har: entry 2: " + c.want})
		assert.Equal(t, indexed(h), "1 03:00:00 GET http://h/a\n3 03:00:00 GET http://h/a\n")
	}
}

func TestAnEntryWithoutATimeFollowsTheOneBefore(t *testing.T) {
	h, err := openHAR(t, har(harGet("yesterday", "http://h/x"), harGet("2026-01-02T03:00:00Z", "http://h/a"), harGet("", "http://h/b")))
	assert.NilError(t, err)
	assert.DeepEqual(t, told(h), []string{
		"x.har: entry 1: GET http://h/x has no startedDateTime that can be read; it is taken to follow the entry before it",
		"x.har: entry 3: GET http://h/b has no startedDateTime that can be read; it is taken to follow the entry before it",
	})
	assert.Equal(t, indexed(h), "1 00:00:00 GET http://h/x\n2 03:00:00 GET http://h/a\n3 03:00:00 GET http://h/b\n")
}

func TestAFileThatBreaksOffKeepsWhatStandsBefore(t *testing.T) {
	whole := har(harGet("2026-01-02T03:00:00Z", "http://h/a"), harGet("2026-01-02T03:00:00Z", "http://h/b"))
	second := strings.Index(whole, `"http://h/b`)
	for _, c := range []struct{ text, want string }{
		{whole[:second+5], fmt.Sprintf("x.har: breaks off in entry 2, at byte %d: unexpected end of the file; no later entry can be read", second+5)},
		{whole[:second] + "}" + whole[second:], fmt.Sprintf("x.har: breaks off in entry 2, at byte %d: invalid character '}' after array element (expecting ',' or ']'); no later entry can be read", second)},
	} {
		h, err := openHAR(t, c.text)
		assert.NilError(t, err)
		assert.Equal(t, indexed(h), "1 03:00:00 GET http://h/a\n")
		assert.Error(t, h.Torn, c.want)
	}
	h, err := openHAR(t, whole[:len(whole)-3])
	assert.NilError(t, err)
	assert.Assert(t, h.Torn == nil)
	assert.DeepEqual(t, told(h), []string{fmt.Sprintf("x.har: breaks off after its last entry, at byte %d: unexpected end of the file", len(whole)-3)})
	assert.Equal(t, indexed(h), "1 03:00:00 GET http://h/a\n2 03:00:00 GET http://h/b\n")
}

func TestWhatIsNoHAR(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x.har: is no HAR file: unexpected end of the file"},
		{"[]", "x.har: is no HAR file: it is no JSON object"},
		{"hello", "x.har: is no HAR file: invalid character 'h' at start of value"},
		{"{}", "x.har: is no HAR file: it has no log.entries"},
		{`{"log":{"entries":{}}}`, "x.har: is no HAR file: it has no log.entries"},
		{`{"log":[]}`, "x.har: is no HAR file: it has no log.entries"},
		{`{"log":{`, "x.har: is no HAR file: unexpected end of the file"},
		{"\xff\xfe{\x00}\x00", "x.har: is UTF-16; a HAR file is UTF-8; convert it, as with `iconv -f UTF-16 -t UTF-8`"},
	} {
		_, err := openHAR(t, c.text)
		var syntax *SyntaxError
		assert.Assert(t, errors.As(err, &syntax), c.text)
		assert.Equal(t, err.Error(), c.want, c.text)
	}
}

// failingDisk fails to read from an offset on.
type failingDisk struct {
	io.ReaderAt
	from int64
}

func (d failingDisk) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > d.from {
		return 0, errors.New("i/o error")
	}
	return d.ReaderAt.ReadAt(p, off)
}

// changingDisk holds another text later.
type changingDisk struct{ io.ReaderAt }

func TestADiskThatFailsIsNoTornFile(t *testing.T) {
	text := har(harGet("2026-01-02T03:00:00Z", "http://h/a"))
	for _, from := range []int64{0, 10} {
		_, err := OpenHAR("x.har", failingDisk{strings.NewReader(text), from}, int64(len(text)))
		assert.Error(t, err, "read x.har: i/o error")
	}
	disk := &changingDisk{strings.NewReader(text)}
	h, err := OpenHAR("x.har", disk, int64(len(text)))
	assert.NilError(t, err)
	disk.ReaderAt = failingDisk{disk.ReaderAt, 0}
	_, err = h.Read(h.Entries[0])
	assert.Error(t, err, "read x.har entry 1: i/o error")
	disk.ReaderAt = strings.NewReader(strings.Repeat(" ", len(text)))
	_, err = h.Read(h.Entries[0])
	assert.Error(t, err, "read x.har entry 1: the file has changed: unexpected end of the file")
}

// FuzzHAR: no text makes the reader panic, and every entry of the index reads
// as it was when the index was made.
func FuzzHAR(f *testing.F) {
	f.Add(har(harGet("2026-01-02T03:00:00Z", "http://h/a"), `{"request":{"method":"POST","url":"https://h/v1/messages","postData":{"text":"{}"}},"response":{"status":200,"content":{"text":"aGk=","encoding":"base64"}},"timings":{"wait":1}}`))
	f.Add(har(`{}`, `17`)[:90])
	f.Add("\ufeff" + `{"x":1,"log":{"entries":[]},"log":{"entries":[` + harGet("", "http://h") + `]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := openHAR(t, text)
		if err != nil {
			return
		}
		for i, at := range h.Entries {
			e, err := h.Read(at)
			assert.NilError(t, err)
			assert.Equal(t, e.Name(), at.Name())
			assert.Assert(t, !at.End.Before(at.Start) && (i == 0 || !at.Start.Before(h.Entries[i-1].Start)))
		}
	})
}
