package runtime

// EventKind names a moment of a run.
type EventKind string

// The moments that observers see, in the order they can happen in a turn.
const (
	EventRunStart  EventKind = "run-start"  // Text: the prompt
	EventTurnStart EventKind = "turn-start" // before the first try of a turn
	EventTryFailed EventKind = "try-failed" // Err: the *UpstreamError; also of the turn's side conversation
	EventAnswer    EventKind = "answer"     // Answer
	EventCallStart EventKind = "call-start" // Call without verdict and result, before anything is checked
	EventAsk       EventKind = "ask"        // a question goes to the approver; Text: the question
	EventHook      EventKind = "hook"       // hooks have run. Hook: the event that fired; Text: its name; Err: why one blocked or failed
	EventCallEnd   EventKind = "call-end"   // Call, complete
	EventReminder  EventKind = "reminder"   // Text
	EventCompact   EventKind = "compact"    // Compact: done before the turn's request; once for a run also when nothing could be dropped
	EventRunEnd    EventKind = "run-end"    // Run
)

// Event is one moment of one agent. Every event carries agent path, depth and
// label, so that parent and child can be told apart.
type Event struct {
	Kind    EventKind
	Agent   Path
	Label   string
	Turn    int
	Text    string
	Call    *CallRecord
	Hook    *HookEvent
	Answer  *Answer
	Err     error
	Run     *Run
	Compact *Compaction
}

// Observer sees events as they happen, on the goroutine of the agent they
// belong to and before the agent goes on. Agents of one session may run at
// once: an observer locks what it shares.
type Observer func(Event)
