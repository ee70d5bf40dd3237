package view

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// Bounds of what a page holds and fetches, however large the history is.
const (
	mostNodes = 6_000   // of the document, whatever is shown
	mostRows  = 400     // of messages
	mostFirst = 400_000 // bytes until something of the session shows
)

func TestALargeHistoryCostsWhatIsInSight(t *testing.T) {
	b := book(large(40, 250, 2000), large(1000, 1, 20))
	p := look(t, chromium(t), serve(t, b)+"#/0/overview", 1280, 800)
	p.until("document.querySelector('.lane-row svg')")
	p.mu.Lock()
	first := p.bytes
	p.mu.Unlock()
	assert.Assert(t, first > 0 && first < mostFirst, "%d bytes before the first view", first)
	for _, view := range []string{"#/1/overview", "#/1/messages/700/0", "#/0/messages/1/0", "#/0/messages/20/400"} {
		p.at(view)
		p.until("document.querySelector('.row.current, .lane-row')")
		for range 8 {
			nodes := value[[]int](p, "[document.querySelectorAll('*').length, document.querySelectorAll('.row').length]")
			assert.Assert(t, nodes[0] < mostNodes && nodes[1] < mostRows, "%s: %d elements, %d rows", view, nodes[0], nodes[1])
			value[int](p, "(() => { const e = document.querySelector('.rows') ?? document.querySelector('#main'); e.scrollBy(0, 4000); return 0; })()")
			p.until("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30))) && true")
		}
	}
}

// TestMeasurePage prints the figures of docs/performance.md:
//
//	TAPETREE_MEASURE=1 go test ./internal/view -run MeasurePage -v -count=1
func TestMeasurePage(t *testing.T) {
	if os.Getenv("TAPETREE_MEASURE") == "" {
		t.Skip("TAPETREE_MEASURE is not set")
	}
	built := time.Now()
	book := book(large(40, 250, 2000))
	t.Logf("%d ms to check it and lay it out", time.Since(built).Milliseconds())
	file := filepath.Join(t.TempDir(), "page.html")
	out, err := os.Create(file)
	assert.NilError(t, err)
	assert.NilError(t, book.WriteHTML(out))
	info, err := out.Stat()
	assert.NilError(t, err)
	assert.NilError(t, out.Close())
	t.Logf("the file has %d bytes", info.Size())
	browser := chromium(t)
	for _, address := range []string{serve(t, book), "file://" + file} {
		p := look(t, browser, address, 1280, 800)
		p.until("document.querySelector('.lane-row svg') && performance.getEntriesByType('paint').length > 0")
		t.Logf("%.5s first paint after %.0f ms", address, value[float64](p, "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
		p.at("#/0/messages/7/0")
		p.until("document.querySelector('.row.current')")
		value[int](p, fmt.Sprintf(`(() => {
			window.seen = { tasks: [], frames: [], done: false };
			new PerformanceObserver((list) => list.getEntries().forEach((e) => seen.tasks.push(e.duration))).observe({ type: "longtask" });
			const rows = document.querySelector(".rows");
			let before = performance.now(), n = 0;
			const step = (now) => {
				seen.frames.push(now - before);
				before = now;
				rows.scrollBy(0, 300);
				if (++n < %d) requestAnimationFrame(step);
				else seen.done = true;
			};
			requestAnimationFrame(step);
			return 0;
		})()`, 300))
		p.until("seen.done")
		t.Logf("%.5s scrolling: %d long tasks, the longest %.0f ms; 95 %% of frames within %.0f ms", address, value[int](p, "seen.tasks.length"),
			value[float64](p, "Math.max(0, ...seen.tasks)"), value[float64](p, "seen.frames.toSorted((x, y) => x - y)[Math.floor(seen.frames.length * 0.95)]"))
	}
}
