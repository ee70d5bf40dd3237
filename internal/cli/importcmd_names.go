package cli

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	notInName  = regexp.MustCompile(`[^a-z0-9._-]+`)
	notAtStart = regexp.MustCompile(`^[^a-z0-9]+`)
)

// importEndings are what a name loses, in this order.
var importEndings = []string{".gz", ".har", ".json", ".jsonl", ".yaml", ".yml", ".httprr", ".traj"}

// nameFor makes a scenario's name of a file's.
func nameFor(path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, ending := range importEndings {
		name = strings.TrimSuffix(name, ending)
	}
	name = strings.TrimRight(notInName.ReplaceAllString(name, "-"), "-.")
	if name = notAtStart.ReplaceAllString(name, ""); name == "" {
		return "imported"
	}
	return name
}

// nameOf is the name for what a file holds: that of --name, else the file's.
// Files of one name in several folders are numbered.
func (o *importOptions) nameOf(path string) string {
	if o.name != "" {
		return o.name
	}
	base := nameFor(path)
	name := base
	for n := 2; o.used[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	o.used[name] = true
	return name
}
