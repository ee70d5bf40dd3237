package cli

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: a.wrap(func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "tapetree %s (%s, %s/%s)\n", version(), goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
			return err
		}),
	}
}

// version is the module's version as the Go command built it in; a build from
// a checkout carries the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	if info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			return "devel-" + setting.Value[:12]
		}
	}
	return "devel"
}
