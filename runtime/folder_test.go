package runtime

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func testFolder() *Folder {
	return NewFolder([]string{"/tmp/run-1/ws"}, []string{"/tmp"}, []string{"/home/me"})
}

func TestFoldAndExpand(t *testing.T) {
	f := testFolder()
	tests := []struct{ name, text, folded string }{
		{"no path", "plain", "plain"},
		{"the whole text", "/tmp/run-1/ws", "{{workspace}}"},
		{"longest first", "/tmp/run-1/ws/a /tmp/b /home/me/c", "{{workspace}}/a {{tmp}}/b {{home}}/c"},
		{"a shorter path where the longer does not fit", "/tmp/run-1/ws2", "{{tmp}}/run-1/ws2"},
		{"not the beginning of a component", "/home/meg /home/me-2 /home/me.bak /home/me~ /home/me_x", "/home/meg /home/me-2 /home/me.bak /home/me~ /home/me_x"},
		{"not the end of a longer path", "/x/tmp/a ./tmp ../tmp ~/tmp a/tmp ${X}/tmp $(x)/tmp //tmp", "/x/tmp/a ./tmp ../tmp ~/tmp a/tmp ${X}/tmp $(x)/tmp //tmp"},
		{"a full stop, a dash, an ellipsis", "in /home/me. /home/me- /home/me...", "in {{home}}. {{home}}- {{home}}..."},
		{"around punctuation", `"/tmp", (/tmp) [/tmp] <a=/tmp:/tmp/x> '/tmp'`, `"{{tmp}}", ({{tmp}}) [{{tmp}}] <a={{tmp}}:{{tmp}}/x> '{{tmp}}'`},
		{"a URL", "file:///tmp/a", "file://{{tmp}}/a"},
		{"diff, curl, cc", "+/tmp/a\n-/tmp/b\n-d @/tmp/c -I/tmp/inc", "+{{tmp}}/a\n-{{tmp}}/b\n-d @{{tmp}}/c -I{{tmp}}/inc"},
		{"behind a quoted line end", `a\n/tmp/b\t/tmp`, `a\n{{tmp}}/b\t{{tmp}}`},
		{"coloured", "\x1b[01;34m/tmp/b\x1b[0m", "\x1b[01;34m{{tmp}}/b\x1b[0m"},
		{"in prose without spaces", "在/tmp/run-1/ws目录", "在{{workspace}}目录"},
		{"not behind a letter of another script", "é/tmp /tmpé", "é/tmp /tmpé"},
		{"our words as they stand", "{{workspace}} {{tmp {{homes}} {tmp} {{other}}", "{{{{workspace}} {{{{tmp {{{{homes}} {tmp} {{other}}"},
		{"three and four braces", "{{{tmp}}} {{{{tmp}}", "{{{{{{tmp}}} {{{{{{{{tmp}}"},
		{"braces before a path", "{/tmp} {{/tmp}} {{{/tmp", "{{{tmp}}} {{{{{tmp}}}} {{{{{{{tmp}}"},
		{"placeholders of secrets are another's", "{{secret:env:1}}", "{{secret:env:1}}"},
		{"no UTF-8", "\xff/tmp/\xfe", "\xff{{tmp}}/\xfe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, f.Fold(tt.text), tt.folded)
			assert.Equal(t, f.Expand(tt.folded), tt.text)
		})
	}
}

func TestExpandLeavesWhatFoldNeverWrites(t *testing.T) {
	f := NewFolder([]string{"/w/s"}, nil, nil)
	for _, text := range []string{"{{workspace", "{{workspace }}", "{{tmp}}", "{{home}}/x", "{workspace}}", "{{{workspace"} {
		assert.Equal(t, f.Expand(text), text)
	}
}

func TestNewFolderLeavesOutWhatWouldMatchEverywhere(t *testing.T) {
	f := NewFolder([]string{"", "/", "//", ".", "relative/x", `C:\`, "C:", `\\`}, []string{"/tmp/"}, []string{"/root"})
	assert.Equal(t, f.Fold("/ . relative/x C:\\ /tmp/a/ /root/.ssh /rooted"), "/ . relative/x C:\\ {{tmp}}/a/ {{home}}/.ssh /rooted")
}

func TestFirstWordClaimsAPathGivenTwice(t *testing.T) {
	f := NewFolder([]string{"/a/b"}, []string{"/a/b"}, []string{"/a/b"})
	assert.Equal(t, f.Fold("/a/b"), "{{workspace}}")
	assert.Equal(t, f.Expand("{{home}}"), "/a/b")
}

func TestSpellings(t *testing.T) {
	f := NewFolder([]string{"/var/ws", "/private/var/ws"}, []string{`C:\Users\me\Temp`}, nil)
	assert.Equal(t, f.Fold("/private/var/ws/a /var/ws/b"), "{{workspace}}/a {{workspace}}/b")
	assert.Equal(t, f.Expand("{{workspace}}/a"), "/var/ws/a")
	assert.Equal(t, f.Fold(`C:\Users\me\Temp\a c:\Users\me\Temp c:/Users/me/Temp/b C:/Users/me/Temp2 D:\C:\Users\me\Temp`),
		`{{tmp}}\a {{tmp}} {{tmp}}/b C:/Users/me/Temp2 D:\C:\Users\me\Temp`)
	assert.Equal(t, f.Expand(`{{tmp}}\a`), `C:\Users\me\Temp\a`)
	assert.Equal(t, NewFolder([]string{`\\host\share`}, nil, nil).Fold(`\\host\share\x`), `{{workspace}}\x`)
}

func TestNilFolderChangesNothing(t *testing.T) {
	var f *Folder
	assert.Equal(t, f.Fold("{{tmp}}"), "{{tmp}}")
	assert.Equal(t, f.Expand("{{tmp}}"), "{{tmp}}")
	assert.Equal(t, string(f.FoldJSON([]byte(`["{{tmp}}"]`))), `["{{tmp}}"]`)
	assert.Equal(t, string(f.ExpandJSON([]byte(`["{{tmp}}"]`))), `["{{tmp}}"]`)
}

func TestTextWithoutAPathCostsNothing(t *testing.T) {
	f := testFolder()
	text := strings.Repeat("no path here, {{other}}\n", 100)
	raw := []byte(`{"a":"no path"}`)
	assert.Equal(t, testing.AllocsPerRun(10, func() { f.Fold(text); f.Expand(text) }), 0.0)
	assert.Assert(t, &f.FoldJSON(raw)[0] == &raw[0])
}

func TestFoldJSON(t *testing.T) {
	f := testFolder()
	tests := []struct{ name, raw, folded, expanded string }{
		{"bytes outside stay", `{ "a" : "x\u00e9 \/tmp\/b" , "n":1e2}`, `{ "a" : "x\u00e9 {{tmp}}\/b" , "n":1e2}`, `{ "a" : "x\u00e9 /tmp\/b" , "n":1e2}`},
		{"slashes as code points", `["\u002ftmp\u002Fb"]`, `["{{tmp}}\u002Fb"]`, `["/tmp\u002Fb"]`},
		{"names too", `{"/tmp/b":1}`, `{"{{tmp}}/b":1}`, ""},
		{"behind a line end", `["a\n/tmp/b"]`, `["a\n{{tmp}}/b"]`, ""},
		{"arguments", `{"arguments":"{\"path\":\"/tmp/run-1/ws/a\",\"text\":\"x\\n/tmp\"}"}`, `{"arguments":"{\"path\":\"{{workspace}}/a\",\"text\":\"x\\n{{tmp}}\"}"}`, ""},
		{"arguments, escaped slashes", `["{\"p\":\"\\/tmp\\/b\"}"]`, `["{\"p\":\"{{tmp}}\\/b\"}"]`, `["{\"p\":\"/tmp\\/b\"}"]`},
		{"JSON three deep", `["[\"[\\\"\\\\/tmp\\\"]\"]"]`, `["[\"[\\\"{{tmp}}\\\"]\"]"]`, `["[\"[\\\"/tmp\\\"]\"]"]`},
		{"arguments that were cut off", `["{\"p\":\"\\n/tmp/b"]`, `["{\"p\":\"\\n{{tmp}}/b"]`, ""},
		{"a value that was cut off", `{"p":"/tmp/b\u00`, `{"p":"{{tmp}}/b\u00`, ""},
		{"several values", "{\"p\":\"/tmp\"}\n{\"p\":\"\\n/tmp\"}", "{\"p\":\"{{tmp}}\"}\n{\"p\":\"\\n{{tmp}}\"}", ""},
		{"no JSON", `/tmp/b`, `{{tmp}}/b`, ""},
		{"our words, disguised", `["\u007b{tmp}}", "{{t\u006dp}}"]`, `["{{{{tmp}}", "{{{{t\u006dp}}"]`, `["{{tmp}}", "{{t\u006dp}}"]`},
		{"a surrogate pair before it", `["\ud83d\ude00 /tmp"]`, `["\ud83d\ude00 {{tmp}}"]`, ""},
		{"half a pair before it", `["\ud83d /tmp"]`, `["\ud83d {{tmp}}"]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.expanded == "" {
				tt.expanded = tt.raw
			}
			assert.Equal(t, string(f.FoldJSON([]byte(tt.raw))), tt.folded)
			assert.Equal(t, string(f.ExpandJSON([]byte(tt.folded))), tt.expanded)
		})
	}
}

func TestExpandedWindowsPathsStayJSON(t *testing.T) {
	f := NewFolder([]string{`C:\run\ws`}, nil, nil)
	raw := `{"path":"C:\\run\\ws\\a","arguments":"{\"p\":\"C:\\\\run\\\\ws\\\\a\"}"}`
	folded := `{"path":"{{workspace}}\\a","arguments":"{\"p\":\"{{workspace}}\\\\a\"}"}`
	assert.Equal(t, string(f.FoldJSON([]byte(raw))), folded)
	assert.Equal(t, string(f.ExpandJSON([]byte(folded))), raw)
}

func TestFoldingNeverMendsBrokenJSON(t *testing.T) {
	f := NewFolder([]string{`C:\quiet\ws`}, nil, nil)
	raw := `["{\"p\":\"C:\\quiet\\ws {{tmp\"}"]` // inside: \q, no escape of JSON
	folded := `["{\"p\":\"C:\\quiet\\ws {{{{tmp\"}"]`
	assert.Equal(t, string(f.FoldJSON([]byte(raw))), folded)
	assert.Equal(t, string(f.ExpandJSON([]byte(folded))), raw)
}
