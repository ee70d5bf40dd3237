package cli

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/internal/stats"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// showJSON writes sessions as docs/show.schema.json describes them, each as soon
// as it is read.
type showJSON struct {
	out     io.Writer
	options *showOptions
	table   *prices.Table
	shown   int
}

func newShowJSON(out io.Writer, o *showOptions, table *prices.Table) *showJSON {
	return &showJSON{out: out, options: o, table: table}
}

// shownHistory is one session.
type shownHistory struct {
	File        string            `json:"file"`
	Part        string            `json:"part,omitempty"`
	Format      string            `json:"format"`
	Began       string            `json:"began,omitempty"`
	Inferred    bool              `json:"inferred"`
	Agents      []shownAgent      `json:"agents"`
	Delegations []shownDelegation `json:"delegations"`
	Total       shownSums         `json:"total"`
	Warnings    []shownWarning    `json:"warnings"`
	Lost        []string          `json:"lost"`
}

type shownWarning struct {
	Line    int    `json:"line,omitzero"`
	Message string `json:"message"`
}

// shownSums are what an agent, or all of them, did and used.
type shownSums struct {
	Turns      int      `json:"turns"`
	Tries      int      `json:"failed_tries"`
	Calls      int      `json:"calls"`
	Input      int      `json:"input"`
	Cached     int      `json:"cached"`
	Output     int      `json:"output"`
	Unreported int      `json:"unreported"`
	Spent      int      `json:"spent"`
	Peak       int      `json:"peak,omitzero"`
	KeptOut    int      `json:"kept_out,omitzero"`
	Estimated  bool     `json:"estimated"`
	Seconds    *float64 `json:"seconds,omitzero"`
	Cost       *string  `json:"cost,omitzero"`
}

type shownAgent struct {
	Agent    runtime.Path   `json:"agent"`
	Parent   runtime.Path   `json:"parent,omitempty"`
	Label    string         `json:"label,omitempty"`
	Model    string         `json:"model,omitempty"`
	Stop     string         `json:"stop,omitempty"`
	CallOnly bool           `json:"call_only"`
	Used     shownSums      `json:"used"`
	Tools    map[string]int `json:"tools"`
	Prompt   *string        `json:"prompt,omitzero"`
	Turns    []shownTurn    `json:"turns,omitzero"`
}

type shownTurn struct {
	Turn     int            `json:"turn"`
	Sent     int            `json:"sent"`
	Failed   []shownTry     `json:"failed,omitempty"`
	Says     string         `json:"says,omitempty"`
	Refusal  string         `json:"refusal,omitempty"`
	Finish   string         `json:"finish,omitempty"`
	Answered bool           `json:"answered"`
	Usage    *runtime.Usage `json:"usage,omitzero"`
	Calls    []shownCall    `json:"calls"`
}

type shownTry struct {
	Status int    `json:"status"`
	Kind   string `json:"kind"`
}

type shownCall struct {
	Call      int          `json:"call"`
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Arguments string       `json:"arguments"`
	Verdict   string       `json:"verdict,omitempty"`
	Result    string       `json:"result"`
	Child     runtime.Path `json:"child,omitempty"`
}

type shownDelegation struct {
	Child     runtime.Path `json:"child"`
	Agents    int          `json:"agents"`
	KeptOut   int          `json:"kept_out"`
	Report    int          `json:"report"`
	Spent     int          `json:"spent"`
	Estimated bool         `json:"estimated"`
	Cost      *string      `json:"cost,omitzero"`
}

func (s *showJSON) history(h *transcripts.History, roots []*runtime.Run) error {
	open := "{\n  \"histories\": [\n    "
	if s.shown++; s.shown > 1 {
		open = ",\n    "
	}
	if _, err := io.WriteString(s.out, open); err != nil {
		return err
	}
	return json.MarshalWrite(s.out, s.shownHistory(h, roots), jsontext.WithIndentPrefix("    "), jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
}

func (s *showJSON) end() error {
	_, err := io.WriteString(s.out, "\n  ]\n}\n")
	return err
}

func (s *showJSON) shownHistory(h *transcripts.History, roots []*runtime.Run) *shownHistory {
	only := *h
	only.Roots = roots
	sum := stats.Of(&only, s.table)
	out := &shownHistory{
		File: h.Path, Part: h.Part, Format: h.Format, Inferred: h.File == nil,
		Agents: []shownAgent{}, Delegations: []shownDelegation{}, Warnings: []shownWarning{}, Lost: append([]string{}, h.Lost...),
	}
	if !h.Began.IsZero() {
		out.Began = h.Began.UTC().Format("2006-01-02T15:04:05.999Z07:00")
	}
	runs := map[runtime.Path]*runtime.Run{}
	only.Walk(func(r *runtime.Run) { runs[r.Agent] = r })
	for _, a := range sum.Agents {
		shown := shownAgent{
			Agent: a.Path, Parent: a.Parent, Label: a.Label, Model: a.Model, Stop: string(a.Stop), CallOnly: a.CallOnly,
			Tools: map[string]int{}, Used: shownSums{
				Turns: a.Turns, Tries: a.Tries, Calls: a.Calls, Input: a.Usage.Input, Cached: a.Usage.Cached, Output: a.Usage.Output,
				Unreported: a.Unreported, Spent: a.Spent, Peak: a.Peak, Estimated: a.Estimated, Cost: decimal(a.Cost, a.Priced),
			},
		}
		if a.Timed {
			seconds := a.Time.Seconds()
			shown.Used.Seconds = &seconds
		}
		for _, t := range a.Tools {
			shown.Tools[t.Name] = t.Calls
		}
		if !s.options.stats {
			shown.tell(runs[a.Path])
		}
		out.Agents = append(out.Agents, shown)
	}
	for _, d := range sum.Delegations {
		out.Delegations = append(out.Delegations, shownDelegation{d.Child.Path, d.Agents, d.KeptOut, d.Report, d.Spent, d.Estimated, decimal(d.Cost, d.Priced)})
	}
	t := sum.Total
	out.Total = shownSums{
		Turns: t.Turns, Tries: t.Tries, Calls: t.Calls, Input: t.Usage.Input, Cached: t.Usage.Cached, Output: t.Usage.Output,
		Unreported: t.Unreported, Spent: t.Spent, KeptOut: t.KeptOut, Estimated: t.Estimated, Cost: decimal(t.Cost, t.Priced),
	}
	if t.Timed {
		seconds := t.Time.Seconds()
		out.Total.Seconds = &seconds
	}
	for _, w := range h.Warnings {
		out.Warnings = append(out.Warnings, shownWarning{w.Line, w.Msg})
	}
	return out
}

func decimal(cost prices.Amount, known bool) *string {
	if !known {
		return nil
	}
	text := cost.Decimal()
	return &text
}

// tell adds what the agent was told and did.
func (a *shownAgent) tell(run *runtime.Run) {
	a.Prompt = &run.Prompt
	a.Turns = []shownTurn{}
	for i := range run.Turns {
		t := &run.Turns[i]
		shown := shownTurn{Turn: t.Number, Sent: t.Sent.Len(), Answered: t.Answer != nil, Calls: []shownCall{}}
		for _, f := range t.Failed {
			shown.Failed = append(shown.Failed, shownTry{f.Status, f.Kind})
		}
		if t.Answer != nil {
			shown.Says, shown.Refusal, shown.Finish = t.Answer.Message.Content, t.Answer.Refusal, t.Answer.Finish
			if t.Answer.Usage != (runtime.Usage{}) {
				shown.Usage = &t.Answer.Usage
			}
		}
		for _, c := range t.Calls {
			call := shownCall{Call: c.Number, ID: c.ID, Name: c.Name, Arguments: c.Arguments, Verdict: string(c.Verdict), Result: c.Result}
			if c.Child != nil {
				call.Child = c.Child.Agent
			}
			shown.Calls = append(shown.Calls, call)
		}
		a.Turns = append(a.Turns, shown)
	}
}
