// Command author writes the authored transcripts of the suite: it runs each
// scenario against a scripted upstream through the real recorder.
//
//	go run ./internal/author [NAME…]     writes the named ones, or all
//	go run ./internal/author --check      writes nothing and fails on a difference
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

func main() {
	check := pflag.Bool("check", false, "write nothing, fail on a difference")
	dir := pflag.String("dir", ".", "the project")
	pflag.Parse()
	if err := run(*dir, *check, pflag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "author:", err)
		os.Exit(1)
	}
}

// run writes, or compares, the transcripts of the named scripts.
func run(dir string, check bool, names []string, out io.Writer) error {
	all := scripts()
	if len(names) == 0 {
		for name := range all {
			names = append(names, name)
		}
		sort.Strings(names)
	}
	differ := 0
	for _, name := range names {
		s, known := all[name]
		if !known {
			return fmt.Errorf("no script is named %s", name)
		}
		data, err := transcript(scenarios.DirSource(dir), name, s)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		path := filepath.Join(dir, "transcripts", name+".jsonl")
		old, err := os.ReadFile(path)
		if err == nil && bytes.Equal(old, data) {
			continue
		}
		differ++
		fmt.Fprintf(out, "%s\n", path)
		if !check {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(out, "%d of %d transcripts differ\n", differ, len(names))
	if check && differ > 0 {
		return fmt.Errorf("run `go run ./internal/author` and look at the diff")
	}
	return nil
}

// authored is the day that stands in authored headers and prompts.
var authored = time.Date(2026, time.January, 2, 0, 0, 0, 0, time.UTC)

// transcript runs one scenario against its script and returns the bytes of its
// transcript.
func transcript(source scenarios.Source, name string, s script) ([]byte, error) {
	upstream := &upstream{script: s, used: map[string]bool{}}
	data, err := record(source, name, s, upstream)
	if err != nil {
		return nil, err
	}
	return data, upstream.unused()
}

// record runs one scenario against an upstream through the real recorder. The
// transcript is by hand, so it has no seals and no clocks.
func record(source scenarios.Source, name string, s script, upstream http.RoundTripper) ([]byte, error) {
	scenario, err := source.Load(name)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "author")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, name+".jsonl")
	_, err = scenarios.Live(context.Background(), source, scenario, path, scenarios.LiveOptions{
		BaseURL: "http://scripted.invalid/v1", Key: "tapetree-offline-key", Model: modelName,
		Stream: s["root 1"].stream, Transport: upstream, Now: func() time.Time { return authored },
		Approver: person{}, Environ: []string{}, OS: "Linux", By: "authored",
	})
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := transcripts.Parse(path, data)
	if err != nil {
		return nil, err
	}
	file.Timing = nil
	return file.Encode(), nil
}

// upstream answers requests from a script by their place in the session.
type upstream struct {
	script script

	mu   sync.Mutex
	used map[string]bool
}

// RoundTrip answers one request, each place once.
func (u *upstream) RoundTrip(request *http.Request) (*http.Response, error) {
	place, known := runtime.PlaceOf(request.Context())
	if !known {
		return nil, fmt.Errorf("a request came without a place")
	}
	if request.Body != nil {
		defer request.Body.Close()
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return nil, err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	answer, scripted := u.script[key(place)]
	if !scripted || u.used[key(place)] {
		return nil, fmt.Errorf("no reply is scripted for %q", key(place))
	}
	u.used[key(place)] = true
	return answer.response(place), nil
}

func (u *upstream) unused() error {
	for place := range u.script {
		if !u.used[place] {
			return fmt.Errorf("the reply for %q was never asked for", place)
		}
	}
	return nil
}

// person answers the questions of scenarios that leave them to whoever records:
// yes, but never to a deletion, nor to what goes right.
type person struct{}

// Ask gives the person's answer.
func (person) Ask(_ context.Context, q runtime.Question) (runtime.Reply, error) {
	if strings.Contains(q.Arguments, "rm ") || strings.Contains(q.Arguments, "right") {
		return runtime.Reply{Reason: "nothing is deleted here"}, nil
	}
	return runtime.Reply{Allow: true}, nil
}
