package attribution

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// allRuns reads the recorded runs and their names.
func allRuns(t *testing.T) ([]string, [][]recorded) {
	files, err := filepath.Glob(filepath.Join(shared, "attribution", "*.jsonl.gz"))
	assert.NilError(t, err)
	if len(files) == 0 {
		t.Skipf("no recorded runs at %s", shared)
	}
	var names []string
	var runs [][]recorded
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"))
		runs = append(runs, readRun(t, file))
	}
	return names, runs
}

// TestRecordedRunsToldWorse tells the recorded runs with less than is known of
// them: nothing may be wrong without a flag.
func TestRecordedRunsToldWorse(t *testing.T) {
	names, runs := allRuns(t)
	for name, worsen := range map[string]func(*recorded){
		"without the times of the chunks": func(r *recorded) { r.Chunks = nil },
		"ends told 5 ms late":             func(r *recorded) { r.end(5) },
		"ends told 50 ms late":            func(r *recorded) { r.end(50) },
		"without any times":               func(r *recorded) { r.T0 = nil },
	} {
		for _, ignore := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without session headers %v", name, ignore), func(t *testing.T) {
				b := &table{}
				for i, run := range runs {
					run = slices.Clone(run)
					for j := range run {
						worsen(&run[j])
					}
					b.run(names[i], run, Options{IgnoreSessionHeaders: ignore})
				}
				t.Log(strings.Join(b.notes, "\n"))
				assert.Equal(t, b.rows[len(b.rows)-1].wrongSilent, 0)
			})
		}
	}
}

// end moves the end of an answer.
func (r *recorded) end(late float64) {
	if r.T1 != nil {
		at := *r.T1 + late
		r.T1 = &at
	}
}

// TestTwoRunsAtOnce tells two recorded runs to one scope at the same time: what
// is wrong has a flag.
func TestTwoRunsAtOnce(t *testing.T) {
	names, runs := allRuns(t)
	for _, ignore := range []bool{false, true} {
		total, silent := 0, []string{}
		for i := range runs {
			for j := range runs {
				if (i*5+j)%61 != 0 {
					continue
				}
				mixed := mix(runs[i], runs[j])
				got := attribute(mixed, Options{IgnoreSessionHeaders: ignore})
				roots := rootsOf(mixed, got)
				for n, p := range got {
					which, truth, _ := strings.Cut(mixed[n].Agent, ":")
					rest, ours := strings.CutPrefix(string(p.Path), roots[which])
					if p.Flag == "" && !(ours && isTruth("root"+runtime.Path(rest), truth)) {
						silent = append(silent, fmt.Sprintf("%s and %s: %d %s is %s", names[i], names[j], mixed[n].N, mixed[n].Agent, p.Path))
					}
					total++
				}
			}
		}
		assert.DeepEqual(t, silent, []string{})
		t.Logf("%d requests", total)
	}
}

// mix tells two runs as one, ids kept apart.
func mix(runs ...[]recorded) []recorded {
	var mixed []recorded
	for k, run := range runs {
		apart := strings.NewReplacer("call_0", fmt.Sprintf("cal%d_0", k), "ses_d", fmt.Sprintf("se%d_d", k))
		for n, r := range run {
			begun, ended := float64(n*100), float64(n*100)
			if r.T0 != nil {
				begun, ended = *r.T0-*run[0].T0, *r.T1-*run[0].T0
			}
			begun += float64(k) * 350
			ended += float64(k) * 350
			r.T0, r.T1 = &begun, &ended
			r.Request = []byte(apart.Replace(string(r.Request)))
			r.Response.Text = apart.Replace(r.Response.Text)
			headers := map[string]string{}
			for name, value := range r.Headers {
				headers[name] = apart.Replace(value)
			}
			r.Headers = headers
			r.Agent = fmt.Sprintf("%d:%s", k, r.Agent)
			mixed = append(mixed, r)
		}
	}
	slices.SortStableFunc(mixed, func(a, b recorded) int { return cmp.Compare(*a.T0, *b.T0) })
	return mixed
}

// rootsOf says which root most of the requests of each run's root belong to.
func rootsOf(mixed []recorded, got []Place) map[string]string {
	counts := map[string]map[string]int{}
	roots := map[string]string{}
	for n, p := range got {
		which, truth, _ := strings.Cut(mixed[n].Agent, ":")
		if truth != "root" {
			continue
		}
		if counts[which] == nil {
			counts[which] = map[string]int{}
		}
		counts[which][string(p.Path)]++
		if counts[which][string(p.Path)] > counts[which][roots[which]] {
			roots[which] = string(p.Path)
		}
	}
	return roots
}
