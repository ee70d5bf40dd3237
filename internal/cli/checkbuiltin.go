package cli

import (
	"io/fs"
	"strings"

	"github.com/tapetree/tapetree/transcripts"
)

// builtinPlace begins how messages name a transcript of the suite inside the
// program.
const builtinPlace = "builtin:transcripts/"

// builtinTasks lists the transcripts of the suite that the arguments name, each
// once, in order; all of them where there are no arguments.
func (a *app) builtinTasks(args []string) ([]checkTask, error) {
	files, err := fs.Glob(transcripts.Suite, "*.jsonl")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var names []string
	for _, file := range files {
		name := strings.TrimSuffix(file, ".jsonl")
		names, known[name] = append(names, name), true
	}
	if len(args) == 0 {
		args = names
	}
	var tasks []checkTask
	seen := map[string]bool{}
	for _, arg := range args {
		switch {
		case !known[arg]:
			return nil, badInput("there is no transcript %q in the suite inside tapetree%s", arg, didYouMean(arg, names, ""))
		case !seen[arg]:
			seen[arg] = true
			tasks = append(tasks, checkTask{path: builtinPlace + arg + ".jsonl", suite: arg})
		}
	}
	return tasks, nil
}
