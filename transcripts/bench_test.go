package transcripts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
)

// longSession is a parent and ten children of 30 turns each, with a distinct
// result of 4 KB in every turn: 330 exchanges.
func longSession(children, turns int) *File {
	s := newSession("long", "tapetree v0")
	talk := func(path runtime.Path) {
		a := s.agent(path, "You are "+string(path)+".\n"+strings.Repeat("Follow the rules. ", 100), "Do it.")
		for turn := 1; turn < turns; turn++ {
			call := fmt.Sprintf(`read_file {"path":"%s/%d.txt"}`, path, turn)
			a.asks(call)
			a.gets(1, call, strings.Repeat(fmt.Sprintf("%s line of turn %d\n", path, turn), 300)[:4096], "")
		}
		a.answers(`{"role":"assistant","content":"Done."}`)
	}
	talk("root")
	for i := range children {
		talk(runtime.Root.Child(i+1, 1))
	}
	s.file.End = &End{}
	return s.file
}

func BenchmarkLoad(b *testing.B) {
	data := longSession(10, 30).Encode()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("long.jsonl", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	f := mustParse(longSession(10, 30).Encode())
	b.ReportAllocs()
	for b.Loop() {
		f.Encode()
	}
}

// BenchmarkLoadTurns shows that a turn's cost does not depend on how many came
// before it.
func BenchmarkLoadTurns(b *testing.B) {
	for _, turns := range []int{10, 100, 1000} {
		data := longSession(0, turns).Encode()
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse("long.jsonl", data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(turns), "ns/turn")
		})
	}
}
