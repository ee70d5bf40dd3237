// Command tapetree records what a tool-calling agent and its subagents did
// with a model, replays it offline and holds it against golden histories.
package main

import (
	"os"

	"github.com/tapetree/tapetree/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
