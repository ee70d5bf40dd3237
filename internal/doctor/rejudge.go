package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Rejudge holds the requests of a run against the transcript once more, under
// other rules: each is sent again, as that of its agent.
func Rejudge(ctx context.Context, recorded, run *transcripts.File, rules []string) (*record.PlaybackReport, error) {
	volatile, err := record.ParseVolatile(rules)
	if err != nil {
		return nil, err
	}
	playback, err := record.NewPlayback(recorded, record.PlaybackOptions{
		ReplayOptions: record.ReplayOptions{
			Volatile: volatile, Redact: record.NewRedactor([]string{}), Dialect: runtime.DialectFor(recorded.Header.Upstream),
		},
		Attribute: attribution.Options{IgnoreSessionHeaders: true},
	})
	if err != nil {
		return nil, err
	}
	for _, e := range run.Exchanges {
		if err := send(ctx, playback, e); err != nil {
			return nil, fmt.Errorf("send %s turn %d again: %w", e.Agent, e.Turn, err)
		}
	}
	return playback.Close()
}

// paths are the paths that requests of the wires are sent to.
var paths = map[runtime.Wire]string{
	runtime.WireChat: "/v1/chat/completions", runtime.WireResponses: "/v1/responses", runtime.WireMessages: "/v1/messages",
}

// send asks and reads the answer to its end. What the answer is makes no
// difference: the run has had it.
func send(ctx context.Context, playback *record.Playback, e *transcripts.Exchange) error {
	wire := runtime.Wire(e.Wire)
	if wire == "" {
		wire = runtime.WireChat
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1"+paths[wire], bytes.NewReader(e.Body()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(record.AgentHeader, string(e.Agent))
	resp, err := playback.RoundTrip(req)
	if err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close() // of a reader
	}
	return ctx.Err()
}
