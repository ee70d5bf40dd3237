package attribution

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// converse holds a conversation of n turns with one call each.
func converse(s *Scope, n int, prompt, text string) []*Exchange {
	messages := list(system(prompt), user("Do the work, please."))
	var all []*Exchange
	var base *Log
	known := 0
	for i := range n {
		x := s.Begin(&Request{Messages: messages, Base: base, Known: known, Tools: "t", Body: fmt.Sprint(i)})
		base, known = x.Log, len(messages)
		answer := calls(fmt.Sprintf(`call_%06d read_file {"path":"file%d.txt"}`, i, i))
		x.Call(1, answer.Calls[0])
		x.Done(answer, "")
		messages = append(messages, answer, result(answer.Calls[0].ID, text))
		all = append(all, x)
	}
	return all
}

func TestEachMessageIsReadOnce(t *testing.T) {
	s := New(Options{})
	all := converse(s, 500, "You are an agent.", "some text")
	assert.Equal(t, s.normalised, 2*500)
	assert.DeepEqual(t, s.Place(all[499]), Place{Label: Label{Path: "root"}, Turn: 500, Try: 1})
	assert.Equal(t, len(s.threads), 1)
}

func TestWhatIsKnownMakesNoDifference(t *testing.T) {
	messages := list(system("S"), user("one"), said("two"), user("three"), said("four"), system("T"), said("five"), result("x", "six"))
	whole, _ := read(&Request{Messages: messages})
	for known := range len(messages) + 3 {
		for base := range len(messages) + 1 {
			before, _ := read(&Request{Messages: messages[:base]})
			resumed, n := read(&Request{Messages: messages, Base: &Log{tail: before}, Known: known})
			assert.Equal(t, n, len(messages)-min(known, base))
			assert.Equal(t, resumed.value, whole.value)
			assert.Equal(t, resumed.setup, whole.setup)
			assert.Equal(t, resumed.head, whole.head)
			assert.Equal(t, resumed.n, whole.n)
		}
	}
}

func TestScopeIsSafeForConcurrentUse(t *testing.T) {
	s := New(Options{})
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			x := s.Begin(&Request{Messages: list(user(fmt.Sprintf("Work number %d.", i))), Body: fmt.Sprint(i)})
			x.Call(1, calls(task(fmt.Sprintf("call_%d0", i), readBrief)).Calls[0])
			s.Begin(&Request{Messages: child(readBrief), Body: "child"}).Failed()
			x.Done(calls(task(fmt.Sprintf("call_%d0", i), readBrief)), "")
			s.Place(x)
			s.Threads()
		})
	}
	running.Wait()
	assert.Equal(t, len(s.Threads()) >= 8, true)
}

func BenchmarkConversation(b *testing.B) {
	prompt := strings.Repeat("You are an agent that works. ", 78<<10/29)
	text := strings.Repeat("some text of a file ", 2<<10/20)
	for _, turns := range []int{100, 500} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			for b.Loop() {
				converse(New(Options{}), turns, prompt, text)
			}
		})
	}
}

// BenchmarkOpenings measures many small conversations in one scope.
func BenchmarkOpenings(b *testing.B) {
	for b.Loop() {
		s := New(Options{})
		for range 5000 {
			s.Begin(&Request{Messages: list(system("S"), user("Say hello to all.")), Body: "x"}).Done(said("Hello, all of you, wherever you are in the world."), "")
		}
		s.Threads()
	}
}

// FuzzScope tells a scope small conversations in any order: nothing panics, and
// names keep to their rules.
func FuzzScope(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, []byte{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 0, 1, 0, 0, 2, 2, 1, 1, 0, 3, 1, 0})
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		if len(steps) > 200 {
			steps = steps[:200]
		}
		r := rand.New(rand.NewPCG(seed, 1))
		s := New(Options{IgnoreSessionHeaders: seed%2 == 0})
		var all []*Exchange
		var sent [][]runtime.Message
		for _, step := range steps {
			if step%4 == 0 || len(all) == 0 {
				q := randomRequest(r, sent)
				sent = append(sent, q.Messages)
				all = append(all, s.Begin(q))
				continue
			}
			i := r.IntN(len(all))
			switch answer := randomAnswer(r); step % 4 {
			case 1:
				all[i].Call(1+r.IntN(2), calls(randomCall(r)).Calls[0])
			case 2:
				all[i].Done(answer, pick(r, "", "", "resp_1", "resp_2"))
				sent = append(sent, append(sent[i][:len(sent[i]):len(sent[i])], answer, result("call_000001", pick(r, texts...))))
			case 3:
				all[i].Failed()
			}
			s.Place(all[i])
		}
		checkNames(t, s, all)
	})
}

var texts = []string{"", "go", readBrief, countBrief, "It says hello to everyone. R1", "It says hello to everyone. R10", "Generate a title for this conversation: go", "Summarize the conversation: " + readBrief + " go on with it"}

func pick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }

func randomCall(r *rand.Rand) string {
	return task(fmt.Sprintf("call_%06d", r.IntN(5)), pick(r, texts...))
}

func randomAnswer(r *rand.Rand) runtime.Message {
	switch r.IntN(3) {
	case 0:
		return said(pick(r, texts...))
	case 1:
		return calls(randomCall(r))
	default:
		return calls(randomCall(r), randomCall(r))
	}
}

// randomRequest is a new conversation or one that goes on from what was sent.
func randomRequest(r *rand.Rand, sent [][]runtime.Message) *Request {
	q := &Request{Tools: pick(r, "", "t", "u"), Header: map[string][]string{}}
	if len(sent) > 0 && r.IntN(3) > 0 {
		q.Messages = sent[r.IntN(len(sent))]
	}
	for range r.IntN(3) {
		q.Messages = append(q.Messages[:len(q.Messages):len(q.Messages)], []runtime.Message{
			system(pick(r, texts...)), user(pick(r, texts...)), randomAnswer(r), result("call_000002", pick(r, texts...)),
		}[r.IntN(4)])
	}
	q.Body = bodyOf(q)
	session(pick(r, "", "ses_one", "ses_two"), pick(r, "", "", "ses_one", "ses_none"))(q)
	retry(pick(r, "", "", "0", "1"))(q)
	q.Agent = runtime.Path(pick(r, "", "", "", "", "", "", "root", "root/1.1", "root/1.2~side.1"))
	q.Previous = pick(r, "", "", "", "resp_1", "resp_2")
	return q
}
