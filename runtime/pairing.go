package runtime

import "fmt"

// checkPairing holds the history against what every provider demands: each call
// has its one result directly after its message, in call order, and there is no
// result without a call. It looks at what is new since the last request. What is
// wrong is a fault of ours.
func (l *loop) checkPairing(turn int) error {
	messages := l.history.View().Messages()
	if wrong := unpaired(messages, l.checked); wrong != "" {
		return fmt.Errorf("check the messages of %s turn %d: %s", l.path(), turn, wrong)
	}
	l.checked = len(messages)
	return nil
}

// unpaired says what is wrong with the pairing in messages from the given index
// on, before which every call has its result.
func unpaired(messages []Message, from int) string {
	var open []Call // not yet answered
	for i := from; i < len(messages); i++ {
		m := &messages[i]
		switch {
		case m.Role == RoleTool && len(open) == 0:
			return fmt.Sprintf("message %d is the result of %q, which is no open call", i+1, m.CallID)
		case m.Role == RoleTool && open[0].ID != m.CallID:
			return fmt.Sprintf("message %d is the result of %q, but that of %q comes first", i+1, m.CallID, open[0].ID)
		case m.Role == RoleTool:
			open = open[1:]
		case len(open) > 0:
			return fmt.Sprintf("message %d comes before the result of call %q", i+1, open[0].ID)
		default:
			open = m.Calls
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("call %q has no result", open[0].ID)
	}
	return ""
}
