package cli

import (
	"fmt"
	"os"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/scenarios"
)

// unreferenced lists what no scenario refers to and, with remove, removes it.
func (a *app) unreferenced(remove bool) error {
	found, err := a.openSource(false)
	if err != nil {
		return err
	}
	if len(found.names) == 0 {
		return badInput("there are no scenarios in %s, so nothing could refer to anything: is this the project's folder?", found.where)
	}
	list, err := scenarios.FindUnreferenced(found.Source)
	if err != nil {
		return err
	}
	left := 0
	for _, file := range list {
		line := file.Path
		switch {
		case file.Alone != "":
			line += ": left alone, " + file.Alone
		case remove:
			if err := os.Remove(file.Path); err != nil {
				return fmt.Errorf("remove %s: %w", file.Path, files.Reason(err))
			}
			line = "removed " + line
		default:
			left++
		}
		if _, err := fmt.Fprintln(a.out, golden.Visible(line)); err != nil {
			return err
		}
	}
	if left == 0 {
		if len(list) == 0 {
			a.say("a scenario refers to every golden history and transcript")
		}
		return nil
	}
	a.say("no scenario refers to %s: `tapetree review --unreferenced --remove%s` removes them", plural(left, "file"), a.dirFlag())
	return silent(exitFindings)
}
