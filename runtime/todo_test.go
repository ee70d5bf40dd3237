package runtime

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
)

func planner(t testing.TB, s *script) *Runner {
	list := new(TodoList)
	write, err := list.Tool()
	assert.NilError(t, err)
	r := runnerOf(s, write)
	r.Todo = list
	return r
}

const openPlan = `{"todos":[{"content":"read","status":"completed"},{"content":"write","status":"in_progress"},{"content":"test","status":"pending"}]}`

const openReminder = "Reminder: the todo list was not written for 3 turns and still has open items:\n" +
	"- [in_progress] write\n- [pending] test\nBring it up to date with todo_write, or go on if it still holds."

// reminders renders where reminders stood.
func reminders(run *Run) []string {
	var lines []string
	for _, turn := range run.Turns {
		if turn.Reminder != "" {
			lines = append(lines, fmt.Sprintf("%d %s", turn.Number, turn.Reminder))
		}
	}
	return lines
}

// TestReminder: after three turns without todo_write while an item is open, then
// after three more; a write starts the count anew; a refused write does not.
func TestReminder(t *testing.T) {
	plan := "p todo_write " + openPlan
	other := "- echo {}"
	second := "Reminder: the todo list was not written for 6 turns" + openReminder[len("Reminder: the todo list was not written for 3 turns"):]
	for _, tt := range []struct {
		name  string
		calls []string // one a turn
		want  []string
	}{
		{"no plan", []string{other, other, other, other, other}, nil},
		{"three turns after", []string{plan, other, other, other}, []string{"5 " + openReminder}},
		{"two turns after", []string{plan, other, other}, nil},
		{"six turns after", []string{plan, other, other, other, other, other, other}, []string{"5 " + openReminder, "8 " + second}},
		{"written again", []string{plan, other, other, "- todo_write " + openPlan, other, other}, nil},
		{"refused write", []string{plan, other, "- todo_write {}", other}, []string{"5 " + openReminder}},
		{"all done", []string{`- todo_write {"todos":[{"content":"read","status":"completed"}]}`, other, other, other}, nil},
		{"emptied", []string{plan, `- todo_write {"todos":[]}`, other, other, other}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t)
			for _, call := range tt.calls {
				s.on(Root, calling(call))
			}
			s.on(Root, saying("done"))
			var log eventLog
			r := planner(t, s)
			r.Observe = log.observe
			run, err := r.Run(t.Context(), "go")
			assert.NilError(t, err)
			assert.DeepEqual(t, reminders(run), tt.want)
			for _, turn := range run.Turns {
				messages := turn.Sent.Messages()
				last := messages[len(messages)-1]
				assert.Equal(t, turn.Reminder != "", turn.Number > 1 && last.Role == RoleUser)
				if turn.Reminder != "" {
					assert.Equal(t, last.Content, turn.Reminder)
				}
			}
		})
	}
}

// TestReminderFromTape: a plan written on tape is remembered like a live one.
func TestReminderFromTape(t *testing.T) {
	for result, want := range map[string]int{"written": 1, "Error [hook_blocked]: no": 0} {
		s := newScript(t).on(Root, calling("p todo_write "+openPlan), calling("- echo {}"), calling("- echo {}"), calling("- echo {}"), saying("done"))
		r := planner(t, s)
		r.Tape = tapeFunc(func(Place, CallRecord) (Verdict, string, bool, error) { return VerdictAllow, result, true, nil })
		run, err := r.Run(t.Context(), "go")
		assert.NilError(t, err)
		assert.Equal(t, len(reminders(run)), want)
	}
}

// TestNoReminderForChildren: not even for a runner that was given a list.
func TestNoReminderForChildren(t *testing.T) {
	s := newScript(t)
	r := planner(t, s)
	r.Agent = "root/1.1"
	s.on(r.Agent, calling("p todo_write "+openPlan), calling("- echo {}"), calling("- echo {}"), calling("- echo {}"), saying("done"))
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, len(reminders(run)), 0)
}

// TestTodoWrite: the whole list is replaced or nothing is.
func TestTodoWrite(t *testing.T) {
	s := newScript(t).on(Root,
		calling("- todo_write "+openPlan),
		calling(`- todo_write {"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			`- todo_write {"todos":[{"content":"","status":"done","extra":1}]}`,
			`- todo_write {"todos":null}`, `- todo_write {}`),
		saying("done"))
	r := planner(t, s)
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	const refused = "todo_write invalid: Error [invalid_arguments]: "
	assert.DeepEqual(t, outcomes(run), []string{
		"1.1 call-1.1 todo_write allow: The list now has 1 completed, 1 in progress and 1 pending.",
		"2.1 call-2.1 " + refused + "todos: at most one item may be in_progress",
		"2.2 call-2.2 " + refused + "todos[0].content: must not be empty; todos[0].extra: is not a field of this tool; todos[0].status: must be one of pending, in_progress, completed",
		"2.3 call-2.3 " + refused + "todos: must be an array",
		"2.4 call-2.4 " + refused + "todos: is required",
	})
	assert.DeepEqual(t, r.Todo.Items(), []TodoItem{{"read", TodoCompleted}, {"write", TodoInProgress}, {"test", TodoPending}})
}

// TestChildPlanOnTape: a plan that a child wrote on tape is none of its
// parent's.
func TestChildPlanOnTape(t *testing.T) {
	f := newFamily(t, nil)
	f.root.Todo = new(TodoList)
	f.root.Tape = tapeFunc(func(Place, CallRecord) (Verdict, string, bool, error) { return VerdictAllow, "written", true, nil })
	f.on(Root, calling(`a task {"description":"x"}`), saying("done"))
	f.on("root/1.1", calling("- todo_write "+openPlan), saying("found"))
	f.run(t.Context())
	assert.Equal(t, len(f.root.Todo.Items()), 0)
}
