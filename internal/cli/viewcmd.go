package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/internal/view"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

type viewOptions struct {
	builtin bool
	diff    bool
	html    string
	addr    string
}

func (a *app) viewCommand() *cobra.Command {
	o := &viewOptions{}
	cmd := &cobra.Command{
		Use:   "view [NAME|FILE…]",
		Short: "Look at histories in a browser: tree, timeline, messages, findings, diff",
		Long: `Serves a page on this machine until it is interrupted, and says where: who did
what and when, how contexts grew, every message, what is wrong, and two runs side
by side. Without arguments it shows all of ./transcripts; a folder stands for the
files in it. The files may be in any format that "import" knows.

--html writes the page as one file instead, which holds all it shows and asks
nobody for anything: for an artifact of a CI run, or a mail.`,
		Example: `  tapetree view my-run
  tapetree view before.jsonl after.jsonl --diff
  tapetree view my-run --html my-run.html`,
		ValidArgsFunction: a.completeHistories,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.view(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.builtin, "builtin", false, "show transcripts of the suite inside tapetree")
	flags.BoolVar(&o.diff, "diff", false, "open with the diff of the first two sessions")
	flags.StringVar(&o.html, "html", "", "write the page to this `file`, with all it shows, and serve nothing")
	flags.StringVar(&o.addr, "addr", anyPort, "the `address` to serve the page at; port 0 is any free one")
	return cmd
}

func (a *app) view(ctx context.Context, o *viewOptions, args []string) error {
	if o.html != "" && o.addr != anyPort {
		return usagef("--html serves nothing: leave out --addr")
	}
	if o.builtin && len(args) == 0 {
		return usagef("view --builtin takes names of the suite, as in: view --builtin recorded-delegation")
	}
	book, unread, err := a.bookOf(ctx, o, args)
	if err != nil {
		return err
	}
	if o.diff {
		if book.Len() < 2 {
			return badInput("--diff takes two sessions, and there is %d", book.Len())
		}
		book.OpenDiff(0, 1)
	}
	if o.html != "" {
		var page bytes.Buffer
		if err := book.WriteHTML(&page); err != nil {
			return fmt.Errorf("write %s: %w", o.html, err)
		}
		if err := writeFile(o.html, page.Bytes()); err != nil {
			return err
		}
		if unread > 0 {
			return silent(exitUsage)
		}
		return nil
	}
	return a.servePage(ctx, o.addr, book)
}

// pageHeadTime is how long a browser may take to say what it wants.
const pageHeadTime = 10 * time.Second

// bookOf reads what the arguments name. A file in a folder that is no history is
// passed over; one that is named must be one. What is passed over and the files
// that cannot be read are said, and the others shown; unread counts the latter.
func (a *app) bookOf(ctx context.Context, o *viewOptions, args []string) (book *view.Book, unread int, err error) {
	book = &view.Book{}
	add := func(h *transcripts.History) {
		book.Add(h, func(h *transcripts.History) []record.Finding {
			return scenarios.CheckHistory(h, scenarios.CheckOptions{})
		})
	}
	if o.builtin {
		for _, arg := range args {
			for h, err := range a.histories(ctx, true, arg) {
				if err != nil {
					return nil, 0, err
				}
				add(h)
			}
		}
		return book, 0, nil
	}
	if len(args) == 0 {
		if list, err := historyFiles(a.folder("transcripts")); err != nil || len(list) == 0 {
			return nil, 0, badInput("there are no transcripts in %s: name the files to look at, as in `tapetree view FILE`", a.folder("transcripts"))
		}
	}
	tasks, err := a.checkTasks(args)
	if err != nil {
		return nil, 0, err
	}
	passed, broken, err := a.readTasks(ctx, tasks, add)
	if err != nil {
		return nil, 0, err
	}
	a.sayPassedOver(passed)
	if book.Len() == 0 && len(broken) == 1 {
		return nil, 0, broken[0]
	}
	for _, err := range broken {
		a.complain(err.Error())
	}
	if book.Len() == 0 {
		return nil, 0, badInput("there is no history in what was named: `tapetree import --help` lists the formats")
	}
	book.Missing(len(passed), len(broken))
	return book, len(broken), nil
}

// readTasks reads the histories of files, and lists those that are passed over and
// why others cannot be read.
func (a *app) readTasks(ctx context.Context, tasks []checkTask, add func(*transcripts.History)) (passed []string, broken []error, err error) {
	for _, task := range tasks {
		for h, err := range a.readHistories(ctx, task.path) {
			switch {
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case err != nil && task.listed && errors.Is(err, histories.ErrUnknown):
				passed = append(passed, task.path)
			case err != nil && !strings.Contains(err.Error(), task.path):
				broken = append(broken, fmt.Errorf("%s: %w", task.path, err))
			case err != nil:
				broken = append(broken, err)
			default:
				add(h)
			}
		}
	}
	return passed, broken, nil
}

// mostNamed is how many files are named that are passed over.
const mostNamed = 10

// sayPassedOver names files that are no history.
func (a *app) sayPassedOver(list []string) {
	if len(list) == 0 {
		return
	}
	a.say("tapetree: %s passed over, which are no history:", plural(len(list), "file"))
	for _, path := range list[:min(len(list), mostNamed)] {
		a.say("  %s", oneLine(path))
	}
	if more := len(list) - mostNamed; more > 0 {
		a.say("  and %d more", more)
	}
}

// servePage serves until it is interrupted, and says where.
func (a *app) servePage(ctx context.Context, address string, book *view.Book) error {
	server, err := listen("--addr", address, view.NewHandler(book), proxy.ServerOptions{MaxHeader: 16 << 10, MaxBody: 1, Head: pageHeadTime})
	if err != nil {
		return err
	}
	ctx, stop := a.interruptible(ctx, "ending")
	defer stop()
	fmt.Fprintf(a.err, "listening at %s/\n", server.URL())
	if !server.Loopback() {
		a.say("warning: whoever reaches this address can read the histories; 127.0.0.1 keeps them on this machine")
	}
	a.say("Ctrl-C ends it")
	return untilEnded(ctx, server)
}
