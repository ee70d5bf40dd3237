package view

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestSessionsWithLongPathsAreToldApart(t *testing.T) {
	long := "/home/somebody/projects/with/a/path/" + strings.Repeat("that/does/not/end/", 5)
	b := book(survey(long+"one/run.json", false), survey(long+"two/"+strings.Repeat("part-of-a-name-", 20)+"end.json", true))
	b.Missing(3, 1)
	p := look(t, chromium(t), serve(t, b)+"#/sessions", 1280, 800)
	p.until("document.querySelectorAll('.session-row').length === 2")
	assert.Equal(t, p.text(".absent"), "3 files passed over, which are no history; 1 file could not be read")
	assert.Equal(t, value[string](p, "document.querySelector('.session-row .name').textContent"), "one/run.json")
	assert.Equal(t, value[string](p, "document.querySelector('.session-row .name').title"), long+"one/run.json")
	last := ".session-row:nth-child(2) .name"
	assert.Equal(t, p.text(last+" .cut-tail"), "e-part-of-a-name-end.json"[1:])
	assert.Assert(t, value[bool](p, fmt.Sprintf("(() => { const r = document.querySelector(%q).getBoundingClientRect(), o = document.querySelector('.session-row').getBoundingClientRect(); return r.width > 0 && r.right <= o.right; })()", last+" .cut-tail")))
	assert.DeepEqual(t, value[[]string](p, "[...document.querySelectorAll('#session option')].map((o) => o.textContent)"), []string{"one/run.json", "two/pa…-part-of-a-name-end.json"})
	assert.Equal(t, value[string](p, "document.querySelector('#session option').title"), long+"one/run.json")
}

func TestNamesFromAnywhereAreShownWhole(t *testing.T) {
	p := look(t, chromium(t), serve(t, book(survey("/a/one.json", false), survey("two.json", true)))+"#/sessions", 1280, 800)
	p.until("document.querySelectorAll('.session-row').length === 2")
	assert.DeepEqual(t, value[[]string](p, "[...document.querySelectorAll('.session-row .name')].map((e) => e.textContent)"), []string{"/a/one.json", "two.json"})
}

func TestWhatThePageSaysOfNumbersAndEmptyLines(t *testing.T) {
	list := foreign(t, `{"role":"user","content":"\n\ngo"}`, askTwo, `{"role":"tool","tool_call_id":"a","content":"x"}`, `{"role":"assistant","content":"\n\n\n\n"}`)
	s := newStage("b")
	root := s.root("s", "u")
	root.say(1e9, "I ask.", `task {"prompt":"p"}`) // and no more: it was cancelled
	p := look(t, chromium(t), serve(t, book(list, s.History()))+"#/0/overview", 1280, 800)
	p.until("document.querySelector('.legend .quiet') && document.querySelector('.contexts')")
	assert.Assert(t, strings.HasPrefix(p.text(".legend .quiet"), "≈ "), p.text(".legend .quiet"))
	top := "Math.min(...[...document.querySelectorAll('.contexts .grid')].map((e) => e.y1.baseVal.value))"
	assert.Assert(t, value[bool](p, "[...document.querySelectorAll('.contexts circle')].every((e) => e.cy.baseVal.value >= "+top+" - 0.01)"))
	p.at("#/0/messages/0/0")
	p.until("document.querySelector('.row.user pre')")
	assert.Equal(t, value[string](p, "document.querySelector('.row.user pre').textContent"), "‹LF›‹LF›\ngo")
	assert.Equal(t, value[string](p, "[...document.querySelectorAll('.row.assistant pre')].at(-1).textContent"), "‹4 line ends›")
	assert.Assert(t, !strings.Contains(p.text(".about .facts-line"), "root"), p.text(".about .facts-line"))
	p.at("#/1/overview")
	p.until("document.querySelector('.heading h1')?.textContent === 'b' && document.querySelector('.lane-row .sum')")
	assert.Equal(t, strings.Join(strings.Fields(p.text(".lane-row .sum")), " "), "1 turn · 900 cancelled")
}
