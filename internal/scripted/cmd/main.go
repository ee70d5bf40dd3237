// Command cmd serves a script as a model server until it is interrupted.
//
//	go run ./internal/scripted/cmd [--random] [--piece BYTES] [--pace DURATION] SCRIPT.json ADDRESS
//
// ADDRESS is host:port; port 0 takes a free one. The base URL is the first and
// only line on stdout, a line for each request goes to stderr.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/tapetree/tapetree/internal/scripted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. An error is a bad flag or script, or an address
// that cannot be listened on.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	options := scripted.Options{Log: log}
	flags := pflag.NewFlagSet("scripted", pflag.ContinueOnError)
	flags.BoolVar(&options.Random, "random", false, "make ids at random")
	flags.IntVar(&options.Piece, "piece", 0, "stream arguments in pieces of so many bytes, 0 for whole")
	flags.DurationVar(&options.Pace, "pace", 0, "wait so long before each event of a stream")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("usage: scripted [--random] [--piece BYTES] [--pace DURATION] SCRIPT.json ADDRESS")
	}
	data, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	script, err := scripted.ParseScript(flags.Arg(0), data)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", flags.Arg(1))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s/v1\n", listener.Addr())
	server := &http.Server{Handler: scripted.New(script, options), ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
