package scenarios

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tapetree/tapetree/runtime"
)

// use is what a file tool does with its file.
type use int

const (
	uses use = iota // by its command argument, see editorCommands
	reads
	writes // gives the file new bytes, whatever it had
	edits  // changes bytes that are there
)

// fileTools are the tools whose argument names a file, ours and those of other
// agents, as foldName writes them. Tools that search or list many files are not
// among them.
var fileTools = map[string]use{
	"readfile": reads, "writefile": writes, "editfile": edits, // this runtime; Gemini CLI, qwen-code, Cline, Roo Code
	"read": reads, "write": writes, "edit": edits, "multiedit": edits, "notebookedit": edits, "notebookread": reads, // Claude Code, opencode, pi
	"view": reads, "create": writes, "strreplace": edits, "insert": edits, // Copilot
	"strreplaceeditor": uses, "strreplacebasededittool": uses, "texteditor": uses, // SWE-agent, OpenHands, Anthropic's editor
	"replace": edits, "replaceinfile": edits, "writetofile": writes, "searchreplace": edits, "applydiff": edits, "insertcontent": edits,
	"patch": edits, "applypatch": edits, // opencode, Codex; the files stand in the patch
	"createfile": writes, "insertedit": edits, "inserteditintofile": edits, "replacestringinfile": edits, // Copilot in VS Code
	"open": reads, "viewfile": reads, "catfile": reads, "readmanyfiles": reads, "deletefile": writes,
}

// pathKeys are the arguments that name the file; the first that is there counts.
var pathKeys = []string{"path", "file_path", "filePath", "filepath", "filename", "file", "notebook_path", "target_file", "absolute_path", "absolutePath", "relative_workspace_path", "uri"}

// editorCommands are the command argument of the tools that read and write.
var editorCommands = map[string]use{"view": reads, "create": writes, "str_replace": edits, "insert": edits, "undo_edit": edits, "delete": writes}

// commandTools run a command line, which commandKeys name.
var commandTools = map[string]bool{
	"shell": true, "runbash": true, "bash": true, "sh": true, "terminal": true, "runshellcommand": true, "executecommand": true, "executebash": true,
	"runinterminal": true, "runcommand": true, "execcommand": true, "shellcommand": true, "localshell": true, "powershell": true, "runterminalcmd": true,
	"exec": true, "containerexec": true,
}

var commandKeys = []string{"command", "cmd", "script", "commands"}

// foldName folds the ways to write a tool's name into one: read_file, ReadFile.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// fileUse is one file that a call used.
type fileUse struct {
	path string
	use  use
}

// filesOf lists the files that a call of a file tool names.
func filesOf(call *runtime.CallRecord) []fileUse {
	name := foldName(call.Name)
	how, known := fileTools[name]
	if !known {
		return nil
	}
	args := argumentsOf(call.Arguments)
	if name == "applypatch" || name == "patch" {
		return patchedFiles(call.Arguments, args)
	}
	if how == uses {
		if how = editorCommands[textOf(args["command"])]; how == uses {
			return nil
		}
	}
	for _, key := range pathKeys {
		if path := textOf(args[key]); path != "" {
			return []fileUse{{cleanPath(path), how}}
		}
	}
	return nil
}

// patchedFiles lists the files of a patch in the form of Codex.
func patchedFiles(raw string, args map[string]jsontext.Value) []fileUse {
	patch := raw
	for _, key := range []string{"input", "patch", "patchText", "patch_text", "diff"} {
		if text := textOf(args[key]); text != "" {
			patch = text
		}
	}
	marks := map[string]use{"*** Update File: ": edits, "*** Add File: ": writes, "*** Delete File: ": writes, "*** Move to: ": writes}
	var list []fileUse
	for line := range strings.Lines(patch) {
		for mark, how := range marks {
			if path, found := strings.CutPrefix(strings.TrimRight(line, "\r\n"), mark); found {
				list = append(list, fileUse{cleanPath(path), how})
			}
		}
	}
	return list
}

// commandOf is the command line of a call of a shell tool; of a list of words,
// the last of `bash -c`, else the words.
func commandOf(call *runtime.CallRecord) string {
	if !commandTools[foldName(call.Name)] {
		return ""
	}
	args := argumentsOf(call.Arguments)
	for _, key := range commandKeys {
		value := args[key]
		switch value.Kind() {
		case '"':
			return textOf(value)
		case '[':
			var words []string
			if json.Unmarshal(value, &words, jsontext.AllowInvalidUTF8(true)) != nil || len(words) == 0 {
				continue
			}
			if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
				return words[2]
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// argumentsOf are the members of an object; nil for anything else.
func argumentsOf(arguments string) map[string]jsontext.Value {
	var args map[string]jsontext.Value
	if json.Unmarshal([]byte(arguments), &args, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return nil
	}
	return args
}

func textOf(value jsontext.Value) string {
	var text string
	if value.Kind() != '"' || json.Unmarshal(value, &text, jsontext.AllowInvalidUTF8(true)) != nil {
		return ""
	}
	return text
}

// cleanPath makes the ways to write one path one: ./a and a.
func cleanPath(path string) string {
	path = strings.TrimSpace(strings.ReplaceAll(path, `\`, "/"))
	for strings.HasPrefix(path, "./") {
		path = path[2:]
	}
	return path
}
