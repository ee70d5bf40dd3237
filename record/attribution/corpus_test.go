package attribution

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

const shared = "../../../shared/data"

// recorded is one request of a recorded run of a real client.
type recorded struct {
	N        int               `json:"n"`
	Agent    string            `json:"agent"` // the truth
	T0, T1   *float64          `json:",omitempty"`
	Headers  map[string]string `json:"headers"`
	Status   int               `json:"status"`
	Response struct {
		Text string `json:"text"`
	} `json:"response"`
	ResponseHeaders map[string]string `json:"responseHeaders"`
	Chunks          [][2]float64      `json:"chunks"` // milliseconds after T0, bytes
	Aborted         bool              `json:"aborted"`
	Request         jsontext.Value    `json:"request"`
}

func TestRecordedRuns(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared, "attribution", "*.jsonl.gz"))
	assert.NilError(t, err)
	if len(files) == 0 {
		t.Skipf("no recorded runs at %s", shared)
	}
	for _, ignore := range []bool{false, true} {
		t.Run(fmt.Sprintf("without session headers %v", ignore), func(t *testing.T) {
			table := &table{}
			for _, file := range files {
				name := strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")
				table.run(name, readRun(t, file), Options{IgnoreSessionHeaders: ignore})
			}
			t.Log(table.String())
			total := table.rows[len(table.rows)-1]
			assert.Equal(t, total.wrongSilent, 0)
			assert.Assert(t, total.wrongFlagged+total.rightFlagged <= 5)
		})
	}
}

// row counts what became of the requests of one run.
type row struct {
	run                                                      string
	requests, right, rightFlagged, wrongFlagged, wrongSilent int
}

// table is the outcome of the runs.
type table struct {
	rows  []row
	notes []string
}

func (b *table) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%-20s %8s %6s %14s %14s %13s\n", "run", "requests", "right", "right, flagged", "wrong, flagged", "wrong, silent")
	for _, r := range b.rows {
		fmt.Fprintf(&out, "%-20s %8d %6d %14d %14d %13d\n", r.run, r.requests, r.right, r.rightFlagged, r.wrongFlagged, r.wrongSilent)
	}
	return out.String() + strings.Join(b.notes, "\n")
}

func (b *table) run(name string, run []recorded, o Options) {
	if len(b.rows) == 0 {
		b.rows = []row{{run: "all"}}
	}
	r := row{run: name}
	for i, place := range attribute(run, o) {
		truth := run[i].Agent
		right := isTruth(place.Path, truth)
		switch {
		case right && place.Flag == "":
			r.right++
		case right:
			r.rightFlagged++
		case place.Flag != "":
			r.wrongFlagged++
		default:
			r.wrongSilent++
		}
		if !right || place.Flag != "" {
			b.notes = append(b.notes, fmt.Sprintf("%s %d: %s is %s#%d.%d %s %v", name, run[i].N, truth, place.Path, place.Turn, place.Try, place.Flag, place.Candidates))
		}
		r.requests++
	}
	total := b.rows[len(b.rows)-1]
	total.requests += r.requests
	total.right += r.right
	total.rightFlagged += r.rightFlagged
	total.wrongFlagged += r.wrongFlagged
	total.wrongSilent += r.wrongSilent
	b.rows = append(b.rows[:len(b.rows)-1], r, total)
}

var unknownChild = regexp.MustCompile(`^root/\?[0-9]+$`)

func isTruth(path runtime.Path, truth string) bool {
	switch truth {
	case "side":
		return strings.Contains(string(path), "~")
	case "root/?":
		return unknownChild.MatchString(string(path))
	default:
		return string(path) == truth
	}
}

func readRun(t *testing.T, file string) []recorded {
	f, err := os.Open(file)
	assert.NilError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	assert.NilError(t, err)
	data, err := io.ReadAll(z)
	assert.NilError(t, err)
	var run []recorded
	for line := range bytes.Lines(data) {
		var r recorded
		assert.NilError(t, json.Unmarshal(line, &r, json.MatchCaseInsensitiveNames(true)))
		run = append(run, r)
	}
	return run
}

// moment is something that a scope is told.
type moment struct {
	at    float64
	index int // of the request
	order int // of what happens to one request at one time
	do    func()
}

// attribute gives a run to a scope and returns where its requests stand.
func attribute(run []recorded, o Options) []Place {
	s := New(o)
	exchanges := make([]*Exchange, len(run))
	var moments []moment
	for i, r := range run {
		begin := func() { exchanges[i] = s.Begin(request(r.Request, r.Headers)) }
		answer, calls := r.answer()
		end := func() {
			if answer == nil {
				exchanges[i].Failed()
				return
			}
			exchanges[i].Done(answer.Message, "")
		}
		if r.T0 == nil || r.T1 == nil {
			moments = append(moments, moment{at: float64(i), index: i, do: func() { begin(); end() }})
			continue
		}
		moments = append(moments, moment{at: *r.T0, index: i, do: begin}, moment{at: *r.T1, index: i, order: 2, do: end})
		for n, c := range calls {
			if answer != nil {
				moments = append(moments, moment{at: min(*r.T0+c.at, *r.T1), index: i, order: 1, do: func() { exchanges[i].Call(n+1, c.call) }})
			}
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), a.index-b.index, a.order-b.order) })
	for _, m := range moments {
		m.do()
	}
	places := make([]Place, len(run))
	for i, x := range exchanges {
		places[i] = s.Place(x)
	}
	return places
}

// timedCall is a call and when it was complete, in milliseconds after its
// request.
type timedCall struct {
	call runtime.Call
	at   float64
}

// answer decodes a response; nil for one that failed.
func (r recorded) answer() (*runtime.Answer, []timedCall) {
	text := []byte(r.Response.Text)
	stream := bytes.HasPrefix(bytes.TrimSpace(text), []byte("data:"))
	answer, err := runtime.Decode(&runtime.Response{Status: r.Status, Body: text, Stream: stream, End: runtime.EndEOF}, runtime.Dialect{})
	if err != nil || r.Aborted {
		return nil, nil
	}
	var timed []timedCall
	var split runtime.Splitter
	reader := runtime.NewAnswerReader(runtime.WireChat)
	for _, chunk := range r.Chunks {
		size := min(int(chunk[1]), len(text))
		for _, block := range split.Feed(text[:size]) {
			for _, c := range reader.Block(block) {
				timed = append(timed, timedCall{call: c, at: chunk[0]})
			}
		}
		text = text[size:]
	}
	for _, c := range answer.Message.Calls[min(len(timed), len(answer.Message.Calls)):] {
		timed = append(timed, timedCall{call: c})
	}
	return answer, timed
}

// request reads a body of chat completions.
func request(body []byte, headers map[string]string) *Request {
	var form struct {
		Messages []jsontext.Value `json:"messages"`
		Tools    jsontext.Value   `json:"tools"`
	}
	if err := json.Unmarshal(body, &form); err != nil {
		panic(err)
	}
	r := &Request{Header: http.Header{}}
	for _, raw := range form.Messages {
		m, err := runtime.ParseMessage(raw)
		if err != nil {
			panic(err)
		}
		r.Messages = append(r.Messages, m)
	}
	for key, value := range headers {
		r.Header.Set(key, value)
	}
	if len(form.Tools) > 2 {
		sum := digest(string(form.Tools))
		r.Tools = string(sum[:])
	}
	sum := digest(string(body))
	r.Body = string(sum[:])
	return r
}
