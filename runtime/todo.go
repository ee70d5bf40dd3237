package runtime

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// TodoToolName is the name of the tool that replaces a todo list.
const TodoToolName = "todo_write"

// TodoStatus is the state of one item.
type TodoStatus string

// The states.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
)

// TodoItem is one step of a plan.
type TodoItem struct {
	Content string     `json:"content" jsonschema:"One step, in a few words."`
	Status  TodoStatus `json:"status"`
}

// TodoList is the plan of one agent, replaced as a whole by its todo_write
// tool. The zero value is an empty list. Safe for concurrent use.
type TodoList struct {
	mu     sync.Mutex
	items  []TodoItem
	writes int
}

//go:embed todo_write.md
var todoDescription string

type todoArguments struct {
	Todos []TodoItem `json:"todos" jsonschema:"The whole list, in order."`
}

// Problems refuses a plan that does two things at once.
func (a todoArguments) Problems() []string {
	working := 0
	for _, item := range a.Todos {
		if item.Status == TodoInProgress {
			working++
		}
	}
	if working > 1 {
		return []string{"todos: at most one item may be in_progress"}
	}
	return nil
}

// Tool returns the todo_write tool that writes l.
func (l *TodoList) Tool() (Tool, error) {
	tool, err := NewTool(TodoToolName, strings.TrimSpace(todoDescription), EffectRead,
		func(_ context.Context, _ Invocation, args todoArguments) (string, error) {
			return l.replace(args.Todos), nil
		})
	if err != nil {
		return Tool{}, err
	}
	item := tool.Schema.Properties["todos"].Items
	item.Properties["content"].MinLength = jsonschema.Ptr(1)
	item.Properties["status"].Enum = []any{string(TodoPending), string(TodoInProgress), string(TodoCompleted)}
	return tool, nil
}

// Items returns a copy of the list.
func (l *TodoList) Items() []TodoItem {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]TodoItem(nil), l.items...)
}

func (l *TodoList) replace(items []TodoItem) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append([]TodoItem(nil), items...)
	l.writes++
	count := make(map[TodoStatus]int)
	for _, item := range items {
		count[item.Status]++
	}
	return fmt.Sprintf("The list now has %d completed, %d in progress and %d pending.",
		count[TodoCompleted], count[TodoInProgress], count[TodoPending])
}

// replay brings the list to where a recorded todo_write left it, so that the
// reminders of a session whose tools are answered from tape stay the same.
func (l *TodoList) replay(arguments string) {
	object, _, problems := decodeArguments(arguments)
	if len(problems) > 0 {
		return
	}
	if args, problems := decodeInto[todoArguments](object); len(problems) == 0 {
		l.replace(args.Todos)
	}
}

// version counts the writes so far.
func (l *TodoList) version() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// reminderEvery is after how many turns without todo_write the root is
// reminded of its open items, and again after as many.
const reminderEvery = 3

// reminder returns the message for a plan that was left alone for the given
// number of turns, or "" when it is not due or nothing is open.
func (l *TodoList) reminder(stale int) string {
	if l == nil || stale == 0 || stale%reminderEvery != 0 {
		return ""
	}
	var open strings.Builder
	for _, item := range l.Items() {
		if item.Status != TodoCompleted {
			fmt.Fprintf(&open, "\n- [%s] %s", item.Status, item.Content)
		}
	}
	if open.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("Reminder: the todo list was not written for %d turns and still has open items:%s\n"+
		"Bring it up to date with %s, or go on if it still holds.", stale, open.String(), TodoToolName)
}
