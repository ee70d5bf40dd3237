package scenarios

import "context"

// ReplayTape replays a transcript for its golden history: the program of a
// foreign one, faults and want/verify do not run. With update the golden history
// is written, else it is compared.
func ReplayTape(ctx context.Context, source Source, name string, update bool) Result {
	return Replay(ctx, source, name, ReplayOptions{Update: update, goldenOnly: true})
}
