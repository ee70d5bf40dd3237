package main

import (
	"fmt"

	"github.com/tapetree/tapetree/runtime"
)

// modelName is what the scripted upstream calls itself.
const modelName = "scripted-1"

// script is what the upstream answers, by key.
type script map[string]reply

// key is where a reply stands: "root/1.1 3", with a third number for a try
// after the first.
func key(place runtime.Place) string {
	if place.Try > 1 {
		return fmt.Sprintf("%s %d %d", place.Agent, place.Turn, place.Try)
	}
	return fmt.Sprintf("%s %d", place.Agent, place.Turn)
}

// agent spells the turns of one agent, one reply a turn from turn 1.
func (s script) agent(path string, replies ...reply) script {
	for i, r := range replies {
		s[fmt.Sprintf("%s %d", path, i+1)] = r
	}
	return s
}

// try adds the reply of a later try of a turn.
func (s script) try(path string, turn, try int, r reply) script {
	s[fmt.Sprintf("%s %d %d", path, turn, try)] = r
	return s
}

// root starts a script with the parent's turns.
func root(replies ...reply) script { return script{}.agent("root", replies...) }

func task(description string) toolCall {
	return call("task", `{"description":`+str(description)+`}`)
}

func read(path string) toolCall { return call("read_file", `{"path":`+str(path)+`}`) }

func glob(pattern string) toolCall { return call("glob", `{"pattern":`+str(pattern)+`}`) }

func write(path, content string) toolCall {
	return call("write_file", `{"path":`+str(path)+`,"content":`+str(content)+`}`)
}

func edit(path, old, new string) toolCall {
	return call("edit_file", `{"path":`+str(path)+`,"old_string":`+str(old)+`,"new_string":`+str(new)+`}`)
}

func todo(items string) toolCall { return call("todo_write", `{"todos":[`+items+`]}`) }

func item(content, status string) string {
	return `{"content":` + str(content) + `,"status":` + str(status) + `}`
}

// scripts holds the responses of every authored transcript, by scenario name.
func scripts() map[string]script {
	return mergeScripts(
		isolationScripts(), pairingScripts(), recursionScripts(), boundaryScripts(), limitScripts(), argumentScripts(), failureScripts(),
		permissionScripts(), hookScripts(), planScripts(), streamScripts(), interruptScripts(), miniScripts(),
	)
}
