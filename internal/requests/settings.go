package requests

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// toolChange compares two lists of tools by name.
func toolChange(old, list jsontext.Value) ToolChange {
	var c ToolChange
	if bytes.Equal(old, list) {
		return c
	}
	oldNames, names := ToolNames(old), ToolNames(list)
	oldTools, tools := elements(old), elements(list)
	defined := map[string]jsontext.Value{}
	for i, name := range oldNames {
		defined[name] = oldTools[i]
	}
	var kept []string
	for i, name := range names {
		before, ok := defined[name]
		switch {
		case !ok:
			c.Added = append(c.Added, name)
			continue
		case !sameJSON(before, tools[i]):
			c.Schema = append(c.Schema, name)
		}
		kept = append(kept, name)
	}
	var stayed []string
	for _, name := range oldNames {
		if slices.Contains(kept, name) {
			stayed = append(stayed, name)
		} else {
			c.Dropped = append(c.Dropped, name)
		}
	}
	c.Order = !slices.Equal(stayed, kept)
	return c
}

// paramChanges lists the parameters with other values, by name.
func paramChanges(old, list []runtime.Param) []ParamChange {
	var changes []ParamChange
	values := func(params []runtime.Param) map[string]jsontext.Value {
		m := map[string]jsontext.Value{}
		for _, p := range params {
			m[p.Name] = p.Value
		}
		return m
	}
	before, now := values(old), values(list)
	var names []string
	for _, params := range [][]runtime.Param{old, list} {
		for _, p := range params {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !sameJSON(before[name], now[name]) {
			changes = append(changes, ParamChange{name, string(before[name]), string(now[name])})
		}
	}
	return changes
}
