package scenarios

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// longFile is text that a file has and nobody would write twice.
var longFile = func() string {
	var text strings.Builder
	for _, word := range []string{"amber", "birch", "cobalt", "dune", "ember", "fjord", "gravel", "harbour", "inlet", "juniper"} {
		text.WriteString("the room called " + word + " has a door to the " + word + " garden and no window\n")
	}
	return text.String()
}()

func delegationCases() []historyCase {
	fine := "The callers are known; src/parse.go can be changed."
	plain := func(brief, report, answer string, work func(*talker)) func(t *testing.T) *transcripts.History {
		return func(t *testing.T) *transcripts.History { return delegates(t, brief, report, answer, work) }
	}
	return []historyCase{
		{"a brief that names nothing", plain("Look into it.", goodReport, fine, works),
			one("delegation/vague-brief", "root", 1, `call 1: the brief names nothing: "Look into it."`)},
		{"a brief that speaks of the conversation", plain("Mend src/parse.go as we discussed, and name each caller of parse().", goodReport, fine, works),
			one("delegation/vague-brief", "root", 1, `call 1: the brief speaks of a conversation that the child does not see: "as we discussed"`)},
		{"a long report", plain(goodBrief, strings.Repeat("word ", 301), fine, works),
			one("delegation/long-report", "root", 1, "call 1: the report has 301 words, 300 are enough")},
		{"a long report in Chinese", plain(goodBrief, strings.Repeat("文", 601), fine, works),
			one("delegation/long-report", "root", 1, "call 1: the report has 601 Chinese, Japanese or Korean characters, 600 are enough")},
		{"a copied report", plain(goodBrief, "Here it is:\n"+longFile, fine, func(child *talker) {
			works(child)
			child.did("k3", "Read", `{"file_path":"rooms.txt"}`, longFile)
		}), one("delegation/verbatim-report", "root", 1, "call 1: 98 percent of the report is copied from the tool results of root/1.1")},
		{"a trivial task", plain(goodBrief, goodReport, fine, func(child *talker) {
			child.did("k1", "Grep", `{"pattern":"parse("}`, "src/main.go:12: parse(text)\n")
		}), one("delegation/trivial-task", "root", 1, "call 1: root/1.1 needed 1 call")},
		{"siblings that write one file", func(t *testing.T) *transcripts.History { return siblingsWrite(t, nil) },
			one("delegation/parallel-writes", "root", 1, "root/1.1 and root/1.2 both write plan.md")},
		{"siblings that write one file one after another", func(t *testing.T) *transcripts.History {
			return siblingsWrite(t, map[runtime.Path]time.Duration{"root/1.1": 0, "root/1.2": time.Minute})
		}, nil},
		{"an edit of a file that only the child has read", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.asked("p1", "Task", taskArguments(goodBrief))
			child := root.child("p1").told(goodBrief)
			works(child)
			child.said(goodReport)
			root.got("p1", goodReport).did("e1", "Edit", `{"file_path":"src/main.go","old_string":"parse","new_string":"read"}`, "edited").said(fine)
			return b.History()
		}, one("delegation/edit-unread", "root", 2, "call 1 (Edit): only root/1.1 has read src/main.go")},
		{"a reader that writes by the shell", plain("Find the callers of parse() in the folder src.", goodReport, fine, func(child *talker) {
			child.did("k1", "Bash", `{"command":"grep -rn parse src 2>/dev/null"}`, "src/main.go:12").did("k2", "Bash", `{"command":"sed -i s/a/b/ src/main.go"}`, "done")
		}), one("delegation/reader-writes", "root/1.1", 2, `call 1 (Bash) writes src/main.go, and the brief only asks to read: "Find the callers of parse() in the folder src."`)},
		{"a failure that nobody speaks of", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("p1", "Task", taskArguments(goodBrief), "Error: the agent came to its limit").said("All callers are in src/main.go.")
			return b.History()
		}, one("delegation/hidden-failure", "root", 1, "call 1: root/1.1 failed, and the answer does not say so")},
		{"a failure that the answer speaks of", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("p1", "Task", taskArguments(goodBrief), "Error: the agent came to its limit").said("The search failed.")
			return b.History()
		}, nil},
		{"a failure that was made good", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("p1", "Task", taskArguments(goodBrief), "Error: the agent came to its limit").did("c1", "Grep", `{}`, "src/main.go:12").said("All callers are in src/main.go.")
			return b.History()
		}, nil},
		{"a report that is silent about a failed call", plain(goodBrief, goodReport, fine, func(child *talker) {
			works(child)
			child.did("k3", "Bash", `{"command":"go test ./src"}`, "Error: 2 tests fail")
		}), one("delegation/hidden-failure", "root/1.1", 3, `call 1 (Bash) failed, and the report does not say so: "Error: 2 tests fail"`)},
	}
}

// siblingsWrite has two children of one turn write one file; began says when
// each ran, for a second.
func siblingsWrite(t *testing.T, began map[runtime.Path]time.Duration) *transcripts.History {
	b, root := stranger(t)
	briefs := [2]string{"Write the first half of plan.md, from the notes in a.txt.", "Write the second half of plan.md, from the notes in b.txt."}
	root.both([3]string{"p1", "Task", taskArguments(briefs[0])}, [3]string{"p2", "Task", taskArguments(briefs[1])})
	for i, id := range []string{"p1", "p2"} {
		child := root.child(id).told(briefs[i])
		child.did("k1", "Read", `{"file_path":"`+string(rune('a'+i))+`.txt"}`, "notes").did("k2", "Write", `{"file_path":"./plan.md","content":"x"}`, "written")
		child.said("It is written to plan.md.")
	}
	root.got("p1", "It is written to plan.md.").got("p2", "It is written to plan.md.").said("plan.md is there.")
	history := b.History()
	for path, at := range began {
		for turn := 1; turn <= 3; turn++ {
			history.Spots[transcripts.TurnKey{Agent: path, Turn: turn}] = transcripts.Spot{Start: at, End: at + time.Second, Timed: true}
		}
	}
	return history
}

func TestWhatAShellLineWrites(t *testing.T) {
	for line, want := range map[string]string{
		"grep -rn x src":                       "",
		"go test ./... 2>&1 | tail -5":         "",
		"ls >/dev/null 2>&1":                   "",
		"ls > /tmp/list":                       "",
		"ls > list.txt":                        "list.txt",
		"ls >> list.txt":                       "list.txt",
		"cat <<'E' > a.md\nx\nE":               "a.md",
		"find . | tee -a out.log":              "out.log",
		"rm -rf build":                         "build",
		"if true; then rm a; fi":               "a",
		"mv a.txt /tmp/a":                      "",
		"cp a.txt b.txt":                       "b.txt",
		"sed -n 1,5p a.go":                     "",
		"sed -i.bak s/a/b/ a.go":               "a.go",
		"perl -pi -e s/a/b/ a.go":              "a.go",
		"git log --oneline && git -C . status": "",
		"git -C sub commit -m x":               "git commit",
		"git stash list":                       "",
		"mkdir -p out && cd out":               "out",
		`echo "$(touch made)"`:                 "made",
		"echo a > $FILE":                       "",
		"cat 'broken":                          "",
		strings.Repeat("a", maxShell+1):        "",
		"> truncated":                          "truncated",
	} {
		assert.Equal(t, shellWrites(line), want, line)
	}
}

func TestFilesOfToolsOfManyAgents(t *testing.T) {
	for _, c := range []struct {
		name, arguments string
		want            []fileUse
	}{
		{"read_file", `{"path":"./a.go"}`, []fileUse{{"a.go", reads}}},
		{"Write", `{"file_path":"/w/a.go"}`, []fileUse{{"/w/a.go", writes}}},
		{"str_replace_editor", `{"command":"view","path":"a"}`, []fileUse{{"a", reads}}},
		{"str_replace_editor", `{"command":"str_replace","path":"a"}`, []fileUse{{"a", edits}}},
		{"str_replace_editor", `{"command":"odd","path":"a"}`, nil},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n*** Add File: b.go\n*** End Patch"}`, []fileUse{{"a.go", edits}, {"b.go", writes}}},
		{"apply_patch", "*** Begin Patch\n*** Delete File: a.go\n", []fileUse{{"a.go", writes}}},
		{"read_file", `{"offset":1}`, nil},
		{"read_file", `no JSON`, nil},
		{"Grep", `{"path":"a"}`, nil},
	} {
		got := filesOf(&runtime.CallRecord{Name: c.name, Arguments: c.arguments})
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(fileUse{})); diff != "" {
			t.Errorf("%s %s: %s", c.name, c.arguments, diff)
		}
	}
	for arguments, want := range map[string]string{
		`{"command":"ls"}`:                  "ls",
		`{"command":["bash","-lc","ls a"]}`: "ls a",
		`{"cmd":["ls","a"]}`:                "ls a",
		`{"command":[1]}`:                   "",
		`{"command":7}`:                     "",
	} {
		assert.Equal(t, commandOf(&runtime.CallRecord{Name: "Bash", Arguments: arguments}), want)
	}
	assert.Equal(t, commandOf(&runtime.CallRecord{Name: "Grep", Arguments: `{"command":"ls"}`}), "")
}

func TestBriefsThatSayEnough(t *testing.T) {
	for brief, want := range map[string]string{
		"":                          "",
		"Count the files in ./src.": "",
		"Say hello to Ada.":         "",
		"Find and list all the slow tests of this project.":       "",
		"继续上面的工作":                                                 `names nothing: "继续上面的工作"`,
		"Fix the error above in the build of this project.":       `speaks of a conversation that the child does not see: "the error above"`,
		"Here is the list:\n- a\n- b\nGo through the list above.": "",
	} {
		assert.Equal(t, vague(brief, 4), want, brief)
	}
}

func TestWhoOnlyReads(t *testing.T) {
	for brief, want := range map[string]string{
		"Find the slow test in x_test.go.":                    `the brief only asks to read: "Find the slow test in x_test.go."`,
		"Find the slow test and fix it.":                      "",
		"Write the report.":                                   "",
		"Look at a.go. Do not modify any files.":              "the brief forbids it",
		"You are in read-only mode. Make a plan for the job.": "the brief forbids it",
	} {
		assert.Equal(t, onlyReads(`{}`, brief), want, brief)
	}
	assert.Equal(t, onlyReads(`{"subagent_type":"Explore"}`, "Write it."), `its kind, "Explore", only reads`)
	assert.Equal(t, onlyReads(`{"subagent_type":"general-purpose"}`, "Write it."), "")
}
