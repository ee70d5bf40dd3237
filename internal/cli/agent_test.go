package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
)

// message is one of chat completions, as the agent and the model of the scripts
// need it.
type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func newCall(id, name, arguments string) toolCall {
	call := toolCall{ID: id, Type: "function"}
	call.Function.Name, call.Function.Arguments = name, arguments
	return call
}

// newModel is the upstream of the scripts: it delegates two tasks at once, lets
// each child look once, and sums up. A prompt with the word "overloaded" is
// answered with 503 once, and what comes below /v1/closed with 401.
func newModel(atEnd func(func())) string {
	var mu sync.Mutex
	overloaded := true
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"scripted","object":"model"}]}`)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/v1/closed/") {
			http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
			return
		}
		var request struct {
			Messages []message `json:"messages"`
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &request)
		mu.Lock()
		refuse := overloaded && bytes.Contains(body, []byte("overloaded"))
		overloaded = overloaded && !refuse
		mu.Unlock()
		if refuse {
			w.Header().Set("Retry-After", "1")
			http.Error(w, `{"error":{"message":"try again"}}`, http.StatusServiceUnavailable)
			return
		}
		answer := modelAnswer(request.Messages)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted",
			"choices": []any{map[string]any{"index": 0, "message": answer, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		})
	}))
	atEnd(s.Close)
	return s.URL + "/v1"
}

// lookFirst is what the model says beside its calls.
const lookFirst = "Let me see."

func modelAnswer(messages []message) message {
	last := messages[len(messages)-1]
	first := messages[1].Content
	topic, isChild := strings.CutPrefix(first, "Look into ")
	switch {
	case isChild && last.Role == "user":
		return message{Role: "assistant", Content: lookFirst, Calls: []toolCall{newCall("call_look_"+topic+"_1", "look", `{"at":"`+topic+`"}`)}}
	case isChild:
		return message{Role: "assistant", Content: "Report: " + topic + " is in good order."}
	case last.Role == "user":
		return message{Role: "assistant", Content: lookFirst, Calls: []toolCall{
			newCall("call_delegate_1", "delegate", `{"brief":"Look into apples"}`),
			newCall("call_delegate_2", "delegate", `{"brief":"Look into pears"}`),
		}}
	default:
		return message{Role: "assistant", Content: "Both are in good order."}
	}
}

// agent is the program that the scripts record: a parent with two children that
// run at once. It does what its flags say.
type agent struct {
	system  string
	rewrite bool // changes an older message of the parent
	extra   bool // asks once more at the end
	stream  bool // is answered by streams, and waits for their end
}

// agentMain is the program's main function.
func agentMain() int {
	a := &agent{}
	flags := flag.NewFlagSet("agent", flag.ExitOnError)
	flags.StringVar(&a.system, "system", "You are a parent.", "")
	flags.BoolVar(&a.rewrite, "rewrite", false, "")
	flags.BoolVar(&a.extra, "extra", false, "")
	flags.BoolVar(&a.stream, "stream", false, "")
	exit := flags.Int("exit", 0, "")
	die := flags.Bool("die", false, "")
	quiet := flags.Bool("ask-nothing", false, "")
	list := flags.Bool("models", false, "")
	note := flags.String("write", "", "")
	_ = flags.Parse(os.Args[1:])
	if *quiet {
		return *exit
	}
	if *list {
		response, err := http.Get(os.Getenv("OPENAI_BASE_URL") + "/models")
		if err == nil {
			_, _ = io.Copy(os.Stdout, response.Body)
			fmt.Println()
		}
	}
	answer, err := a.run(a.system, flags.Arg(0), true)
	if err == nil && a.extra {
		_, err = a.ask([]message{{Role: "system", Content: a.system}, {Role: "user", Content: "And now?"}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		return 9
	}
	if *note != "" {
		_ = os.WriteFile(*note, []byte(answer+"\n"), 0o644)
	}
	if *die {
		dieOfInterrupt()
	}
	fmt.Println(answer)
	return *exit
}

// run is one agent's loop.
func (a *agent) run(system, prompt string, isParent bool) (string, error) {
	history := []message{{Role: "system", Content: system}, {Role: "user", Content: prompt}}
	for {
		answer, err := a.ask(history)
		if err != nil || len(answer.Calls) == 0 {
			return answer.Content, err
		}
		results, errs := make([]string, len(answer.Calls)), make([]error, len(answer.Calls))
		var children sync.WaitGroup
		for i, call := range answer.Calls {
			if call.Function.Name == "look" {
				results[i] = "all is well"
				continue
			}
			var args struct{ Brief string }
			_ = json.Unmarshal([]byte(call.Function.Arguments), &args)
			children.Go(func() { results[i], errs[i] = a.run("You are a child.", args.Brief, false) })
		}
		children.Wait()
		history = append(history, answer)
		for i, call := range answer.Calls {
			if errs[i] != nil {
				return "", errs[i]
			}
			history = append(history, message{Role: "tool", CallID: call.ID, Content: results[i]})
		}
		if a.rewrite && isParent {
			history[1].Content += " Quickly."
		}
	}
}

// ask sends one request, and tries again what may go away.
func (a *agent) ask(history []message) (message, error) {
	body, _ := json.Marshal(map[string]any{"model": "scripted", "messages": history, "tools": []any{
		map[string]any{"type": "function", "function": map[string]any{"name": "delegate"}},
		map[string]any{"type": "function", "function": map[string]any{"name": "look"}},
	}})
	for try := 1; ; try++ {
		request, err := http.NewRequest(http.MethodPost, os.Getenv("OPENAI_BASE_URL")+"/chat/completions", bytes.NewReader(body))
		if err != nil {
			return message{}, err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
		request.Header.Set("User-Agent", "script-agent/1.0")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return message{}, err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode >= 500 && try < 3 {
			continue
		}
		if a.stream && response.StatusCode == http.StatusOK { // the end of it is all that counts here
			call := newCall("call_look_1", "look", `{"at":"pears"}`)
			return message{Role: "assistant", Calls: []toolCall{call}}, err
		}
		var decoded struct {
			Choices []struct{ Message message }
		}
		if err == nil && response.StatusCode == http.StatusOK {
			err = json.Unmarshal(text, &decoded)
		}
		if err != nil || len(decoded.Choices) != 1 {
			return message{}, fmt.Errorf("status %d: %s (%v)", response.StatusCode, bytes.TrimSpace(text), err)
		}
		return decoded.Choices[0].Message, nil
	}
}
