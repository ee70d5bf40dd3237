package runtime

// StopReason says why a runner ended. The list is complete.
type StopReason string

// Every way a run can end.
const (
	StopAnswer        StopReason = "answer"         // a final text
	StopTurnLimit     StopReason = "turn_limit"     // maxTurns answers, none final
	StopTruncated     StopReason = "truncated"      // the final text was cut off
	StopRefused       StopReason = "refused"        // the model or a filter refused
	StopEmpty         StopReason = "empty"          // neither text nor calls
	StopCancelled     StopReason = "cancelled"      // the context ended
	StopUpstreamError StopReason = "upstream_error" // no complete answer after all tries
)

// Verdict says how a call was judged.
type Verdict string

// Every verdict; the class (allowed, denied, or the word itself) is what a
// replay compares.
const (
	VerdictAllow       Verdict = "allow"
	VerdictDeny        Verdict = "deny"
	VerdictAskAllow    Verdict = "ask-allow"
	VerdictAskDeny     Verdict = "ask-deny"
	VerdictBlocked     Verdict = "blocked"     // by a hook
	VerdictInvalid     Verdict = "invalid"     // arguments
	VerdictUnknown     Verdict = "unknown"     // tool
	VerdictCut         Verdict = "cut"         // the answer broke off, nothing ran
	VerdictInterrupted Verdict = "interrupted" // cancelled before the end
)

// Class folds a verdict to what does not depend on who decided: "allowed",
// "denied", or the verdict's own word.
func (v Verdict) Class() string {
	switch v {
	case VerdictAllow, VerdictAskAllow:
		return "allowed"
	case VerdictDeny, VerdictAskDeny:
		return "denied"
	default:
		return string(v)
	}
}

// Run is what one agent did, with its children inside the calls that started
// them: the session tree that goldens render and checks read.
type Run struct {
	Agent   Path
	Label   string // a short title: "root", or the task's description
	Model   string // the model that was asked
	Prompt  string
	Final   string // the final text; "" unless Stop is StopAnswer
	Partial string // what a run without an answer had written last
	Stop    StopReason
	Status  int // the upstream's last status when Stop is StopUpstreamError
	History View
	Turns   []Turn
	Usage   Usage // of this agent alone
	Tree    Usage // of this agent and every agent below it
}

// Turn is one answer of the model and what was done about it.
type Turn struct {
	Number   int
	Reminder string      // the user message put before this turn's request, if any
	Compact  *Compaction // what was done before this turn's request to keep within the budget
	Sent     View        // the messages of the request that was answered
	Failed   []FailedTry
	Answer   *Answer // nil when every try failed or the run was cancelled
	Calls    []CallRecord
}

// Compaction is one replacement of the older part of a history by a summary.
type Compaction struct {
	Side    Path   // the side conversation that was held for it; "" when nothing could be dropped
	Dropped int    // messages that the summary stands for
	Summary string // "" when the side conversation gave none
	Before  int    // estimated tokens of the messages before
	After   int    // likewise afterwards; it can still be over the budget
	Usage   Usage  // of the side conversation; it is in the run's own too
}

// FailedTry is a try that gave no answer.
type FailedTry struct {
	Status int
	Kind   string
}

// CallRecord is one call and its one result.
type CallRecord struct {
	Number    int
	ID        string // as it stands in the history, after our repair of empty and repeated ids
	Name      string
	Arguments string
	Verdict   Verdict
	Result    string
	Child     *Run // the agent this call started, also one that failed
}

// Children returns the runs that r's calls started, in call order.
func (r *Run) Children() []*Run {
	var children []*Run
	for _, turn := range r.Turns {
		for _, call := range turn.Calls {
			if call.Child != nil {
				children = append(children, call.Child)
			}
		}
	}
	return children
}

// Walk visits r and every agent below it, depth first in call order.
func (r *Run) Walk(visit func(*Run)) {
	visit(r)
	for _, child := range r.Children() {
		child.Walk(visit)
	}
}
