package histories_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// TestRecordedFamilies: on cassettes of programs whose agents delegate, the
// children are told from their parents. Each was read by eye.
func TestRecordedFamilies(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("recorded data is not here: %v", err)
	}
	crew := "crewAIInc__crewAI/lib/crewai/tests/cassettes/"
	for name, want := range map[string][]string{
		crew + "test_agent_usage_metrics_are_captured_for_hierarchical_process.yaml": {"root 2", "root/1.1 1"},
		crew + "test_crew_with_delegating_agents.yaml":                               {"root 2", "root/1.1 1"},
		crew + "test_hierarchical_verbose_manager_agent.yaml":                        {"root 2", "root/1.1 1", "root/1.2 1"},
		crew + "test_output_json_dict_hierarchical.yaml":                             {"root 2", "root/1.1 1"},
		crew + "test_output_json_hierarchical.yaml":                                  {"root 2", "root/1.1 1"},
		// The manager delegated, gave that up, and asked anew from the beginning.
		crew + "test_output_pydantic_hierarchical.yaml":                                   {"root 1", "root/1.1 0", "root2 2", "root2/1.1 1"},
		"docker__cagent/e2e/testdata/cassettes/TestRuntime_MultiAgent_SessionReload.yaml": {"root 3", "root/1.1 1"},
		// One answer is all that it holds.
		"docker__cagent/e2e/testdata/cassettes/TestA2AServer_MultiAgent.yaml": {"root 1"},
	} {
		for h, err := range histories.Each(t.Context(), filepath.Join(shared, name), histories.Options{}) {
			assert.NilError(t, err)
			var got []string
			h.Walk(func(r *runtime.Run) {
				got = append(got, string(r.Agent)+" "+string(rune('0'+len(r.Turns))))
			})
			assert.DeepEqual(t, got, want)
		}
	}
}
