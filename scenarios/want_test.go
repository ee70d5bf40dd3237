package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

func TestTheAnswerIsJudgedAsTextPatternOrJSON(t *testing.T) {
	for _, c := range []struct{ rule, want, got, message string }{
		{"the exact text", "Done.", "Done.", ""},
		{"another text", "Done.", "Done", `expected "Done.", got "Done"`},
		{"a final newline counts", "Done.", "Done.\n", `expected "Done.", got "Done.\n"`},
		{"a pattern that matches", "/^do+ne/", "dooone it is", ""},
		{"a pattern that does not", "/^do+ne/", "Done", `expected a match of /^do+ne/, got "Done"`},
		{"a text that is a pattern's own", "/a+/", "/a+/", ""},
		{"JSON with more members", `{"a":1,"b":[{"c":"x"}]}`, `{"b":[{"c":"x","d":null}],"a":1.0,"e":2}`, ""},
		{"JSON with any value", `{"a":"_"}`, `{"a":{"b":[]}}`, ""},
		{"JSON with a pattern", `["/^x/","/^4.$/"]`, `["xyz",42]`, ""},
		{"JSON with another value", `{"a":1}`, `{"a":2}`, `expected JSON with "{\"a\":1}", got "{\"a\":2}"`},
		{"JSON without a member", `{"a":"_"}`, `{"b":1}`, `expected JSON with "{\"a\":\"_\"}", got "{\"b\":1}"`},
		{"JSON lists have one length", `[1]`, `[1,2]`, `expected JSON with "[1]", got "[1,2]"`},
		{"JSON of another kind", `{"a":"/1/"}`, `{"a":["1"]}`, `expected JSON with "{\"a\":\"/1/\"}", got "{\"a\":[\"1\"]}"`},
		{"no JSON at all", `{"a":1}`, "a is 1", `expected JSON with "{\"a\":1}", got "a is 1"`},
		{"numbers too large for a float are compared as written", `[9007199254740993]`, `[9007199254740992]`, `expected JSON with "[9007199254740993]", got "[9007199254740992]"`},
		{"a JSON number is a text", "42", "42.0", `expected "42", got "42.0"`},
		{"a place holder stands for a path", "in {{workspace}}/a", "in /tmp/w/a", ""},
		{"a long text is shortened at a letter", "x", strings.Repeat("é", 100), `expected "x", got "` + strings.Repeat("é", 40) + `"... (200 bytes)`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := &Scenario{Want: Want{Answer: &c.want}}
			fold := func(text string) string { return strings.ReplaceAll(text, "/tmp/w", "{{workspace}}") }
			var want []record.Finding
			if c.message != "" {
				want = []record.Finding{{Code: "want/answer", Agent: "root", Message: c.message}}
			}
			if diff := cmp.Diff(want, JudgeWant(s, play(runtime.Root, "Hello").says(c.got).run, &Folders{}, fold, nil)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestARunWithoutAnswerHasNotTheWantedOne(t *testing.T) {
	run := play(runtime.Root, "Hello").stops(runtime.StopTurnLimit).run
	got := JudgeWant(&Scenario{Want: Want{Answer: ptr("")}}, run, &Folders{}, nil, nil)
	assert.DeepEqual(t, got, []record.Finding{{Code: "want/answer", Agent: "root", Message: `expected "", got no answer (turn_limit)`}})
}

// someCalls is a run with calls of a parent and a child.
func someCalls() *runtime.Run {
	child := play("root/2.1", "help").
		asks("", call("read_file", `{"path":"a","limit":10}`, ""), call("read_file", `{"path":"b"}`, "")).
		says("ok")
	return play(runtime.Root, "Hello").
		asks("", call("glob", "", ""), call("shell", `{"command":"ls -l"}`, "")).
		asks("", delegate("help", "ok", child)).
		says("ok").run
}

func TestCallsAreJudgedForEachAgent(t *testing.T) {
	at := func(agent runtime.Path, turn int, message string) record.Finding {
		return record.Finding{Code: "want/calls", Agent: agent, Turn: turn, Message: message}
	}
	for _, c := range []struct {
		rule, want string
		findings   []record.Finding
	}{
		{"strict, and all there", "root glob\nroot shell {\"command\":\"ls -l\"}\nroot/2.1 read_file _\nroot task\nroot/2.1 read_file /\"b\"/\n", nil},
		{"strict, in another order", "root shell\nroot glob\nroot task\nroot/2.1 read_file\nroot/2.1 read_file\n",
			[]record.Finding{at("root", 1, `call 1: expected shell (line 4), got glob`)}},
		{"strict, one too few", "root glob\nroot shell\nroot task\nroot/2.1 read_file\n",
			[]record.Finding{at("root/2.1", 1, `expected no further call, got read_file {"path":"b"}`)}},
		{"strict, one too many", "root glob\nroot shell\nroot task\nroot glob {}\nroot/2.1 read_file\nroot/2.1 read_file\n",
			[]record.Finding{at("root", 0, `expected glob {} (line 7), got no such call`)}},
		{"strict, an agent that did not run", "root glob\nroot shell\nroot task\nroot/2.1 read_file\nroot/2.1 read_file\nroot/3.1 glob\n",
			[]record.Finding{at("root/3.1", 0, `expected glob (line 9), got no such call`)}},
		{"strict, and arguments may not be more", "root glob\nroot shell\nroot task\nroot/2.1 read_file {\"path\":\"a\"}\nroot/2.1 read_file\n",
			[]record.Finding{at("root/2.1", 1, `call 1: expected read_file {"path":"a"} (line 7), got read_file {"path":"a","limit":10}`)}},
		{"no arguments are not {}", "mode: superset\nroot glob {}\n", []record.Finding{at("root", 0, `expected glob {} (line 5), got no such call`)}},
		{"arguments in another order, with patterns", "mode: superset\nroot/2.1 read_file {\"limit\":\"_\",\"path\":\"/^a$/\"}\n", nil},
		{"no call is wanted", "", []record.Finding{
			at("root", 1, `expected no further call, got glob`), at("root/2.1", 1, `expected no further call, got read_file {"path":"a","limit":10}`)}},
		{"unordered, and all there", "mode: unordered\nroot task\nroot shell\nroot glob\nroot/2.1 read_file\nroot/2.1 read_file {\"path\":\"b\"}\n", nil},
		{"unordered, a line that fits both leaves the other its call", "mode: unordered\nroot task\nroot shell\nroot glob\nroot/2.1 read_file\nroot/2.1 read_file {\"path\":\"a\",\"limit\":10}\n", nil},
		{"unordered, one other", "mode: unordered\nroot task\nroot shell\nroot glob\nroot/2.1 read_file\nroot/2.1 read_file {\"path\":\"c\"}\n", []record.Finding{
			at("root/2.1", 0, `expected read_file {"path":"c"} (line 9), got no such call`), at("root/2.1", 1, `expected no further call, got read_file {"path":"b"}`)}},
		{"subset, some not made", "mode: subset\nroot task\nroot task\nroot shell\nroot glob\nroot/2.1 read_file\nroot/2.1 read_file\n", nil},
		{"subset, one not wanted", "mode: subset\nroot task\nroot shell\nroot/2.1 read_file\nroot/2.1 read_file\n",
			[]record.Finding{at("root", 1, `expected no further call, got glob`)}},
		{"superset, more made", "mode: superset\nroot shell\n", nil},
		{"superset, each line is a call of its own", "mode: superset\nroot shell\nroot shell\n",
			[]record.Finding{at("root", 0, `expected shell (line 6), got no such call`)}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s, err := Parse("x.txtar", []byte("-- prompt --\nHello\n-- want/calls --\n"+c.want), nil)
			assert.NilError(t, err)
			if diff := cmp.Diff(c.findings, JudgeWant(s, someCalls(), &Folders{}, nil, nil)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestFilesAreJudgedAsTheRunLeftThem(t *testing.T) {
	needsUnix(t)
	f := prepared(t, &Scenario{
		Files:   []File{{"a", []byte("one\ntwo\n")}, {"d/b", []byte("x\r\n")}},
		FIFOs:   []string{"pipe"},
		Links:   []Link{{"in", "a"}, {"out", "{{outside}}/s"}, {"dangling", "nowhere"}},
		Outside: []File{{"s", []byte("secret")}},
	}, nil)
	files := func(path, data string) Want { return Want{Files: []File{{path, []byte(data)}}} }
	absent := func(path string) Want { return Want{Absent: []string{path}} }
	for _, c := range []struct {
		rule    string
		want    Want
		code    string
		message string
	}{
		{"the same bytes", files("a", "one\ntwo\n"), "", ""},
		{"the same bytes through a link inside", files("in", "one\ntwo\n"), "", ""},
		{"another line", files("a", "one\ntoo\n"), "want/files", `a: line 2: expected "too\n", got "two\n"`},
		{"a line more", files("a", "one\n"), "want/files", `a: line 2: expected the end, got "two\n"`},
		{"a line less", files("a", "one\ntwo\nthree"), "want/files", `a: line 3: expected "three", got the end`},
		{"another line end (case 6.13)", files("d/b", "x\n"), "want/files", `d/b: line 1: expected "x\n", got "x\r\n"`},
		{"no such file", files("c", "x"), "want/files", "c: expected 1 byte, got no file"},
		{"no such folder", files("a/c", ""), "want/files", "a/c: expected 0 bytes, got no file"},
		{"a folder", files("d", "xy"), "want/files", "d: expected 2 bytes, got a folder"},
		{"a fifo, which is not opened (case 5.07)", files("pipe", "xy"), "want/files", "pipe: expected 2 bytes, got a fifo"},
		{"a file outside, through a link", files("out", "secret"), "want/files", "out: expected 6 bytes, got a path that leaves the workspace or cannot be read"},
		{"nothing there", absent("x/y"), "", ""},
		{"nothing below a file", absent("a/b"), "", ""},
		{"a file that must not be", absent("d/b"), "want/absent", "d/b: expected nothing there, got a file"},
		{"a link that must not be, though it dangles", absent("dangling"), "want/absent", "dangling: expected nothing there, got a link"},
		{"a path outside, through a link", absent("out/x"), "want/absent", "out/x: expected nothing there, got something that cannot be looked at"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var want []record.Finding
			if c.code != "" {
				want = []record.Finding{{Code: c.code, Message: c.message}}
			}
			if diff := cmp.Diff(want, JudgeWant(&Scenario{Want: c.want}, someCalls(), f, nil, nil)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
	assert.NilError(t, os.RemoveAll(filepath.Join(f.Root, "workspace")))
	got := JudgeWant(&Scenario{Want: absent("a")}, someCalls(), f, nil, nil)
	assert.DeepEqual(t, got, []record.Finding{{Code: "want/files", Message: "the workspace is gone"}})
}

func TestABudgetHoldsForTheWholeTree(t *testing.T) {
	run := someCalls() // 3 turns and 3 calls of the parent, 2 and 2 of the child
	run.Tree = runtime.Usage{Input: 90, Output: 10}
	judge := func(b Budget) []record.Finding {
		return JudgeWant(&Scenario{Want: Want{Budget: &b}}, run, &Folders{}, nil, nil)
	}
	assert.Equal(t, len(judge(Budget{Turns: 5, Calls: 5, Tokens: 100})), 0)
	assert.Equal(t, len(judge(Budget{})), 0)
	assert.DeepEqual(t, judge(Budget{Turns: 4, Calls: 4, Tokens: 99}), []record.Finding{
		{Code: "want/budget", Message: "turns: expected at most 4, got 5"},
		{Code: "want/budget", Message: "calls: expected at most 4, got 5"},
		{Code: "want/budget", Message: "tokens: expected at most 99, got 100"},
	})
}

func TestABudgetOfMoneyNeedsAPriceForEveryModel(t *testing.T) {
	table, err := prices.Parse("own.json", []byte(`{"as_of":"2025-01-01","currency":"USD","models":[{"model":"large","input":2,"output":8},{"model":"free","input":0,"output":0}]}`))
	assert.NilError(t, err)
	run := someCalls()
	child := run.Children()[0]
	run.Model, run.Usage = "large", runtime.Usage{Input: 100_000, Output: 10_000} // $0.28
	child.Usage = runtime.Usage{Input: 5}
	judge := func(model string, cost prices.Amount) []record.Finding {
		child.Model = model
		return JudgeWant(&Scenario{Want: Want{Budget: &Budget{Cost: cost}}}, run, &Folders{}, nil, table)
	}
	cents := func(n int) prices.Amount { return prices.Amount(n) * 10_000_000_000 }
	assert.DeepEqual(t, judge("free", cents(28)), []record.Finding(nil))
	assert.DeepEqual(t, judge("free", cents(27)), []record.Finding{{Code: "want/budget", Message: "cost: expected at most $0.270000, got $0.280000"}})
	assert.DeepEqual(t, judge("unlisted", cents(28)), []record.Finding{{Code: "want/budget", Message: "cost: expected at most $0.280000, but no price is known for the model unlisted: name a table that has it with --prices FILE"}})
}
