package transcripts

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

func TestEncodeWritesTheWholeFile(t *testing.T) {
	golden.AssertBytes(t, sampleSession("tapetree v0").Encode(), "sample.jsonl")
	golden.AssertBytes(t, sampleSession(Authored).Encode(), "authored.jsonl")
}

func TestEncodeOfParseChangesNothing(t *testing.T) {
	for _, by := range []string{"tapetree v0", Authored} {
		first := sampleSession(by).Encode()
		second := mustParse(first).Encode()
		assert.Equal(t, string(second), string(first))
	}
}

func TestParseGivesBackEveryRequestAndResponse(t *testing.T) {
	want := sampleSession("tapetree v0")
	got := mustParse(want.Encode())
	bodies := func(f *File) map[string]string {
		all := map[string]string{}
		for _, x := range f.Exchanges {
			name := fmt.Sprintf("%s try %d", place(x.Agent, x.Turn), x.Try)
			all[name+" request"] = string(x.Body())
			all[name+" response"] = fmt.Sprintf("%+v", *x.Reply())
		}
		return all
	}
	wantBodies := bodies(want)
	for name, body := range wantBodies { // the numbers of secrets change
		wantBodies[name] = string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(body),
			[]byte("env:7"), []byte("env:1")), []byte("env:6"), []byte("env:2")))
	}
	assert.DeepEqual(t, bodies(got), wantBodies)
}

// case 6.05: the order of arrival does not show.
func TestSameSessionGivesSameBytesInWhateverOrderItArrived(t *testing.T) {
	want := string(sampleSession("tapetree v0").Encode())
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f := sampleSession("tapetree v0")
		random.Shuffle(len(f.Exchanges), func(i, j int) { f.Exchanges[i], f.Exchanges[j] = f.Exchanges[j], f.Exchanges[i] })
		random.Shuffle(len(f.Calls), func(i, j int) { f.Calls[i], f.Calls[j] = f.Calls[j], f.Calls[i] })
		random.Shuffle(len(f.End.Stops), func(i, j int) { f.End.Stops[i], f.End.Stops[j] = f.End.Stops[j], f.End.Stops[i] })
		if diff := cmp.Diff(want, string(f.Encode())); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestOneAgentKeepsOneLineage(t *testing.T) {
	f := mustParse(sampleSession("tapetree v0").Encode())
	last := map[runtime.Path]*Exchange{}
	var broken []string
	for _, x := range f.Exchanges {
		if y := last[x.Agent]; y != nil && !x.Messages.Extends(y.Messages) {
			broken = append(broken, place(x.Agent, x.Turn))
		}
		last[x.Agent] = x
	}
	assert.DeepEqual(t, broken, []string{"root#3"}) // the compaction
}
