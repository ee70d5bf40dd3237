package tools

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"
)

// gitIsPlain reports that git, started in the workspace, runs nothing else on
// account of a setting in it: even git status runs what core.fsmonitor or a
// filter names, and file tools may write there. It is so if there is no
// repository in the workspace (one above it is the user's), or a common one
// whose settings are all known to be harmless. Submodules and linked worktrees
// have settings elsewhere, and are not.
func (w *Workspace) gitIsPlain() bool {
	for _, name := range []string{"HEAD", ".gitmodules", ".git/modules", ".git/commondir", ".git/config.worktree"} {
		if _, err := w.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return false // HEAD: the workspace may be a repository without a folder .git
		}
	}
	info, err := w.root.Lstat(".git")
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil || !info.IsDir() {
		return false
	}
	config, err := whole(context.Background(), w.root, ".git/config")
	return err == nil && gitConfigIsPlain(string(config))
}

// What git init and git clone write, section by section.
var (
	gitSection = regexp.MustCompile(`^\[(core|user|remote "[^"\\]*"|branch "[^"\\]*")\]$`)
	gitSetting = regexp.MustCompile(`^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf` +
		`|name|email|url|fetch|merge|remote|rebase)[ \t]*=[^\\]*$`)
)

// gitConfigIsPlain reports that a settings file of git holds nothing but
// harmless settings, each on a line of its own.
func gitConfigIsPlain(config string) bool {
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && line[0] != ';' && !gitSection.MatchString(line) && !gitSetting.MatchString(line) {
			return false
		}
	}
	return true
}
