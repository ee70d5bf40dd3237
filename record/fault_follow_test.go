package record

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// What a client says after an answer that a fault changed cannot be what it said
// in the recording: that is a note. What other agents say is judged as ever.
func TestWhatFollowsFromAFault(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	server := serve(t, s.file, withFaults(t, "root/1.1#1 cut 150"))
	for i, e := range s.file.Exchanges {
		changes := []string{}
		if i == 3 {
			changes = []string{"The apples are ripe and red this year.", "The child gave no answer."}
		}
		server.send(t, bodyFrom(e, changes...))
	}
	report := server.end(t)
	assert.DeepEqual(t, findings(report.Report), []string(nil))
	assert.DeepEqual(t, report.Notes, []string{
		"fault root/1.1#1 cut 150: applied; the agent stopped",
		`after the fault 1 request differs from the recorded one: root turn 2: /messages/3/content: recorded "The apples are ripe and red this year.", sent "The child gave no answer."`,
	})
}

// Neither a fault that changes no answer nor one whose answer came whole in the
// end excuses anything.
func TestWhatDoesNotFollowFromAFault(t *testing.T) {
	for _, c := range []struct {
		fault string
		again bool
	}{{"root/1.1#1 delay 1ms", false}, {"root/1.1#1 cut 150", true}} {
		s := delegation(t, runtime.WireChat, apples, pears)
		server := serve(t, s.file, withFaults(t, c.fault))
		x := s.file.Exchanges
		server.send(t, bodyFrom(x[0]))
		server.send(t, bodyFrom(x[1]))
		if c.again {
			server.send(t, bodyFrom(x[1]))
		}
		server.send(t, bodyFrom(x[2]))
		server.send(t, bodyFrom(x[3], "ripe", "rotten"))
		assert.Equal(t, server.end(t).Findings[0].Code, codeHistory, c.fault)
	}
}
