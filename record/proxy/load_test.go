package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// loadTime is how long the long form of the load tests runs, 0 for the short
// one. TAPETREE_LOAD=30s asks for it.
func loadTime(t *testing.T) time.Duration {
	text := os.Getenv("TAPETREE_LOAD")
	if text == "" {
		return 0
	}
	long, err := time.ParseDuration(text)
	assert.NilError(t, err, "TAPETREE_LOAD")
	return long
}

// Many sessions stream at once, each its own words. Nothing is mixed up or lost,
// the heap stays flat, and no goroutine is left. With TAPETREE_LOAD=30s it is 200
// sessions at once, for that long.
func TestLoad(t *testing.T) {
	long := loadTime(t)
	workers, rounds := 24, 3
	if long > 0 {
		workers, rounds = 200, 1<<30
	}
	before := goruntime.NumGoroutine()
	v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, body string) { sse(w, events(lastWords(body))...) })
	v.forget = true
	load := &load{world: v, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}}
	var group sync.WaitGroup
	stop := make(chan struct{})
	if long > 0 {
		time.AfterFunc(long, func() { close(stop) })
	}
	heaps := make(chan []uint64)
	go func() { heaps <- watchHeap(stop, long) }()
	for n := range workers {
		group.Go(func() {
			for round := range rounds {
				select {
				case <-stop:
					return
				default:
					load.session(t, fmt.Sprintf("s%d-%d", n, round))
				}
			}
		})
	}
	group.Wait()
	if long == 0 {
		close(stop)
	}
	heap := <-heaps
	assert.NilError(t, v.Shutdown(context.Background()))
	assert.Equal(t, len(v.proxy.Close()), 0) // every session was ended
	v.upstream.Close()
	load.client.CloseIdleConnections()
	waitFor(t, before)
	t.Logf("%d sessions, %d exchanges; heap in MB at each tenth: %v", load.sessions.Load(), load.exchanges.Load(), heap)
	if long > 0 { // the first tenth is the start
		assert.Assert(t, slices.Max(heap[5:]) <= slices.Max(heap[1:5])*3/2+16, "the heap grew: %v MB", heap)
	}
}

// watchHeap returns how many MB were alive after each tenth of the time.
func watchHeap(stop <-chan struct{}, long time.Duration) []uint64 {
	var heap []uint64
	for range 10 {
		if long == 0 {
			break
		}
		select {
		case <-stop:
		case <-time.After(long / 10):
		}
		goruntime.GC()
		var stats goruntime.MemStats
		goruntime.ReadMemStats(&stats)
		heap = append(heap, stats.HeapAlloc>>20)
	}
	<-stop
	return heap
}

type load struct {
	world               *world
	client              *http.Client
	sessions, exchanges atomic.Int64
}

// session holds a conversation of some turns and checks both what the client
// got and what was recorded.
func (l *load) session(t *testing.T, name string) {
	const turns = 4
	messages := []string{"system you echo", "user " + name + " begins " + strings.Repeat("x", 2000)}
	var want []string
	for turn := range turns {
		words := fmt.Sprintf("%s turn %d", name, turn)
		messages = append(messages, "user "+words)
		got, err := l.post(l.world.URL()+"/s/"+name+"/v1/chat/completions", ask(messages...))
		if !assert.Check(t, err) || !assert.Check(t, got == strings.Join(events(words), ""), "%s got %q", name, got) {
			return
		}
		messages = append(messages, "assistant "+words)
		want = append(want, words)
		l.exchanges.Add(1)
	}
	result, open := l.world.proxy.CloseSession(name)
	if !assert.Check(t, open) || !assert.Check(t, result.Err) {
		return
	}
	var kept []string
	for i, e := range result.File.Exchanges {
		kept = append(kept, answerOf(e))
		assert.Check(t, e.Agent == "root" && e.Turn == i+1 && e.Try == 1, "%s: exchange %d is %s#%d", name, i, e.Agent, e.Turn)
	}
	assert.Check(t, strings.Join(kept, "|") == strings.Join(want, "|"), "%s recorded %q", name, kept)
	assert.Check(t, os.Remove(result.File.Path))
	l.sessions.Add(1)
}

func (l *load) post(to, body string) (string, error) {
	resp, err := l.client.Post(to, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return string(got), err
}

// lastWords are those of the last user message of a body that ask has made.
func lastWords(body string) string {
	_, rest, _ := strings.Cut(body[strings.LastIndex(body, `"role":"user","content":"`):], `"content":"`)
	words, _, _ := strings.Cut(rest, `"`)
	return words
}
