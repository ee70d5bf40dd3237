package scenarios

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// snapshotEnding ends the folder, beside the scenario, that a recorded session's
// start workspace is kept in.
const snapshotEnding = ".work"

// ownFiles tells which names below workspace, relative and with slashes, are
// those of recordings: unfinished transcripts, snapshots, and the folders that
// are made for them now. An agent that saw them would work on its own recording,
// each snapshot would hold all older ones, and a replay, which has none of them,
// would differ. It is asked for before anything is made.
func ownFiles(source Source, workspace string) func(name string) bool {
	transcript, transcriptThere := below(workspace, filepath.Join(source.Dir, transcriptFolder))
	scenario, scenarioThere := below(workspace, filepath.Join(source.Dir, scenarioFolder))
	return func(name string) bool {
		if first, inside := firstBelow(transcript, name); inside && (!transcriptThere || strings.Contains(first, ".partial")) {
			return true
		}
		first, inside := firstBelow(scenario, name)
		return inside && (!scenarioThere || strings.HasSuffix(first, snapshotEnding))
	}
}

// below returns folder relative to workspace, with slashes, and whether it is
// there; "" for a folder that does not lie below it.
func below(workspace, folder string) (name string, there bool) {
	_, err := os.Stat(folder)
	name, relErr := filepath.Rel(realPath(workspace), realPath(folder))
	if relErr != nil || !filepath.IsLocal(name) {
		return "", err == nil
	}
	return filepath.ToSlash(name), err == nil
}

// realPath is the absolute path with links followed as far as it exists.
func realPath(name string) string {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if followed, err := filepath.EvalSymlinks(absolute); err == nil {
		return followed
	}
	if parent := filepath.Dir(absolute); parent != absolute {
		return filepath.Join(realPath(parent), filepath.Base(absolute))
	}
	return absolute
}

// firstBelow returns the first component of name below folder, "" for folder
// itself, and whether name is folder or lies below it.
func firstBelow(folder, name string) (first string, inside bool) {
	name = path.Clean(name)
	if name == folder {
		return "", true
	}
	rest, inside := name, folder == "."
	if !inside && folder != "" {
		rest, inside = strings.CutPrefix(name, folder+"/")
	}
	first, _, _ = strings.Cut(rest, "/")
	return first, inside
}
