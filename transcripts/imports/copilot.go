package imports

import (
	"bytes"
	"iter"
	"regexp"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"go.yaml.in/yaml/v3"
)

// copilotSDK reads the snapshots that the tests of the Copilot SDK keep: in YAML,
// what was asked and answered, request by request. A request that another one
// begins with is left out there, so a conversation is an agent's list at some
// time.
var copilotSDK = Importer{Name: formatCopilot, Title: "Copilot SDK snapshot", Detect: isCopilot, Read: readCopilot}

const formatCopilot = "copilot-sdk"

var (
	copilotList     = regexp.MustCompile(`(?m)^conversations:`)
	copilotMessages = regexp.MustCompile(`(?m)^ *-? *messages:`)
)

func isCopilot(data []byte) bool {
	data = trim(data)
	if start := bytes.TrimLeft(data[:min(len(data), 256)], " \t\r\n"); len(start) == 0 || start[0] == '{' || start[0] == '[' {
		return false // JSON, which may be long
	}
	return copilotList.Match(data) && copilotMessages.Match(data)
}

func readCopilot(path string, data []byte) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		data = trim(data)
		root, line, fault, err := parseYAML(data)
		if err != nil {
			yield(nil, &transcripts.SyntaxError{File: path, Line: line, Msg: "no YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")})
			return
		}
		c := &copilotFile{builder: transcripts.NewHistory(path, "", formatCopilot), limit: 1<<20 + 16*len(data)}
		if fault != "" {
			c.builder.Warn(line, fault)
		}
		c.read(root)
		c.tell(c.builder)
		h := c.builder.History()
		if h == nil {
			yield(nil, nothing(path, c.builder.Warnings()))
			return
		}
		yield(h, nil)
	}
}

// copilotFile is one snapshot on its way.
type copilotFile struct {
	losses
	builder *transcripts.HistoryBuilder
	limit   int // of the JSON of a message
	model   string
	agents  []*copilotAgent
	briefs  []*copilotBrief
	summary string // of a compaction whose result was not used yet
}

// copilotBrief is what a call told the agent that it started.
type copilotBrief struct {
	parent *copilotAgent
	callID string
	prompt string
	taken  bool
}

// copilotMessage is one message, and what it is known by: the snapshots do not
// keep results alike in all places.
type copilotMessage struct {
	runtime.Message
	key  string
	line int
}

func (c *copilotFile) read(root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch name, value := root.Content[i].Value, root.Content[i+1]; {
		case name == "models" && value.Kind == yaml.SequenceNode && len(value.Content) == 1:
			c.model = value.Content[0].Value
		case name == "models" && value.Kind == yaml.SequenceNode:
			c.lose("model that no conversation names", len(value.Content))
		case name == "conversations":
		case name == "errors" && value.Kind == yaml.SequenceNode:
			c.lose("failed request", len(value.Content))
		default:
			c.member(name)
		}
	}
	conversations := field(root, "conversations")
	if conversations == nil {
		return
	}
	for _, one := range conversations.Content {
		if list := c.messages(one); len(list) > 0 {
			c.place(list)
		}
	}
}

// messages reads the messages of one conversation. The answer at its end has its
// text and each of its calls in messages of their own, which are one.
func (c *copilotFile) messages(one *yaml.Node) []copilotMessage {
	nodes := field(one, "messages")
	if nodes == nil {
		c.builder.Warn(one.Line, "left out, a conversation without messages")
		return nil
	}
	for i := 0; i+1 < len(one.Content); i += 2 {
		if name := one.Content[i].Value; name != "messages" {
			c.lose("\""+name+"\" member of a conversation", 1)
		}
	}
	var list []copilotMessage
	var open []runtime.Message
	line := 0
	flush := func() {
		if len(open) > 0 {
			list = append(list, newCopilotMessage(runtime.MergeAssistant(open), line))
			open = nil
		}
	}
	for _, node := range nodes.Content {
		raw, err := jsonOf(node, c.limit)
		var m runtime.Message
		if err == nil {
			m, err = runtime.ParseMessage(raw)
		}
		switch {
		case err != nil:
			c.builder.Warn(node.Line, notRead(err))
		case m.Role == runtime.RoleAssistant:
			if len(open) == 0 {
				line = node.Line
			}
			open = append(open, m)
		default:
			flush()
			list = append(list, newCopilotMessage(m, node.Line))
		}
	}
	flush()
	return list
}

func newCopilotMessage(m runtime.Message, line int) copilotMessage {
	var key bytes.Buffer
	for _, part := range []string{string(m.Role), m.CallID} {
		key.WriteString(part + "\x00")
	}
	if m.Role != runtime.RoleTool { // a result is known by its call
		key.WriteString(strings.TrimSpace(m.Content))
	}
	for _, call := range m.Calls {
		key.WriteString("\x00" + call.ID + "\x00" + call.Name + "\x00" + call.Arguments)
	}
	return copilotMessage{m, key.String(), line}
}
