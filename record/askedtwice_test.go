package record

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// twice is a recording in which an agent asks its second request twice; it goes
// on from one of the answers.
func twice(t *testing.T, from int) *transcripts.File {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("", [2]string{"call_a", apples}), said("user", "Ask about the harvest."))
	s.turn(t, "root", talk("", [2]string{"call_b", "nothing"}), gave("call_a", "ripe"))
	side := *s.file.Exchanges[1]
	side.Agent, side.Turn, side.Flag, side.Line = "root~side.1", 1, transcripts.FlagTwin, 4
	side.Candidates = []runtime.Path{"root", "root~side.1"}
	side.Response = []byte(talk("", [2]string{"call_c", "nothing"}))
	s.file.Exchanges[1].Flag, s.file.Exchanges[1].Candidates = side.Flag, side.Candidates
	if from == 1 {
		s.turn(t, "root", talk("Fine."), gave("call_b", "no"))
		s.file.Exchanges = append(s.file.Exchanges[:2:2], &side, s.file.Exchanges[2])
	} else {
		s.lists["root~side.1"] = s.lists["root"]
		s.file.Exchanges = append(s.file.Exchanges, &side)
		s.turn(t, "root~side.1", talk("Fine."), gave("call_c", "no"))
		last := s.file.Exchanges[3]
		last.Flag, last.Candidates = side.Flag, side.Candidates
	}
	s.file.End.Exchanges = 4
	return s.file
}

// A request that was asked twice is answered twice, in order of arrival; the
// client may go on from either answer.
func TestPlaybackOfARequestAskedTwice(t *testing.T) {
	for _, from := range []int{1, 2} {
		f := twice(t, from)
		server := serve(t, f, PlaybackOptions{})
		for _, e := range f.Exchanges {
			assert.DeepEqual(t, server.send(t, bodyFrom(e)), answered{200, string(e.Response), false})
		}
		report := server.end(t)
		assert.DeepEqual(t, report.Report, exactReport(4))
		assert.DeepEqual(t, outline(report.Session), outline(f))
		assert.DeepEqual(t, report.Notes, []string{"root turn 2 was asked twice; the requests were answered in order of arrival"})
		report, err := Redrive(t.Context(), f, PlaybackOptions{})
		assert.NilError(t, err)
		assert.DeepEqual(t, report.Report, exactReport(4))
	}
}
