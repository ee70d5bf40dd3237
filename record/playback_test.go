package record

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

const (
	apples = "Look at the apples and say how they are."
	pears  = "Look at the pears and say how they are."
)

// A client that asks as it did gets the recorded bytes, whichever child comes
// first.
func TestPlaybackIsExactInAnyOrderOfArrival(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {0, 2, 1, 3}} {
		s := delegation(t, runtime.WireChat, apples, pears)
		server := serve(t, s.file, PlaybackOptions{})
		for _, i := range order {
			e := s.file.Exchanges[i]
			assert.DeepEqual(t, server.send(t, bodyFrom(e)), answered{200, string(e.Response), false})
		}
		report := server.end(t)
		assert.DeepEqual(t, report.Report, exactReport(4))
		assert.DeepEqual(t, outline(report.Session), outline(s.file))
		assert.Equal(t, len(report.Notes), 0, "%v", report.Notes)
	}
}

func TestRedriveIsExact(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	report, err := Redrive(t.Context(), s.file, PlaybackOptions{})
	assert.NilError(t, err)
	assert.DeepEqual(t, report.Report, exactReport(4))
	assert.DeepEqual(t, outline(report.Session), outline(s.file))
}

// Paths are compared as they are recorded, whatever stands for them here.
func TestRedriveIsExactWhereAFolderHasNoName(t *testing.T) {
	s := delegation(t, runtime.WireChat, "Look at the apples in {{home}}/garden.", pears)
	fold := runtime.NewFolder([]string{"/srv/elsewhere"}, nil, nil)
	report, err := Redrive(t.Context(), s.file, PlaybackOptions{ReplayOptions: ReplayOptions{Fold: fold}})
	assert.NilError(t, err)
	assert.DeepEqual(t, report.Report, exactReport(4))
	assert.DeepEqual(t, outline(report.Session), outline(s.file))
}

// A changed system text is a warning and still finds its agent.
func TestPlaybackOfAChangedPrompt(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	server := serve(t, s.file, PlaybackOptions{})
	for _, i := range []int{0, 2, 1, 3} {
		e := s.file.Exchanges[i]
		assert.DeepEqual(t, server.send(t, bodyFrom(e, "Be a child.", "Be a good child.")), answered{200, string(e.Response), false})
	}
	report := server.end(t)
	assert.Equal(t, report.Grade, GradePrompt)
	assert.DeepEqual(t, findings(report.Report), []string{
		`replay/prompt root/1.1#1 /messages/0/content: recorded "Be a child.", sent "Be a good child." (and so in 1 more agent)`,
	})
}

// A changed message is answered and fails.
func TestPlaybackOfAChangedHistory(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	server := serve(t, s.file, PlaybackOptions{})
	for _, e := range s.file.Exchanges {
		assert.DeepEqual(t, server.send(t, bodyFrom(e, "green.", "blue.")), answered{200, string(e.Response), false})
	}
	report := server.end(t)
	assert.DeepEqual(t, findings(report.Report), []string{
		`replay/history root#2 /messages/4/content: recorded "The pears are still hard and green.", sent "The pears are still hard and blue."`,
	})
	assert.DeepEqual(t, report.Details, []string{strings.Join([]string{
		"root turn 2: the messages differ from the recorded ones",
		"  nearest: exchange root#2 (transcripts/tale.jsonl:5)",
		"  /messages/4/content",
		`    recorded: "The pears are still hard and green."`,
		`    sent:     "The pears are still hard and blue."`,
		"  to accept it: tapetree rebase tale",
	}, "\n")})
}

// A request with no exchange left is refused by name; others are still served.
func TestPlaybackMiss(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	server := serve(t, s.file, PlaybackOptions{})
	x := s.file.Exchanges
	server.send(t, bodyFrom(x[0]))
	server.send(t, bodyFrom(x[1]))
	more := strings.TrimSuffix(bodyFrom(x[1]).body, "]}") + `,{"role":"assistant","content":"The apples are ripe and red this year."},` + said("user", "And the plums?") + "]}"
	const told = `{"error":{"message":"tapetree replay: no exchange left for root/1.1 turn 2: the agent asks once more than was recorded; ` +
		`the nearest is exchange root/1.1#1 (transcripts/tale.jsonl:3); to accept it: tapetree record tale","type":"tapetree_replay_miss","param":null,"code":"tapetree_replay_miss"}}` + "\n"
	for range 2 { // a client that tries again hears the same, and it is one finding
		got, header := server.post(t, t.Context(), askedBody{runtime.WireChat, more})
		assert.DeepEqual(t, got, answered{400, told, false})
		assert.Equal(t, header.Get("X-Should-Retry"), "false")
	}
	assert.Equal(t, server.send(t, bodyFrom(x[2])).Status, 200)
	report := server.end(t)
	assert.DeepEqual(t, findings(report.Report), []string{
		"replay/extra root#2 exchange root#2 was never asked for",
		"replay/missing root/1.1#2 no exchange left: the agent asks once more than was recorded",
	})
	assert.DeepEqual(t, report.Details, []string{strings.Join([]string{
		"root/1.1 turn 2: the agent asks once more than was recorded",
		"  nearest: exchange root/1.1#1 (transcripts/tale.jsonl:3)",
		"  /messages/2",
		"    recorded: (nothing)",
		`    sent:     {"role":"assistant","content":"The apples are ripe and red this year."}`,
		"  /messages/3",
		"    recorded: (nothing)",
		`    sent:     {"role":"user","content":"And the plums?"}`,
		"  to accept it: tapetree record tale",
	}, "\n")})
}

// A conversation that nobody recorded is nearest to the one that begins most
// like it.
func TestPlaybackMissOfAnUnknownAgent(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	server := serve(t, s.file, PlaybackOptions{})
	x := s.file.Exchanges
	for _, e := range x {
		server.send(t, bodyFrom(e))
	}
	got := server.send(t, bodyFrom(x[2], pears, "Sing a song about plums."))
	assert.DeepEqual(t, got, answered{400, `{"error":{"message":"tapetree replay: no exchange left for root2 turn 1: no exchange of this agent was recorded; ` +
		`the nearest is exchange root/1.1#1 (transcripts/tale.jsonl:3); to accept it: tapetree record tale","type":"tapetree_replay_miss","param":null,"code":"tapetree_replay_miss"}}` + "\n", false})
	assert.DeepEqual(t, server.end(t).Details, []string{strings.Join([]string{
		"root2 turn 1: no exchange of this agent was recorded",
		"  nearest: exchange root/1.1#1 (transcripts/tale.jsonl:3)",
		"  /messages/1/content",
		`    recorded: "Look at the apples and say how they are."`,
		`    sent:     "Sing a song about plums."`,
		"  to accept it: tapetree record tale",
	}, "\n")})
}

// Twins are served as they come; their parent may show their results the other
// way round, and the session is the recorded one all the same.
func TestPlaybackOfTwins(t *testing.T) {
	const brief = "Look at the fruit and say how it is."
	s := delegation(t, runtime.WireChat, brief, brief)
	notes := []string{"twins: root/1.1, root/1.2 begin with the same request; they were answered in order of arrival"}
	for _, swapped := range []bool{false, true} {
		server := serve(t, s.file, PlaybackOptions{})
		for i, e := range s.file.Exchanges {
			var changes []string
			if swapped && i == 3 {
				changes = []string{`"call_a","content"`, `"call_b","content"`, `"call_b","content"`, `"call_a","content"`}
			}
			body := bodyFrom(e, changes...)
			if swapped && i == 3 { // in call order, as clients do
				a, b := gave("call_b", "The apples are ripe and red this year."), gave("call_a", "The pears are still hard and green.")
				assert.Assert(t, strings.Contains(body.body, a+","+b))
				body.body = strings.Replace(body.body, a+","+b, b+","+a, 1)
			}
			assert.DeepEqual(t, server.send(t, body), answered{200, string(e.Response), false})
		}
		report := server.end(t)
		assert.DeepEqual(t, report.Report, exactReport(4))
		assert.DeepEqual(t, outline(report.Session), outline(s.file))
		assert.DeepEqual(t, report.Notes, notes)
	}
}

// One twin's result shown for both is a difference.
func TestATwinsResultCountsOnce(t *testing.T) {
	const brief = "Look at the fruit and say how it is."
	s := delegation(t, runtime.WireChat, brief, brief)
	server := serve(t, s.file, PlaybackOptions{})
	for _, e := range s.file.Exchanges {
		server.send(t, bodyFrom(e, gave("call_a", "The apples are ripe and red this year."), gave("call_a", "The pears are still hard and green.")))
	}
	assert.DeepEqual(t, findings(server.end(t).Report), []string{
		`replay/history root#2 /messages/3/content: recorded "The apples are ripe and red this year.", sent "The pears are still hard and green."`,
	})
}

// A try that failed is answered as it was, without a wait; the next one is the
// next try.
func TestPlaybackOfARetry(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	failed := *s.file.Exchanges[0]
	failed.Status, failed.Response = 429, []byte(`{"error":{"message":"slow down"}}`)
	failed.Headers = append(failed.Headers[:1:1], headerLine("retry-after", "20"), headerLine("x-ratelimit-remaining-requests", "0"))
	s.file.Exchanges[0].Try = 2
	s.file.Exchanges = append([]*exchangeLine{&failed}, s.file.Exchanges...)
	s.file.End.Exchanges = 2
	server := serve(t, s.file, PlaybackOptions{})
	got, header := server.post(t, t.Context(), bodyFrom(&failed))
	assert.DeepEqual(t, got, answered{429, `{"error":{"message":"slow down"}}`, false})
	assert.DeepEqual(t, header, http.Header{
		"Content-Type": {"application/json"}, "Retry-After": {"0"}, "X-Ratelimit-Remaining-Requests": {"0"},
		"Content-Length": {"33"}, "Date": header["Date"],
	})
	assert.Equal(t, server.send(t, bodyFrom(&failed)).Status, 200)
	report := server.end(t)
	assert.DeepEqual(t, report.Report, exactReport(2))
	assert.DeepEqual(t, outline(report.Session), outline(s.file))
}
