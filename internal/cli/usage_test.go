package cli

import (
	"strings"
	"testing"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// TestTokensThatAreNotReported: a sum that is too small says so.
func TestTokensThatAreNotReported(t *testing.T) {
	said, unsaid := &runtime.Answer{Usage: runtime.Usage{Input: 10, Output: 2}}, &runtime.Answer{}
	child := &runtime.Run{Agent: "root/1.1", Turns: []runtime.Turn{{Number: 1, Answer: unsaid}}}
	root := &runtime.Run{Agent: "root", Usage: said.Usage, Tree: said.Usage, Turns: []runtime.Turn{
		{Number: 1, Answer: said, Calls: []runtime.CallRecord{{Child: child}}}, {Number: 2, Answer: unsaid}, {Number: 3},
	}}
	assert.DeepEqual(t, usageNotes(root), []string{
		"used 10 input and 2 output tokens; with children 10 input and 2 output tokens; not reported for 1 of 2 turns"})
	assert.DeepEqual(t, usageNotes(child), []string{"tokens not reported"})
	assert.Assert(t, strings.Contains(strings.Join(usageTable(root, prices.List()), "\n"), "\nnot reported for 2 of 3 turns\n"))
	root.Turns = root.Turns[:1]
	root.Turns[0].Calls = nil
	assert.DeepEqual(t, usageNotes(root), []string{"used 10 input and 2 output tokens"})
	assert.Assert(t, !strings.Contains(strings.Join(usageTable(root, prices.List()), "\n"), "not reported"))
}
