// Package bench measures Tapetree beside its peers. It is a module of its own,
// so that the product does not depend on them.
package bench

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/tapetree/tapetree/internal/benchdata"
)

// wire is one request of a session as it goes over the wire, with its response.
type wire struct{ request, response []byte }

func wires(s *benchdata.Session) []wire {
	var list []wire
	for _, e := range s.File.Exchanges {
		list = append(list, wire{request: e.Body(), response: e.Response})
	}
	return list
}

// canned answers each request with the next response.
type canned struct {
	wires []wire
	next  int
}

func (c *canned) RoundTrip(request *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return nil, err
	}
	w := c.wires[c.next]
	c.next++
	return &http.Response{
		StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(w.response)), ContentLength: int64(len(w.response)),
	}, nil
}

// cassette records the session with go-vcr and returns the file's size.
func cassette(dir string, list []wire) (int64, error) {
	path := filepath.Join(dir, "cassette")
	rec, err := recorder.New(path, recorder.WithMode(recorder.ModeRecordOnly), recorder.WithRealTransport(&canned{wires: list}))
	if err != nil {
		return 0, err
	}
	client := rec.GetDefaultClient()
	for _, w := range list {
		response, err := client.Post("http://upstream.invalid/v1/chat/completions", "application/json", bytes.NewReader(w.request))
		if err != nil {
			return 0, err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return 0, err
		}
		response.Body.Close()
	}
	if err := rec.Stop(); err != nil {
		return 0, err
	}
	info, err := os.Stat(path + ".yaml")
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// transcript writes the same session as a transcript and returns its size.
func transcript(dir string, s *benchdata.Session) (int64, error) {
	path := filepath.Join(dir, "transcript.jsonl")
	if err := os.WriteFile(path, s.File.Encode(), 0o644); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// BenchmarkSize writes one session both ways and reports the sizes and their
// ratio.
func BenchmarkSize(b *testing.B) {
	s := benchdata.New(benchdata.Standard)
	list := wires(s)
	for b.Loop() {
		dir := b.TempDir()
		theirs, err := cassette(dir, list)
		if err != nil {
			b.Fatal(err)
		}
		ours, err := transcript(dir, s)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(theirs), "go-vcr-bytes")
		b.ReportMetric(float64(ours), "tapetree-bytes")
		b.ReportMetric(float64(theirs)/float64(ours), "times-smaller")
	}
}

// TestATranscriptIsAtLeastTwelveTimesSmaller holds the claim of the docs; sizes
// are no matter of time.
func TestATranscriptIsAtLeastTwelveTimesSmaller(t *testing.T) {
	s := benchdata.New(benchdata.Standard)
	theirs, err := cassette(t.TempDir(), wires(s))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := transcript(t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	if theirs < 12*ours {
		t.Errorf("go-vcr %d bytes, transcript %d bytes: only %.1f times", theirs, ours, float64(theirs)/float64(ours))
	}
}
