package scenarios

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
)

// leaky is a session of two children at once, the first of which has read
// secretText; what the second and the parent are sent, the arguments say.
func leaky(t *testing.T, firstReport, secondBrief, parentSees string, second func(*talker)) *transcripts.History {
	b, root := stranger(t)
	root.both([3]string{"p1", "Task", taskArguments(goodBrief)}, [3]string{"p2", "Task", taskArguments("List the tests of src/parse_test.go and say which are slow.")})
	first := root.child("p1").told(goodBrief)
	works(first)
	first.did("k3", "Bash", `{"command":"cat ledger"}`, "head\n"+secretText+"tail\n").said(firstReport)
	other := root.child("p2").told(secondBrief)
	works(other)
	if second != nil {
		second(other)
	}
	other.said("TestParse is slow, see src/parse_test.go:7.")
	root.got("p1", parentSees).got("p2", "TestParse is slow, see src/parse_test.go:7.").said("The callers are known.")
	return b.History()
}

func TestCanaries(t *testing.T) {
	brief := "List the tests of src/parse_test.go and say which are slow."
	leaked := brief + "\nNotes so far: " + secretText
	siblings := one("isolation/siblings", "root/1.2", 1,
		`message 1 (user) has 105 bytes of root/1.1 that nobody reported: `+short(strings.TrimSpace(secretText)))
	for _, c := range []struct {
		name string
		play *transcripts.History
		want []record.Finding
	}{
		{"nothing leaks", leaky(t, goodReport, brief, goodReport, nil), nil},
		{"a sibling is sent what another read", leaky(t, goodReport, leaked, goodReport, nil), siblings},
		{"the sibling reads it itself", leaky(t, goodReport, leaked, goodReport, func(p *talker) {
			p.did("k9", "Bash", `{"command":"cat ledger"}`, secretText)
		}), nil},
		{"it was reported", leaky(t, goodReport+"\n"+secretText, leaked, goodReport+"\n"+secretText, nil), nil},
		{"a reminder of the harness", leaky(t, goodReport, brief+"\n<system-reminder>"+secretText+"</system-reminder>", goodReport, nil), nil},
		{"the parent sees it in a report", leaky(t, goodReport, brief, goodReport+"\nLog: "+secretText, nil),
			one("isolation/parent-sees-child", "root", 2, `message 3 (tool) has 105 bytes of root/1.1 that nobody reported: `+short(strings.TrimSpace(secretText)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := CheckHistory(c.play, CheckOptions{})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// What the parent had before it started the child, and what the child could not
// yet have said.
func TestCanariesGoForwardInTime(t *testing.T) {
	b, root := stranger(t)
	root.did("c1", "Bash", `{"command":"cat ledger"}`, secretText).asked("p1", "Task", taskArguments(goodBrief))
	child := root.child("p1").told("Context:\n" + secretText + goodBrief)
	works(child)
	child.said(goodReport)
	root.got("p1", goodReport).said("The callers are known.")
	want := one("isolation/child-sees-parent", "root/2.1", 1, `message 1 (user) has 105 bytes of root that nobody reported: `+short(strings.TrimSpace(secretText)))
	if diff := cmp.Diff(want, CheckHistory(b.History(), CheckOptions{})); diff != "" {
		t.Fatal(diff)
	}
	b, root = stranger(t)
	root.told("The ledger says:\n"+secretText).asked("p1", "Task", taskArguments(goodBrief))
	child = root.child("p1").told(goodBrief)
	works(child)
	child.did("k3", "Bash", `{"command":"cat ledger"}`, secretText).said(goodReport)
	root.got("p1", goodReport).said("The callers are known.")
	assert.Equal(t, len(CheckHistory(b.History(), CheckOptions{})), 0)
}

// TestShinglesFindEveryCommonPiece holds the index against a plain search.
func TestShinglesFindEveryCommonPiece(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(random.IntN(26))
		}
		return string(b)
	}
	for range 200 {
		const least = 80
		piece := text(least + random.IntN(100))
		indexed := text(random.IntN(300)) + piece + text(random.IntN(300))
		searched := text(random.IntN(300)) + piece + text(random.IntN(300))
		index := newShingles([]incomingText{{text: text(500)}, {text: indexed}}, least)
		found := false
		index.search(searched, func(h hit) {
			assert.Equal(t, searched[h.start:h.start+len(h.words)], h.words)
			found = found || h.text == 1 && strings.Contains(h.words, piece)
		})
		assert.Assert(t, found)
		index.search(text(1000), func(h hit) { t.Fatalf("found %q by chance", h.words) })
	}
	newShingles(nil, 80).search(text(100), func(hit) { t.Fatal("found in nothing") })
}
