package cli

import (
	"errors"
	"os"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// secrets knows the secrets of the environment, which no server, model or tool
// gets back onto the terminal.
func (a *app) secrets() *record.Redactor {
	a.redactOnce.Do(func() { // several files are read at once
		a.redact = record.NewRedactor(append(os.Environ(), "OPENAI_API_KEY="+a.env("OPENAI_API_KEY")))
	})
	return a.redact
}

// hidden is e with its texts gone through hide.
func hidden(e runtime.Event, hide func(string) string) runtime.Event {
	e.Label, e.Text = hide(e.Label), hide(e.Text)
	if e.Err != nil {
		e.Err = errors.New(hide(e.Err.Error()))
	}
	if e.Answer != nil {
		answer := *e.Answer
		answer.Message.Content = hide(answer.Message.Content)
		e.Answer = &answer
	}
	if e.Call != nil {
		call := *e.Call
		call.Name, call.Arguments, call.Result = hide(call.Name), hide(call.Arguments), hide(call.Result)
		e.Call = &call
	}
	return e
}
