package transcripts

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// harEntry is an entry as it stands in the file. Numbers are values: programs
// write null, texts and fractions in their place.
type harEntry struct {
	Started  jsontext.Value `json:"startedDateTime"`
	Time     jsontext.Value `json:"time"`
	Timings  harTimings     `json:"timings"`
	Request  *harRequest    `json:"request"`
	Response *harResponse   `json:"response"`
	Error    jsontext.Value `json:"_error"`
	Sockets  jsontext.Value `json:"_webSocketMessages"`
}

type harTimings struct {
	Blocked jsontext.Value `json:"blocked"`
	DNS     jsontext.Value `json:"dns"`
	Connect jsontext.Value `json:"connect"`
	Send    jsontext.Value `json:"send"`
	Wait    jsontext.Value `json:"wait"`
	Receive jsontext.Value `json:"receive"`
}

type harRequest struct {
	Method   string         `json:"method"`
	URL      string         `json:"url"`
	Headers  []harPair      `json:"headers"`
	PostData *harPostData   `json:"postData"`
	BodySize jsontext.Value `json:"bodySize"`
}

type harPair struct {
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

type harPostData struct {
	MimeType string    `json:"mimeType"`
	Text     *string   `json:"text"`
	Encoding string    `json:"encoding"`
	Params   []harPair `json:"params"`
}

type harResponse struct {
	Status   jsontext.Value `json:"status"`
	Headers  []harPair      `json:"headers"`
	Content  harContent     `json:"content"`
	BodySize jsontext.Value `json:"bodySize"`
	Error    jsontext.Value `json:"_error"`
}

type harContent struct {
	Size     jsontext.Value `json:"size"`
	MimeType string         `json:"mimeType"`
	Text     *string        `json:"text"`
	Encoding string         `json:"encoding"`
}

// readHAREntry reads one entry. Start is zero where the file does not say it.
func readHAREntry(raw []byte) (*TrafficEntry, error) {
	var file harEntry
	if err := json.Unmarshal(raw, &file, harJSON...); err != nil {
		return nil, err
	}
	if file.Request == nil {
		return nil, errors.New("it has no request")
	}
	e := &TrafficEntry{Sockets: countElements(file.Sockets)}
	if err := e.readRequest(file.Request); err != nil {
		return nil, err
	}
	e.readTimes(&file)
	e.Failed = textIn(file.Error)
	if file.Response != nil {
		if err := e.readResponse(file.Response); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	return e, nil
}

func (e *TrafficEntry) readRequest(r *harRequest) error {
	address, err := url.Parse(r.URL)
	if err != nil || address.Host == "" {
		return errors.New("its request has no url that can be read") // the text of the url may hold a key
	}
	e.URL, e.Method = address, strings.ToUpper(strings.TrimSpace(r.Method))
	if e.Method == "" {
		return errors.New("its request has no method")
	}
	e.Header = harHeader(r.Headers)
	post := r.PostData
	switch {
	case post == nil:
		e.NoBody = numberIn(r.BodySize) > 0
		return nil
	case post.Text != nil && (*post.Text != "" || len(post.Params) == 0):
		e.Body, err = harBytes(*post.Text, post.Encoding)
		if err != nil {
			return fmt.Errorf("%s: its postData %w", e.Name(), err)
		}
	case len(post.Params) > 0:
		form := make([]string, len(post.Params))
		for i, p := range post.Params {
			form[i] = url.QueryEscape(p.Name) + "=" + url.QueryEscape(textIn(p.Value))
		}
		e.Body = []byte(strings.Join(form, "&"))
	}
	e.NoBody = len(e.Body) == 0 && numberIn(r.BodySize) > 0
	dropCoding(e.Header, e.Body)
	if post.MimeType != "" && e.Header.Get("Content-Type") == "" {
		e.Header.Set("Content-Type", post.MimeType)
	}
	return nil
}

func (e *TrafficEntry) readResponse(r *harResponse) error {
	e.Status = int(numberIn(r.Status))
	if e.Status < 0 || e.Status > 999 {
		e.Status = 0
	}
	if e.Failed == "" {
		e.Failed = textIn(r.Error)
	}
	e.Response = harHeader(r.Headers)
	if r.Content.MimeType != "" && r.Content.MimeType != "x-unknown" && e.Response.Get("Content-Type") == "" {
		e.Response.Set("Content-Type", r.Content.MimeType)
	}
	size := int64(max(numberIn(r.Content.Size), numberIn(r.BodySize)))
	if r.Content.Text == nil || *r.Content.Text == "" {
		e.Lost = max(size, 0)
	} else {
		var err error
		if e.Content, err = harBytes(*r.Content.Text, r.Content.Encoding); err != nil {
			return fmt.Errorf("its content %w", err)
		}
	}
	dropCoding(e.Response, e.Content)
	e.Response.Del("Content-Length")
	e.Response.Del("Transfer-Encoding")
	return nil
}

// dropCoding takes out of a header that its body is coded. What stands in the
// file is decoded, whatever the headers say; only a program that keeps the bytes
// of the wire leaves the gzip in.
func dropCoding(h http.Header, body []byte) {
	if len(body) < 2 || body[0] != 0x1f || body[1] != 0x8b {
		h.Del("Content-Encoding")
	}
}

// readTimes finds when the request began, when its response did, and when it
// ended. time is the sum of the timings, which stand in where it is missing.
func (e *TrafficEntry) readTimes(file *harEntry) {
	e.Start = harTime(textIn(file.Started))
	t := &file.Timings
	wait := milliseconds(t.Blocked, t.DNS, t.Connect, t.Send, t.Wait)
	took := milliseconds(file.Time)
	if took <= 0 {
		took = wait + milliseconds(t.Receive)
	}
	e.End = e.Start.Add(took)
	if e.Wait = min(wait, took); wait == 0 { // nothing tells when the response began
		e.Wait = took
	}
}

// longest is how long an exchange may take: what is longer is no time.
const longest = 7 * 24 * time.Hour

// milliseconds adds up times; -1 and what is no number count nothing.
func milliseconds(values ...jsontext.Value) time.Duration {
	sum := time.Duration(0)
	for _, v := range values {
		if ms := numberIn(v); ms > 0 && ms < float64(longest/time.Millisecond) {
			sum += time.Duration(ms * float64(time.Millisecond))
		}
	}
	return min(sum, longest)
}

// harTimeForms are those that are met, the one of the standard first.
var harTimeForms = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"}

// harTime reads a time; a text that is none gives the zero time. Years that no
// program of our time writes are none.
func harTime(text string) time.Time {
	for _, form := range harTimeForms {
		if t, err := time.Parse(form, strings.TrimSpace(text)); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// harHeader leaves out the pseudo-headers of HTTP/2, which begin with a colon.
// Several values that a program joined by line ends are parted.
func harHeader(pairs []harPair) http.Header {
	h := http.Header{}
	for _, p := range pairs {
		if name := strings.TrimSpace(p.Name); name != "" && name[0] != ':' {
			for value := range strings.Lines(textIn(p.Value)) {
				h.Add(name, strings.TrimSpace(value))
			}
		}
	}
	return h
}

// harBytes decodes a text of the file.
func harBytes(text, encoding string) ([]byte, error) {
	if !strings.EqualFold(encoding, "base64") {
		return []byte(text), nil
	}
	text = strings.NewReplacer("\r", "", "\n", "", " ", "").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, errors.New("is no base64 although it says so")
	}
	return data, nil
}

// textIn is the text of a string, a number or a boolean; "" of anything else.
func textIn(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, v)
		if err != nil && len(text) == 0 {
			return ""
		}
		return string(text)
	case '0', 't', 'f':
		return string(v)
	default:
		return ""
	}
}

// numberIn reads a number, also one that was written as a text; 0 of anything
// else.
func numberIn(v jsontext.Value) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(textIn(v)), 64)
	if err != nil || n != n || n > 1e15 || n < -1e15 {
		return 0
	}
	return n
}

func countElements(v jsontext.Value) int {
	if v.Kind() != '[' {
		return 0
	}
	return len(elements(v))
}
