package record

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Redrive sends the recorded requests of f again, in the order in which they
// were sent, through a Playback of f: so a foreign transcript is judged without
// its client. It must come out exact, every request under its own agent. What
// an agent does with an answer is not judged, for no agent runs. Requests are
// sent in placeholder form, so o.Fold has nothing to do.
func Redrive(ctx context.Context, f *transcripts.File, o PlaybackOptions) (*PlaybackReport, error) {
	// A folder that does not know {{home}} would take it for text, and escape it.
	o.Fold = nil
	p, err := NewPlayback(f, o)
	if err != nil {
		return nil, err
	}
	for _, e := range asSent(f) {
		if err := p.redrive(ctx, e); err != nil {
			return nil, fmt.Errorf("replay %s: send %s again: %w", f.Path, exchangeName(e), err)
		}
	}
	return p.Close()
}

// asSent lists the exchanges in the order in which their requests were sent, as
// far as the clocks tell it.
func asSent(f *transcripts.File) []*transcripts.Exchange {
	starts := map[place]float64{}
	if f.Timing != nil {
		for _, t := range f.Timing.Exchanges {
			starts[place{Agent: t.Agent, Turn: t.Turn, Try: max(1, t.Try)}] = t.Start
		}
	}
	list := slices.Clone(f.Exchanges)
	if len(starts) < len(list) {
		return list
	}
	slices.SortStableFunc(list, func(a, b *transcripts.Exchange) int {
		return cmp.Compare(starts[placeOf(a)], starts[placeOf(b)])
	})
	return list
}

// wirePaths are the paths that requests of the wires are sent to.
var wirePaths = map[runtime.Wire]string{
	runtime.WireChat: "/v1/chat/completions", runtime.WireResponses: "/v1/responses", runtime.WireMessages: "/v1/messages",
}

// redrive sends one recorded request and reads its answer to the end. How the
// answer ends is part of the recording, and no error.
func (p *Playback) redrive(ctx context.Context, e *transcripts.Exchange) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1"+wirePaths[wireOf(e)], bytes.NewReader(e.Body()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if p.replay.file.Header.Imported != "" { // nobody inferred its agents: the history names them
		req.Header.Set(AgentHeader, string(e.Agent))
	}
	resp, err := p.RoundTrip(req)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err != nil { // a recorded failure to connect
		return nil
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return ctx.Err()
}
