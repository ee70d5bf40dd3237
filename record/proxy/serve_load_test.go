package proxy

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tapetree/tapetree/record"
	"gotest.tools/v3/assert"
)

// TestReplayUnderLoad plays 200 sessions at once: nothing is mixed up or lost,
// and nothing stays behind. TAPETREE_LOAD=30s keeps it up for so long and watches
// the heap.
func TestReplayUnderLoad(t *testing.T) {
	const clients = 200
	long := loadTime(t)
	names := []string{"apples", "pears", "plums", "cherries"}
	var mu sync.Mutex
	runs := 0
	bad := map[string]int{}
	before := goruntime.NumGoroutine()
	o := newOrchard(t, func(o *ReplayOptions) {
		o.Ended = func(r SessionReport) {
			mu.Lock()
			defer mu.Unlock()
			runs++
			if r.Grade != record.Exact || len(r.Findings) > 0 || r.Used != 4 {
				bad[strings.Join(reportLines([]SessionReport{r}), "")]++
			}
		}
	}, names...)
	stop := make(chan struct{})
	time.AfterFunc(long, func() { close(stop) })
	heaps := make(chan []uint64, 1)
	go func() { heaps <- watchHeap(stop, long) }()
	var wg sync.WaitGroup
	var played atomic.Int64
	for i := range clients {
		wg.Go(func() {
			name := names[i%len(names)]
			for {
				if err := o.play(fmt.Sprintf("/s/%s@%d", name, i), o.replay.tapes[name].File); err != nil {
					t.Error(err)
					return
				}
				played.Add(1)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	wg.Wait()
	heap := <-heaps
	assert.NilError(t, o.Shutdown(context.Background()))
	o.replay.Close()
	client.CloseIdleConnections()
	assert.Equal(t, int64(runs), played.Load())
	assert.DeepEqual(t, bad, map[string]int{})
	waitFor(t, before)
	t.Logf("%d sessions, %d exchanges; heap in MB at each tenth: %v", runs, 4*runs, heap)
	if long > 0 {
		assert.Assert(t, slices.Max(heap[5:]) <= slices.Max(heap[1:5])*3/2+16, "the heap grew: %v MB", heap)
	}
}
