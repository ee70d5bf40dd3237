package imports

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
)

// tauBench reads the results that tau-bench writes: an array of runs, each of a
// task in one trial, with the messages of the agent under "traj".
var tauBench = Importer{Name: formatTauBench, Title: "tau-bench results", Detect: isTauBench, Read: readTauBench}

const formatTauBench = "tau-bench"

func isTauBench(data []byte) bool {
	data = trim(data)
	s := scan(data, 1)
	if s.kind() != '[' {
		return false
	}
	found := false
	seen := 0
	_ = s.array(func() error { // a fault ends the look, no more
		if seen++; seen > looks || s.kind() != '{' {
			return errEnough
		}
		return s.object(func(name string) error {
			if name == "traj" && s.kind() == '[' {
				found = true
				return errEnough
			}
			return s.skip()
		})
	})
	return found
}

func readTauBench(path string, data []byte) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		s := scan(trim(data), 1)
		out := &held{yield: yield}
		n := 0
		err := s.array(func() error {
			n++
			return tauRun(out, s, path, n)
		})
		if err != nil && !out.over && (out.last == nil || len(out.last.Warnings) == 0) {
			out.warn(s.fault(err))
		}
		if err == nil {
			out.rest(s)
		}
		out.end(path)
	}
}

// tauRun reads one run. An error ends the file; what stands before it is in the
// history.
func tauRun(out *held, s *scanner, path string, number int) error {
	if s.kind() != '{' {
		_, line, err := s.value()
		if err == nil {
			out.warn(line, "left out, no run of a task")
		}
		return err
	}
	began := s.next()
	n := &session{}
	place := map[string]string{}
	err := s.object(func(name string) (err error) {
		switch {
		case name == "traj" && s.kind() == '[':
			n.list, err = elements(s)
		case name == "task_id" || name == "trial":
			var v jsontext.Value
			v, _, err = s.value()
			place[name] = strings.Trim(string(v), `"`)
		default:
			n.member(name)
			err = s.skip()
		}
		return err
	})
	n.begin(path, tauPart(place, number), formatTauBench)
	n.addAll()
	n.fault(s, err)
	switch h := n.end(); {
	case h == nil && err == nil:
		out.warn(began, "left out, a run without messages")
	case h != nil && !out.give(h):
		return errEnough
	}
	return err
}

// tauPart names a run.
func tauPart(place map[string]string, number int) string {
	var parts []string
	for _, name := range []string{"task_id", "trial"} {
		if v, ok := place[name]; ok {
			parts = append(parts, strings.TrimSuffix(name, "_id")+" "+v)
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("element %d", number)
	}
	return strings.Join(parts, ", ")
}
