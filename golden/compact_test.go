package golden

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// case 3.03: a compaction is one line, and what came before and after it stands
// there as if nothing had been dropped, also when it is done twice.
func TestACompactionIsOneLine(t *testing.T) {
	read := func(id, path string) runtime.CallRecord {
		return call(id, "read_file", `{"path":"`+path+`"}`, runtime.VerdictAllow, "text of "+path)
	}
	run := tell("root", "root", "go").
		answers("First.", read("a", "a.txt"), read("b", "b.txt")).
		answers("", read("c", "c.txt")).
		compacted(3, "a and b are read").
		answers("", read("d", "d.txt")).
		compacted(3, "").
		answers("", read("e", "e.txt")).
		answers("Done.").stops(runtime.StopAnswer)
	assert.Equal(t, lines(run, Options{}), `
  prompt | go
  root turn 1
    says | First.
    #1 read_file {"path": "a.txt"}
    #1 allowed | text of a.txt
    #2 read_file {"path": "b.txt"}
    #2 allowed | text of b.txt
  root turn 2
    #3 read_file {"path": "c.txt"}
    #3 allowed | text of c.txt
  root turn 3
    compacted 3 messages | a and b are read
    #4 read_file {"path": "d.txt"}
    #4 allowed | text of d.txt
  root turn 4
    compacted 3 messages | ‹empty›
    #5 read_file {"path": "e.txt"}
    #5 allowed | text of e.txt
  root turn 5
    says | Done.
  stop answer
`)
}

// A result that a compaction parted from its call shows: the tail begins with
// it.
func TestACompactionThatPartsACallFromItsResultShows(t *testing.T) {
	read := call("a", "read_file", "{}", runtime.VerdictAllow, "text")
	run := tell("root", "root", "go").
		answers("", read).
		answers("", call("b", "read_file", "{}", runtime.VerdictAllow, "more")).
		compacted(3, "read").
		answers("Done.").stops(runtime.StopAnswer)
	assert.Equal(t, lines(run, Options{}), `
  prompt | go
  root turn 1
    #1 read_file {}
    #1 allowed | text
  root turn 2
    #2 read_file {}
    #2 allowed | more
  root turn 3
    compacted 3 messages | read
    extra message: user
      | [A summary]
      |
      | read
    extra message: tool #2 | more
    says | Done.
  stop answer
`)
}
