package histories

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// OpenTraffic reads the index of a file of recorded traffic; nil when it is
// none. data is the file, unpacked, and stays in use.
func OpenTraffic(path string, data []byte) (*transcripts.Traffic, error) {
	what, _ := detect(path, data)
	if what != kindHAR && what != kindCassette && what != kindHTTPRR {
		return nil, nil
	}
	return openTraffic(what, path, data)
}

// IsHAR reports whether a file is a HAR file, as far as its beginning tells: one
// that is may be larger than memory, and is read entry by entry. Errors do not
// name the file.
func IsHAR(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, firstKeys))
	if err != nil {
		return false, err
	}
	what, _ := detect(path, head)
	return what == kindHAR, nil
}

func openTraffic(what kind, path string, data []byte) (*transcripts.Traffic, error) {
	switch what {
	case kindCassette:
		return transcripts.OpenCassette(path, data)
	case kindHTTPRR:
		return transcripts.OpenHTTPRR(path, data)
	}
	t, err := transcripts.OpenHAR(path, bytes.NewReader(data), int64(len(data)))
	if err == nil {
		t.CountLines(data)
	}
	return t, err
}

// readTraffic finds out the agents of recorded traffic, and gives a history for
// each upstream.
func readTraffic(ctx context.Context, t *transcripts.Traffic, o Options, yield func(*transcripts.History, error) bool) {
	imported, err := record.ImportTraffic(ctx, t, record.TrafficOptions{
		Fold: o.Fold, Redact: o.Redact, Attribute: attribution.Options{IgnoreSessionHeaders: o.IgnoreHeaders}, InMemory: true,
	})
	if err != nil {
		yield(nil, refusal(t, err))
		return
	}
	for i, f := range imported.Transcripts {
		h, err := trafficHistory(t, imported, i, f)
		if !yield(h, err) || err != nil {
			return
		}
	}
}

// refusal names the file first, as every error of bad input does.
func refusal(t *transcripts.Traffic, err error) error {
	if errors.Is(err, transcripts.ErrEmpty) {
		return &unknownError{fmt.Sprintf("%s: no history: it holds no request for a model answer", t.Path)}
	}
	return err
}

// trafficHistory is the history of one upstream. What the file as a whole has
// lost is told with the first.
func trafficHistory(t *transcripts.Traffic, imported *record.TrafficImport, i int, f *transcripts.File) (*transcripts.History, error) {
	places := imported.Places[i]
	for _, x := range f.Exchanges {
		x.Line = places[placeOf(x)].Line
	}
	h, err := f.History()
	if err != nil {
		return nil, err
	}
	h.Format = t.Format
	if len(imported.Transcripts) > 1 {
		h.Part = imported.Upstreams[i]
	}
	if i > 0 {
		return h, nil
	}
	h.Warnings = append(append(h.Warnings, t.Warnings...), imported.Warnings...)
	if t.Torn != nil {
		h.Warnings = append(h.Warnings, transcripts.Warning{Line: t.Torn.Line, Msg: t.Torn.Msg})
	}
	h.Lost = append(h.Lost, imported.LeftOut...)
	return h, nil
}

func placeOf(x *transcripts.Exchange) runtime.Place {
	return runtime.Place{Agent: x.Agent, Turn: x.Turn, Try: max(x.Try, 1)}
}
