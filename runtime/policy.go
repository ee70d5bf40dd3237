package runtime

import "context"

// Mode is the parent's general permission.
type Mode string

// The modes. Whatever the mode, the workspace boundary is checked first.
const (
	ModeDefault     Mode = "default"      // reads go, the rest asks
	ModeAcceptEdits Mode = "accept-edits" // edits of files inside the workspace go too
	ModeYolo        Mode = "yolo"         // nothing asks
	ModeReadOnly    Mode = "read-only"    // all that would ask is denied
)

// Access is what a call wants to do with a path.
type Access string

// The accesses the boundary knows.
const (
	AccessRead  Access = "Reading"
	AccessWrite Access = "Writing"
)

// Boundary decides whether a path of a call lies inside the workspace. The
// file tools hold to it again when they open the file, through os.Root, so
// what changes between the check and the act gets nowhere.
type Boundary interface {
	// Inside reports whether path, as the model wrote it, stays inside the
	// workspace, links followed.
	Inside(path string) bool
}

// Question is one question to the user.
type Question struct {
	ID        int // unique in the session, counted from 1 in the order asked
	Agent     Path
	Label     string
	Identity  string // who the session acts for
	Turn      int
	Call      int
	Tool      string
	Arguments string // as the model wrote them
}

// Reply is the user's answer.
type Reply struct {
	Allow  bool
	Always bool   // allow this tool for the rest of the session, for all agents
	Reason string // of a denial; "" gives the default one
}

// Approver asks the user. A nil Approver means nobody is there: what would ask
// is denied at once. An error ends the session.
type Approver interface {
	Ask(ctx context.Context, q Question) (Reply, error)
}

// Judgement is the policy's answer on one call.
type Judgement struct {
	Verdict Verdict // allow, deny, ask-allow or ask-deny
	Reason  string  // of a denial: the text of permission_denied
}

// Policy judges calls by tool name, arguments and boundary. One policy object
// serves the parent and all its children.
type Policy interface {
	Judge(ctx context.Context, runner *Runner, place Place, call *CallRecord) (Judgement, error)
}
