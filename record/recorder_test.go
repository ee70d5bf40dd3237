package record

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// A failed write is the error of the request during which it happened, ends the
// session without another try, and stays until Close, which names what is kept.
func TestFailedWriteSurfacesAtOnce(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		asked := 0
		rec := newRecording(t, nil)
		u := newUpstream(t, func(w http.ResponseWriter, body string) {
			asked++
			if asked == 2 {
				_, err := rec.writer.Keep() // from here on nothing can be written
				assert.Check(t, err)
			}
			if streamed {
				sse(w, "data: "+strings.ReplaceAll(completion("", `c1 note {"text":"x"}`), `"message"`, `"delta"`)+"\n\n", "data: [DONE]\n\n")
				return
			}
			saying(w, "", `c1 note {"text":"x"}`)
		})
		_, err := session{model: rec.live(u), observe: rec.Observe, stream: streamed}.run(t)
		assert.ErrorContains(t, err, "record exchange root#2: write ")
		var own *runtime.OwnError
		assert.Assert(t, errors.As(err, &own))
		assert.Equal(t, asked, 2)

		_, again := rec.live(u).Complete(t.Context(), ask("root", 3, 1, false, "hi"))
		assert.Equal(t, again.Error(), own.Error())
		assert.Equal(t, asked, 2)
		_, err = rec.Close()
		assert.ErrorContains(t, err, "record exchange root#2")
		assert.ErrorContains(t, err, rec.path+".partial")
		kept, err := os.ReadFile(rec.path + ".partial")
		assert.NilError(t, err)
		f, err := transcripts.Parse("kept", kept)
		assert.NilError(t, err)
		assert.Assert(t, f.Partial())
		assert.Equal(t, len(f.Exchanges), 1)
		assert.Equal(t, len(f.Calls), 1)
	}
}

// A tool line that cannot be written stops the next request.
func TestFailedToolLineSurfacesAtTheNextRequest(t *testing.T) {
	rec := newRecording(t, nil)
	u := newUpstream(t, func(w http.ResponseWriter, _ string) { saying(w, "", `c1 note {"text":"x"}`) })
	_, err := session{model: rec.live(u), observe: rec.Observe, note: func(string) string {
		_, err := rec.writer.Keep()
		assert.Check(t, err)
		return "noted"
	}}.run(t)
	assert.ErrorContains(t, err, "record call root#1.1: write ")
	assert.Equal(t, len(u.bodies), 1)
}

// Clocks are milliseconds since the start, to a tenth, also for each block; the
// starts and ends of calls stand in the order in which they happened.
func TestTiming(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, "noted") {
			saying(w, "done")
			return
		}
		saying(w, "", `c1 note {"text":"x"}`, `c2 nosuch {}`)
	})
	rec := newRecording(t, nil)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rec.now = func() time.Time { clock = clock.Add(2345 * time.Microsecond); return clock }
	_, err := session{model: rec.live(u), observe: rec.Observe}.run(t)
	assert.NilError(t, err)
	f, _ := rec.finish(t)
	assert.DeepEqual(t, f.Timing.Order, []string{"+root#1.1", "-root#1.1", "+root#1.2", "-root#1.2"})
	first := f.Timing.Exchanges[0]
	assert.Equal(t, fmt.Sprint(first.Agent, first.Turn, first.Try, first.Start, first.First), "root1 1 2.3 4.7")
	assert.Assert(t, first.End > first.First)

	s := &shot{recorder: rec.Recorder, header: http.Header{}, start: rec.start.Add(time.Millisecond)}
	for i, piece := range []string{stream[0], stream[1][:3], stream[1][3:] + stream[2], stream[3]} {
		s.received.WriteString(piece)
		s.arrivals = append(s.arrivals, arrival{s.received.Len(), rec.start.Add(time.Duration(i+2) * time.Millisecond)})
	}
	s.first = s.arrivals[0].at
	got := s.times(&transcripts.Exchange{Agent: "root", Turn: 1, Try: 1, SSE: stream}, rec.start.Add(9*time.Millisecond))
	assert.DeepEqual(t, got, transcripts.ExchangeTime{Agent: "root", Turn: 1, Try: 1, Start: 1, First: 2, End: 9, Blocks: []float64{2, 4, 4, 5}})
}

// A request at a place that is no chat completion is kept all the same, and one
// whose body cannot be read is not sent.
func TestOddRequests(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ string) { saying(w, "hi") })
	rec := newRecording(t, nil)
	post := func(body io.Reader) error {
		req, err := http.NewRequestWithContext(runtime.At(t.Context(), runtime.Place{Agent: "root", Turn: 1, Try: 1}), "POST", u.URL+"/v1/chat/completions", body)
		assert.NilError(t, err)
		resp, err := rec.Transport(http.DefaultTransport).RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		return err
	}
	assert.NilError(t, post(strings.NewReader("no JSON")))
	assert.NilError(t, post(strings.NewReader(`{"model":"m"}`)))
	assert.ErrorContains(t, post(io.MultiReader(strings.NewReader("{"), brokenReader{})), "read request body: broken")
	assert.NilError(t, post(strings.NewReader(string(ask("", 0, 0, false, "hi").Body()))))
	assert.Equal(t, len(u.bodies), 3)
	f, _ := rec.finish(t)
	assert.Equal(t, len(f.Exchanges), 1)
	var lines []string
	for _, h := range f.HTTP {
		line, _, _ := strings.Cut(string(h.Raw), `,"status"`)
		lines = append(lines, line)
	}
	assert.DeepEqual(t, lines, []string{
		`{"kind":"http","n":1,"method":"POST","path":"/v1/chat/completions","request":"no JSON"`,
		`{"kind":"http","n":2,"method":"POST","path":"/v1/chat/completions","request":{"model":"m"}`,
	})
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broken") }
