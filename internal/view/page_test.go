package view

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// views are the addresses of every view of a book of two sessions.
var views = []string{"#/sessions", "#/0/overview", "#/0/messages/0/0", "#/0/messages/1/4", "#/1/overview", "#/diff/0/1"}

// hostile is a history whose every text tries to be more than a text.
func hostile(path string) *transcripts.History {
	bad := `<script>document.title="run"</script></script><!--<img src=x onerror=document.title="run"><a href="javascript:document.title='run'">x</a>` +
		"\x1b[31mred\x1b[0m \u202egnirts\u202c \u200b\u2028\u2029 ]]> {{x}} ${document.title='run'} \U000e0041"
	s := newStage(path + bad)
	root := s.root(bad, bad)
	root.say(1e9, bad, `task {"description":"</script><script>document.title='run'</script>","prompt":"<img src=x onerror=document.title='run'>"}`, bad+" "+bad)
	child := root.child(0, bad, bad)
	child.say(1e9, bad)
	root.get(0, bad, "")
	root.say(1e9, strings.Repeat("<b>long</b>", 100_000))
	s.Warn(3, bad)
	s.Lost(bad)
	return s.History()
}

func TestEveryViewFitsAWindowOf400Pixels(t *testing.T) {
	browser := chromium(t)
	wide := strings.Repeat("unbroken", 2000)
	s := newStage("runs/" + wide + ".json")
	root := s.root(wide, wide)
	root.say(1e9, wide, "task {\"prompt\":\""+wide+"\"}", wide+" {}")
	root.child(0, wide, wide).say(1e9, wide)
	root.get(0, wide, wide)
	for name, b := range map[string]*Book{"usual": book(survey("a", false), survey("b", true)), "unbroken words": book(s.History(), survey("b", true)), "hostile": book(hostile("a"), hostile("b"))} {
		p := look(t, browser, serve(t, b), 400, 800)
		for _, view := range views {
			p.at(view)
			p.until("document.querySelector('.row, .diff-row, .session-row, .lane-row svg')")
			got := value[[]int](p, "[document.scrollingElement.scrollWidth, window.innerWidth, ...[...document.querySelectorAll('#main, .rows, .diff-rows, .overview, .lanes')].flatMap((e) => [e.scrollWidth, e.clientWidth])]")
			for i := 0; i < len(got); i += 2 {
				assert.Assert(t, got[i] <= got[i+1], "%s, %s: %v", name, view, got)
			}
		}
		p.keys("?")
		p.until("document.querySelector('#keys').open && document.scrollingElement.scrollWidth <= innerWidth")
	}
}

func TestAHistoryFullOfMarkupIsShownAsText(t *testing.T) {
	browser := chromium(t)
	b := book(hostile("a"), hostile("b"))
	file := filepath.Join(t.TempDir(), "page.html")
	out, err := os.Create(file)
	assert.NilError(t, err)
	assert.NilError(t, b.WriteHTML(out))
	assert.NilError(t, out.Close())
	for _, address := range []string{serve(t, b), "file://" + file} {
		p := look(t, browser, address, 1280, 800)
		for _, view := range views {
			p.at(view)
			p.until("document.querySelector('.row, .diff-row, .session-row, .lane-row svg')")
			assert.Equal(t, value[int](p, "document.querySelectorAll('#main script, #main img, #main a, #main b.x, #main iframe').length"), 0)
		}
		p.at("#/0/messages/0/1")
		p.until("document.querySelector('.row.user pre')")
		assert.Equal(t, value[string](p, "document.querySelector('.row.user pre').textContent"),
			`<script>document.title="run"</script></script><!--<img src=x onerror=document.title="run"><a href="javascript:document.title='run'">x</a>`+
				"‹ESC›[31mred‹ESC›[0m ‹U+202E›gnirts‹U+202C› ‹U+200B›‹U+2028›‹U+2029› ]]> {{x}} ${document.title='run'} ‹U+E0041›")
		assert.Assert(t, !value[bool](p, "document.title === 'run'"))
		if strings.HasPrefix(address, "file:") {
			assert.Equal(t, len(p.requests), 1, "%q", p.requests) // the file itself
		}
	}
}

func TestAPageInAFileShowsAllThatAServedOneShows(t *testing.T) {
	browser := chromium(t)
	b := book(survey("a", false), survey("b", true))
	file := filepath.Join(t.TempDir(), "page.html")
	out, err := os.Create(file)
	assert.NilError(t, err)
	assert.NilError(t, b.WriteHTML(out))
	assert.NilError(t, out.Close())
	served, kept := look(t, browser, serve(t, b), 1280, 800), look(t, browser, "file://"+file, 1280, 800)
	for _, view := range views {
		var texts []string
		for _, p := range []*tab{served, kept} {
			p.at(view)
			p.until("document.querySelector('.row, .diff-row, .session-row, .lane-row svg')")
			texts = append(texts, p.text("#main"))
		}
		assert.Equal(t, texts[0], texts[1], view)
		assert.Assert(t, texts[0] != "")
	}
	assert.Equal(t, len(kept.requests), 1, "%q", kept.requests)
}

func TestTheKeyboardGoesEverywhere(t *testing.T) {
	p := look(t, chromium(t), serve(t, book(survey("a", false), survey("b", true))), 1280, 800)
	steps := []struct{ keys, hash, shown string }{
		{"v", "#/0/overview", ".overview"},
		{"m", "#/0/messages/0/0", ".row.current.system"},
		{"j", "#/0/messages/0/1", ".row.current.user"},
		{"jj", "#/0/messages/0/3", ".row.current.call"},
		{"k", "#/0/messages/0/2", ".row.current.assistant"},
		{"]", "#/0/messages/1/0", ".row.current.system"},
		{"p", "#/0/messages/0/3", ".row.current.call"},
		{"[", "#/0/messages/3/0", ".row.current.system"},
		{"f", "#/0/messages/0/2", ".finding-note"},
		{"F", "#/0/messages/0/6", ".finding-note.error"},
		{"d", "#/diff/0/1", ".diff-row.current.changed"},
		{"j", "#/diff/0/1", ".diff-row.current ~ .diff-row"},
		{"s", "#/sessions", ".session-row"},
		{"?", "#/sessions", "#keys[open] kbd"},
	}
	p.until("document.querySelector('.session-row')")
	for _, step := range steps {
		for _, key := range step.keys {
			p.keys(string(key))
		}
		p.until(fmt.Sprintf("location.hash === %q && document.querySelector(%q)", step.hash, step.shown))
	}
	p.keys(kb.Escape)
	p.until("!document.querySelector('#keys').open")
	p.keys("t")
	p.until("document.documentElement.dataset.theme === 'dark'")
}

func TestSearchFindsWhatIsFoldedAndFarAway(t *testing.T) {
	s := newStage("a")
	root := s.root("s", "u")
	for i := range 300 {
		root.say(1e6, fmt.Sprint("turn of ", i), `look {"n":1}`).get(0, "nothing")
	}
	root.say(1e6, strings.Repeat("a long text, ", 20_000)+"the NEEDLE at its end")
	p := look(t, chromium(t), serve(t, book(s.History())), 1280, 800)
	p.keys("/")
	p.until("document.activeElement.id === 'query'")
	value[string](p, "document.querySelector('#query').value = ''") // the protocol types the key itself too, which a keyboard does not
	p.keys("needle")
	p.until("document.querySelector('#hits').dataset.done === 'true' && document.querySelectorAll('.hit').length === 1")
	assert.Equal(t, p.text(".hits-head"), "1 hit")
	assert.Assert(t, strings.HasSuffix(p.text(".hit-text"), "the NEEDLE at its end"))
	p.keys(kb.Enter)
	p.until("location.hash === '#/0/messages/0/602' && document.querySelector('.row.current.assistant')")
	box := value[bool](p, "(() => { const r = document.querySelector('.row.current').getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight; })()")
	assert.Assert(t, box)
	p.keys(kb.Escape)
	p.keys(kb.Escape)
	p.until("document.querySelector('#query').value === ''")
}

func TestLongTextsFold(t *testing.T) {
	s := newStage("a")
	s.root("s", strings.Repeat("line\n", 100)).say(1e6, strings.Repeat("x", 1<<20))
	p := look(t, chromium(t), serve(t, book(s.History()))+"#/0/messages/0/1", 1280, 800)
	p.until("document.querySelector('.row.user .fold')")
	size := func(row string) int {
		return value[int](p, "document.querySelector('.row."+row+" pre').textContent.length")
	}
	assert.Equal(t, p.text(".row.user .fold"), "show all (101 lines)")
	assert.Equal(t, size("user"), 24*5-1)
	p.keys("o")
	p.until("document.querySelector('.row.user pre').textContent.length === 500")
	p.keys("o")
	p.until("document.querySelector('.row.user pre').textContent.length === 119")
	p.keys("j")
	p.until("document.querySelector('.row.assistant.current')")
	p.keys("o") // the million characters of one line come a step at a time
	p.until("document.querySelector('.row.assistant pre').textContent.length === 32 * 1024")
	p.do(chromedp.Click(chromedp.CSS(".row.assistant .fold")))
	p.until("document.querySelector('.row.assistant pre').textContent.length === 64 * 1024")
}

func TestLightAndDark(t *testing.T) {
	browser := chromium(t)
	paper := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		p := look(t, browser, serve(t, book(survey("a", false))), 1280, 800, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme})
		paper[scheme] = value[string](p, "getComputedStyle(document.body).backgroundColor")
		p.keys("t")
		other := value[string](p, "getComputedStyle(document.body).backgroundColor")
		p.keys("t")
		assert.Equal(t, value[string](p, "getComputedStyle(document.body).backgroundColor"), paper[scheme])
		paper[scheme+" turned"] = other
	}
	assert.DeepEqual(t, paper, map[string]string{"light": "rgb(246, 247, 249)", "dark": "rgb(18, 22, 29)", "light turned": "rgb(18, 22, 29)", "dark turned": "rgb(246, 247, 249)"})
}
