// Command openai-go is an agent on the official Go SDK: the pair job as JSON,
// then a parent whose tool `delegate` runs children side by side, streamed. The
// SDK reads OPENAI_BASE_URL and OPENAI_API_KEY itself.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/openai/openai-go/v3"
)

const (
	system    = "You explain words. Use the tools for every word."
	reader    = "You read one entry of the glossary and report."
	mostTurns = 8
)

var entries = map[string]string{
	"root": "root-entry: the part of a tree from which all else grows",
	"leaf": "leaf-entry: the part of a tree from which nothing grows",
	"tape": "tape-entry: a strip that keeps what was said to it",
	"tree": "tree-entry: a thing that branches and never meets itself again",
}

type agent struct {
	client openai.Client
	stream bool
}

func main() {
	client := openai.NewClient()
	whole, err := agent{client: client}.converse(system, "PAIR-JOB as JSON: what do root and leaf mean, and moss?", false)
	if err == nil {
		fmt.Println("json:", whole)
		whole, err = agent{client: client, stream: true}.converse(system, "EDITORIAL: what is the difference between a tape and a tree?", true)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("stream:", whole)
}

// converse is one conversation to its end; parents may delegate.
func (a agent) converse(instructions, prompt string, parent bool) (string, error) {
	params := openai.ChatCompletionNewParams{
		Model:    "scripted",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions), openai.UserMessage(prompt)},
		Tools:    []openai.ChatCompletionToolUnionParam{tool("lookup", "Gives the entry of a word.", "word", "one word, in lower case")},
	}
	if parent {
		params.Tools = append(params.Tools, tool("delegate", "Lets a reader with a conversation of its own do a job and gives its report.", "brief", "all that the reader must know"))
	}
	for range mostTurns {
		message, err := a.ask(params)
		if err != nil {
			return "", err
		}
		if len(message.ToolCalls) == 0 {
			return message.Content, nil
		}
		params.Messages = append(params.Messages, message.ToParam())
		results := make([]openai.ChatCompletionMessageParamUnion, len(message.ToolCalls))
		var calls sync.WaitGroup
		for i, call := range message.ToolCalls {
			calls.Go(func() {
				results[i] = openai.ToolMessage(a.handle(call.Function.Name, call.Function.Arguments), call.ID)
			})
		}
		calls.Wait()
		params.Messages = append(params.Messages, results...)
	}
	return "", fmt.Errorf("%s did not finish in %d turns", prompt, mostTurns)
}

func (a agent) ask(params openai.ChatCompletionNewParams) (openai.ChatCompletionMessage, error) {
	if !a.stream {
		answer, err := a.client.Chat.Completions.New(context.Background(), params)
		if err != nil {
			return openai.ChatCompletionMessage{}, err
		}
		return answer.Choices[0].Message, nil
	}
	stream := a.client.Chat.Completions.NewStreaming(context.Background(), params)
	var answer openai.ChatCompletionAccumulator
	for stream.Next() {
		answer.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		return openai.ChatCompletionMessage{}, err
	}
	return answer.Choices[0].Message, nil
}

func (a agent) handle(name, text string) string {
	var input struct{ Word, Brief string }
	if err := json.Unmarshal([]byte(text), &input); err != nil {
		return "Error: " + err.Error()
	}
	if name == "lookup" {
		if entry, ok := entries[input.Word]; ok {
			return entry
		}
		return "Error: " + input.Word + " has no entry"
	}
	report, err := a.converse(reader, input.Brief, false)
	if err != nil {
		return "Error: " + err.Error()
	}
	return report
}

func tool(name, description, argument, about string) openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: name, Description: openai.String(description),
		Parameters: openai.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{argument: map[string]any{"type": "string", "description": about}},
			"required":   []string{argument},
		},
	})
}
