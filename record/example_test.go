package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapetree/tapetree/record"
)

// message is one message of a chat completion.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// ask is an agent as many write it: it asks the model until there is no call
// left. Its one tool hands a task to another agent like it.
func ask(client *http.Client, baseURL, prompt string) (string, error) {
	messages := []message{{Role: "user", Content: prompt}}
	for {
		body, err := json.Marshal(map[string]any{"model": "some-model", "messages": messages})
		if err != nil {
			return "", err
		}
		resp, err := client.Post(baseURL+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s: %s %v", resp.Status, data, err)
		}
		var answer struct {
			Choices []struct{ Message message }
		}
		if err := json.Unmarshal(data, &answer); err != nil || len(answer.Choices) == 0 {
			return "", fmt.Errorf("no answer in %s: %v", data, err)
		}
		said := answer.Choices[0].Message
		if len(said.Calls) == 0 {
			return said.Content, nil
		}
		messages = append(messages, said)
		for _, c := range said.Calls {
			var arguments struct{ Task string }
			if err := json.Unmarshal([]byte(c.Function.Arguments), &arguments); err != nil {
				return "", err
			}
			report, err := ask(client, baseURL, arguments.Task)
			if err != nil {
				return "", err
			}
			messages = append(messages, message{Role: "tool", CallID: c.ID, Content: report})
		}
	}
}

// model stands for the real one: what it answers hangs on what it was asked.
func model() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := `{"role":"assistant","content":"There are 3 files."}`
		switch asked := string(body); {
		case strings.Contains(asked, `"role":"tool"`):
			answer = `{"role":"assistant","content":"The helper found 3 files."}`
		case strings.Contains(asked, "How many files"):
			answer = `{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"delegate","arguments":"{\"task\":\"Count the files of this folder.\"}"}}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":%s,"finish_reason":"stop"}]}`, answer)
	}))
}

// Create records what an agent and its subagents ask. Open answers the same
// requests from the transcript, and its Close says what was asked otherwise.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "count.jsonl")

	server := model()
	recording, err := record.Create(path, record.TapeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := ask(&http.Client{Transport: recording}, server.URL+"/v1", "How many files are there?")
	fmt.Println("recorded:", answer, err, recording.Close())
	server.Close() // from here on there is no model

	tape, err := record.Open(path, record.TapeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err = ask(&http.Client{Transport: tape}, server.URL+"/v1", "How many files are there?")
	fmt.Println("replayed:", answer, err, tape.Close())
	fmt.Println("grade:", tape.Report().Grade, "exchanges:", tape.Report().Used)

	changed, err := record.Open(path, record.TapeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = ask(&http.Client{Transport: changed}, server.URL+"/v1", "How many files are here?")
	failed := strings.Split(changed.Close().Error(), "\n")
	fmt.Println("changed:", failed[1])
	// Output:
	// recorded: The helper found 3 files. <nil> <nil>
	// replayed: The helper found 3 files. <nil> <nil>
	// grade: exact exchanges: 3
	// changed: replay/history root#1: /messages/0/content: recorded "How many files are there?", sent "How many files are here?"
}
