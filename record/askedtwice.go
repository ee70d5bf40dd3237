package record

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// askedTwice names the turns of a recording that asked one request more than
// once, byte for byte, and got an answer each time: the later ones are kept as
// side conversations that are twins of the turn.
func askedTwice(f *transcripts.File) []string {
	times := map[place]int{}
	var turns []place // in the order of the file
	for _, e := range f.Exchanges {
		if e.Flag != transcripts.FlagTwin {
			continue
		}
		agent, _, isSide := strings.Cut(string(e.Agent), "~")
		if isSide {
			if first := sameRequest(f, e, runtime.Path(agent)); first != nil && e.Turn == 1 && e.Try <= 1 {
				times[place{Agent: first.Agent, Turn: first.Turn}]++
			}
			continue
		}
		if at := (place{Agent: e.Agent, Turn: e.Turn}); len(turns) == 0 || turns[len(turns)-1] != at {
			turns = append(turns, at)
		}
	}
	var notes []string
	for _, at := range turns {
		switch n := times[at]; n {
		case 0:
		case 1:
			notes = append(notes, fmt.Sprintf("%s turn %d was asked twice; the requests were answered in order of arrival", at.Agent, at.Turn))
		default:
			notes = append(notes, fmt.Sprintf("%s turn %d was asked %d times; the requests were answered in order of arrival", at.Agent, at.Turn, n+1))
		}
	}
	return notes
}

// sameRequest is the exchange of an agent that asked what e asks; nil: none did.
func sameRequest(f *transcripts.File, e *transcripts.Exchange, agent runtime.Path) *transcripts.Exchange {
	body := string(e.Body())
	for _, other := range f.Exchanges {
		if other.Agent == agent && other.Flag == transcripts.FlagTwin && other.Messages.Len() == e.Messages.Len() && string(other.Body()) == body {
			return other
		}
	}
	return nil
}
