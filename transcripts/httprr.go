package transcripts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// FormatHTTPRR is the format of httprr, the record and replay of Go's oscar: the
// bytes of requests and responses as they were on the wire.
const FormatHTTPRR = "httprr"

// httprrMark is the first line of a trace.
const httprrMark = "httprr trace v1\n"

// IsHTTPRR reports whether a file begins as a trace of httprr does.
func IsHTTPRR(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimRight(line, "\r")) == strings.TrimSpace(httprrMark)
}

// OpenHTTPRR reads the index of a trace of httprr; path is how messages name it,
// and data stays in use. A record that cannot be read is a warning; one whose
// lengths are wrong ends the reading (Traffic.Torn). The error of a file that is
// no trace is a *SyntaxError.
func OpenHTTPRR(path string, data []byte) (*Traffic, error) {
	if !IsHTTPRR(data) {
		return nil, &SyntaxError{File: path, Line: 1, Msg: "is no trace of httprr: its first line is not " + strconv.Quote(strings.TrimSpace(httprrMark))}
	}
	t := &Traffic{Path: path, Format: FormatHTTPRR, Word: "record"}
	t.read = func(at TrafficIndex) (*TrafficEntry, error) {
		return readRecord(data[at.from:at.to])
	}
	at, line := bytes.IndexByte(data, '\n')+1, 2
	if at == 0 {
		at = len(data)
	}
	for number := 1; at < len(data); number++ {
		head, body, ok := recordSize(data[at:])
		if !ok {
			t.Torn = &SyntaxError{File: path, Line: line, Msg: fmt.Sprintf("record %d does not begin with two lengths that fit the file; no later record can be read", number)}
			break
		}
		from, to := at, at+head+body
		e, err := readRecord(data[from:to])
		if err != nil {
			t.warn(number, line, "%s", err)
		} else {
			e.Number, e.Line, e.from, e.to = number, line, int64(from), int64(to)
			t.began(e.Response)
			t.Entries = append(t.Entries, e.TrafficIndex)
		}
		line += bytes.Count(data[from:to], []byte("\n"))
		at = to
	}
	t.inSequence(make([]time.Duration, len(t.Entries)))
	return t, nil
}

// recordSize reads the line "LENGTH LENGTH" before a record: its own length and
// that of the request and response together.
func recordSize(text []byte) (head, body int, ok bool) {
	line, _, found := bytes.Cut(text[:min(len(text), 64)], []byte("\n"))
	a, b, two := strings.Cut(strings.TrimRight(string(line), "\r"), " ")
	request, err1 := strconv.ParseUint(a, 10, 40)
	response, err2 := strconv.ParseUint(b, 10, 40)
	head = len(line) + 1
	if !found || !two || err1 != nil || err2 != nil || request+response > uint64(len(text)-head) {
		return 0, 0, false
	}
	return head, int(request + response), true
}

// readRecord reads one record with its line of lengths.
func readRecord(text []byte) (*TrafficEntry, error) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	length, _, _ := strings.Cut(string(line), " ")
	n, _ := strconv.Atoi(length) // as recordSize has read it
	first, header, body, err := wireMessage(rest[:n])
	if err != nil {
		return nil, fmt.Errorf("its request %w", err)
	}
	e := &TrafficEntry{Header: header, Body: body}
	words := strings.Fields(first)
	if len(words) != 3 {
		return nil, errors.New("its request has no request line")
	}
	e.Method = strings.ToUpper(words[0])
	if e.URL, err = url.Parse(words[1]); err != nil {
		return nil, errors.New("its request has no url that can be read") // its text may hold a key
	}
	if e.URL.Host == "" { // a request that went to a server, not through a proxy
		e.URL.Scheme, e.URL.Host = "https", header.Get("Host")
	}
	if e.URL.Host == "" {
		return nil, errors.New("its request has no url that can be read")
	}
	e.NoBody = len(body) == 0 && contentLength(header) > 0
	plainCoding(header, body)
	first, e.Response, e.Content, err = wireMessage(rest[n:])
	if err != nil {
		return nil, fmt.Errorf("%s: its response %w", e.Name(), err)
	}
	words = strings.Fields(first)
	if len(words) > 1 {
		e.Status, err = strconv.Atoi(words[1])
	}
	if len(words) < 2 || err != nil || e.Status < 100 || e.Status > 999 {
		return nil, fmt.Errorf("%s: its response has no status code that can be read", e.Name())
	}
	if len(e.Content) == 0 && e.Status != http.StatusNoContent && e.Method != http.MethodHead {
		e.Lost = contentLength(e.Response)
	}
	finishReply(e)
	return e, nil
}

func contentLength(h http.Header) int64 {
	n, _ := strconv.ParseInt(h.Get("Content-Length"), 10, 64) // 0 where there is none
	return max(n, 0)
}

// wireMessage reads a request or response as it was on the wire. What stands
// behind the header is the body, whatever a length says that a program did not
// put right when it changed it.
func wireMessage(text []byte) (first string, h http.Header, body []byte, err error) {
	h = http.Header{}
	rest := text
	for i := 0; ; i++ {
		var raw []byte
		var more bool
		raw, rest, more = bytes.Cut(rest, []byte("\n"))
		line := strings.TrimRight(string(raw), "\r") // programs that change a header lose some
		if i == 0 {
			first = line
		} else if line != "" {
			name, value, ok := strings.Cut(line, ":")
			if !ok || strings.TrimSpace(name) == "" {
				return "", nil, nil, errors.New("has a header line that cannot be read")
			}
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
		if line == "" || !more {
			break
		}
	}
	if strings.EqualFold(h.Get("Transfer-Encoding"), "chunked") {
		if whole, err := io.ReadAll(httputil.NewChunkedReader(bufio.NewReader(bytes.NewReader(rest)))); err == nil {
			rest = whole
		}
	}
	return first, h, rest, nil
}
