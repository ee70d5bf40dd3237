package runtime

import (
	"fmt"
	"slices"
)

// repairIDs makes the ids of a message's calls unique among all calls of this
// agent, because a result finds its call by id. The first to use an id keeps
// it; a later one gets ID~2, ID~3 …; an empty one becomes call-TURN.CALL. The
// same answers always give the same ids.
func (l *loop) repairIDs(turn int, message Message) (Message, []string) {
	ids := make([]string, len(message.Calls))
	for i, call := range message.Calls { // first all that may keep theirs
		if call.ID != "" && !l.ids[call.ID] {
			l.ids[call.ID] = true
			ids[i] = call.ID
		}
	}
	changed := false
	for i, call := range message.Calls {
		if ids[i] != "" {
			continue
		}
		if call.ID == "" {
			call.ID = fmt.Sprintf("call-%d.%d", turn, i+1)
		}
		ids[i] = l.freeID(call.ID)
		changed = true
	}
	if changed {
		message = message.WithCallIDs(slices.Clone(ids))
	}
	return message, ids
}

// freeID takes base, or the first suffix of it that is free.
func (l *loop) freeID(base string) string {
	id := base
	for n := 2; l.ids[id]; n++ {
		id = fmt.Sprintf("%s~%d", base, n)
	}
	l.ids[id] = true
	return id
}
