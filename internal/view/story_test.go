package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// stage builds histories for the tests: turns follow each other, each takes the
// time and the tokens that it is told.
type stage struct {
	*transcripts.HistoryBuilder
	ids int
}

func newStage(path string) *stage {
	s := &stage{HistoryBuilder: transcripts.NewHistory(path, "", "messages")}
	s.Began(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC))
	return s
}

// actor is one agent of a stage.
type actor struct {
	*transcripts.AgentBuilder
	stage *stage
	at    time.Duration
	size  int // tokens of its next request
	open  []string
}

func (s *stage) root(system, prompt string) *actor {
	a := &actor{AgentBuilder: s.Root(), stage: s, size: 900}
	a.Add(runtime.SystemMessage(system))
	a.Add(runtime.UserMessage(prompt))
	return a
}

// child begins the agent of the n-th open call.
func (a *actor) child(n int, label, prompt string) *actor {
	c := &actor{AgentBuilder: a.Child(a.open[n]), stage: a.stage, at: a.at, size: 700}
	c.Label(label)
	c.Add(runtime.SystemMessage("You look and report. You change nothing."))
	c.Add(runtime.UserMessage(prompt))
	return c
}

// say is a turn: a text and calls, each "TOOL {arguments}".
func (a *actor) say(took time.Duration, text string, calls ...string) *actor {
	var list []string
	a.open = nil
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		a.stage.ids++
		id := fmt.Sprintf("call_%d", a.stage.ids)
		a.open = append(a.open, id)
		list = append(list, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, name, quoted(args)))
	}
	raw := `{"role":"assistant","content":` + quoted(text)
	if len(list) > 0 {
		raw += `,"tool_calls":[` + strings.Join(list, ",") + `]`
	}
	m, err := runtime.ParseMessage([]byte(raw + "}"))
	if err != nil {
		panic(err)
	}
	written := len(raw) / 4
	a.Answer(&runtime.Answer{Message: m, Finish: "stop", Usage: runtime.Usage{Input: a.size, Output: written}, Model: "small-model"},
		transcripts.Spot{Start: a.at, End: a.at + took, Timed: true})
	a.at += took
	a.size += written
	return a
}

// get answers the open calls, and what they bring adds to the next request.
func (a *actor) get(took time.Duration, results ...string) *actor {
	for i, result := range results {
		a.Add(runtime.ToolMessage(a.open[i], result))
		a.size += len(result) / 4
	}
	a.at += took
	return a
}

func quoted(text string) string {
	data, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

const config = `# read at start, and again on SIGHUP
listen = "127.0.0.1:8080"
timeout = "30s"
retries = 3
cache = "/var/cache/checkout"
`

// survey is a session of four agents, three of them at once. In the other one
// the parent asks two readers, and one of them says otherwise.
func survey(path string, other bool) *transcripts.History {
	s := newStage(path)
	root := s.root("You are a coding agent. Hand reading to subagents.", "Which of our three services still read settings.ini, and which must change first?")
	briefs := []string{
		`task {"description":"checkout","prompt":"In services/checkout, find every place that reads settings.ini. Report file:line and what is read there."}`,
		`task {"description":"billing","prompt":"In services/billing, find every place that reads settings.ini. Report file:line and what is read there."}`,
		`task {"description":"mailer","prompt":"Look at the mailer too."}`,
	}
	if other {
		briefs = []string{strings.Replace(briefs[0], "what is read there", "the key that is read there", 1), briefs[1]}
	}
	root.say(2400*time.Millisecond, "Three services, so three readers at once.", briefs...)
	checkout := root.child(0, "checkout", "In services/checkout, find every place that reads settings.ini. Report file:line and what is read there.")
	checkout.say(1200*time.Millisecond, "", `glob {"pattern":"services/checkout/**/*.go"}`).get(200*time.Millisecond, "main.go\nconfig/load.go\nconfig/watch.go")
	for i := range 7 {
		file := []string{"main.go", "config/load.go", "config/watch.go", "cart.go", "cart_test.go", "pay.go", "pay_test.go"}[i]
		checkout.say(900*time.Millisecond, "", fmt.Sprintf(`read_file {"path":"services/checkout/%s"}`, file)).get(150*time.Millisecond, strings.Repeat(config+"// "+file+"\n", 12+10*i))
	}
	report := "services/checkout/config/load.go:41 reads listen and timeout from settings.ini; watch.go:17 reads it again on SIGHUP. Nothing else does."
	checkout.say(1800*time.Millisecond, report)
	billing := root.child(1, "billing", "In services/billing, find every place that reads settings.ini. Report file:line and what is read there.")
	billing.say(1500*time.Millisecond, "", `run_bash {"command":"grep -rn settings.ini services/billing"}`).get(2500*time.Millisecond, "grep: services/billing: No such file or directory")
	billing.say(1100*time.Millisecond, "The folder has another name.", `glob {"pattern":"services/*"}`).get(300*time.Millisecond, "services/checkout\nservices/invoices\nservices/mailer")
	billing.say(1300*time.Millisecond, "", `read_file {"path":"services/invoices/main.go"}`).get(200*time.Millisecond, strings.Repeat(config, 20))
	invoices := "services/invoices/main.go:12 reads retries from settings.ini, once at start."
	if other {
		invoices = "Nothing in services/invoices reads settings.ini: retries comes from the environment."
	}
	billing.say(1600*time.Millisecond, invoices)
	results := []string{report, invoices}
	if !other {
		mailer := root.child(2, "mailer", "Look at the mailer too.")
		mailer.say(1400*time.Millisecond, "", `read_file {"path":"services/mailer/main.go"}`).get(200*time.Millisecond, config)
		mailer.say(1200*time.Millisecond, "It reads four keys of settings.ini, once at start.")
		results = append(results, config) // not its report: a leak
	}
	root.at = checkout.at
	root.get(100*time.Millisecond, results...)
	root.say(3*time.Second, "", `read_file {"path":"docs/rollout.md"}`).get(200*time.Millisecond, strings.Repeat("One service a week; the one that reloads goes first.\n", 60))
	last := "Checkout must change first: it reads settings.ini again on SIGHUP (config/watch.go:17). Invoices reads it once at start (main.go:12). The mailer does not say."
	if other {
		last = "Checkout must change: it reads settings.ini again on SIGHUP (config/watch.go:17). Invoices reads none."
	}
	root.say(2800*time.Millisecond, last)
	return s.History()
}
