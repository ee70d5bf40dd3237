package view

// Version is that of the JSON that the page reads. It rises when a page could
// no longer read what an older program wrote.
const Version = 1

// Index lists the sessions; it is what a page reads first.
type Index struct {
	Version  int      `json:"version"`
	Sessions []Listed `json:"sessions"`
	Diffs    [][2]int `json:"diffs,omitzero"`  // pairs of sessions whose diff can be had; absent: any pair
	Start    [2]int   `json:"start,omitzero"`  // the pair that the page opens with, when Diff is set
	Diff     bool     `json:"diff,omitzero"`   // open with the diff of Start
	Passed   int      `json:"passed,omitzero"` // files that were passed over, for they are no history
	Unread   int      `json:"unread,omitzero"` // files that could not be read
}

// Listed is one session in the list.
type Listed struct {
	Name     string `json:"name"`
	Format   string `json:"format"`
	Agents   int    `json:"agents"`
	Turns    int    `json:"turns"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
}

// Session is everything of a session but its messages.
type Session struct {
	Name     string    `json:"name"`
	Format   string    `json:"format"`
	Began    string    `json:"began,omitzero"` // RFC 3339
	Timed    bool      `json:"timed"`          // places are milliseconds; else steps of an order
	Length   int       `json:"length"`         // the end of the last turn
	Calls    int       `json:"calls"`
	Agents   []Agent   `json:"agents"` // in tree order, parents before children
	Findings []Finding `json:"findings,omitzero"`
	Notes    []string  `json:"notes,omitzero"` // what could not be read or has no place here
}

// Agent is one agent.
type Agent struct {
	Path      string `json:"path"`
	Label     string `json:"label"`
	Model     string `json:"model,omitzero"`
	Stop      string `json:"stop,omitzero"`
	Parent    int    `json:"parent"` // its place in Session.Agents; -1 for a root
	Depth     int    `json:"depth"`
	From      int    `json:"from"` // the row of the parent's call that started it; -1 when none is seen
	Turns     int    `json:"turns"`
	Calls     int    `json:"calls"`
	Input     int    `json:"input"`              // tokens that were sent, over all turns
	Output    int    `json:"output"`             // tokens that were written
	Peak      int    `json:"peak"`               // tokens of its largest request
	Estimated bool   `json:"estimated,omitzero"` // some sizes are estimated
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Marks     Marks  `json:"marks"`
	Rows      int    `json:"rows"`
	Pages     []int  `json:"pages"` // the first row of each page
}

// Marks are the turns of an agent, each a column's element. Of a long session
// neighbours are drawn together: then a mark is several turns, beginning with
// the one that it names.
type Marks struct {
	Turn    []int `json:"turn"`
	Start   []int `json:"start"`
	End     []int `json:"end"`
	Context []int `json:"context"` // tokens of the largest request
	Row     []int `json:"row"`
}

// Finding is a broken rule, and the row at which it shows.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Agent    int    `json:"agent"` // its place in Session.Agents; -1: the whole session
	Turn     int    `json:"turn,omitzero"`
	Row      int    `json:"row"`
	Message  string `json:"message"`
	Remedy   string `json:"remedy,omitzero"`
}

// The kinds of rows.
const (
	kindSystem    = "system"
	kindUser      = "user"
	kindAssistant = "assistant" // an answer; it begins a turn
	kindCall      = "call"      // a call of the answer above, with its result
	kindTool      = "tool"      // a result that stands by itself
	kindNote      = "note"      // words of ours
)

// Row is one thing that an agent was told, said, called or got back.
type Row struct {
	Kind    string `json:"kind"`
	Turn    int    `json:"turn"` // in which it was first sent, or said
	Text    Text   `json:"text,omitzero"`
	Name    string `json:"name,omitzero"`     // of a call's tool
	Args    Text   `json:"args,omitzero"`     // of a call
	BadArgs bool   `json:"badArgs,omitzero"`  // the arguments are no JSON
	Verdict string `json:"verdict,omitzero"`  // of a call that was not simply allowed
	NoText  bool   `json:"noResult,omitzero"` // of a call: no result is there
	Child   int    `json:"child,omitzero"`    // of a call: 1 + the place of the agent that it started
	Context int    `json:"context,omitzero"`  // of an answer: tokens of its request
	Guess   bool   `json:"guess,omitzero"`    // Context is estimated
	Output  int    `json:"output,omitzero"`   // of an answer: tokens that were written
	Took    int    `json:"took,omitzero"`     // of an answer: milliseconds
	Finish  string `json:"finish,omitzero"`   // of an answer that did not end as usual
}

// Text is a text, or the beginning of a long one.
type Text struct {
	Head  string `json:"head,omitzero"`
	Size  int    `json:"size,omitzero"`  // bytes of the whole; 0 when Head is all
	Block string `json:"block,omitzero"` // where the whole is
}
