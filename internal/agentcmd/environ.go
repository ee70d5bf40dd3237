package agentcmd

import (
	"slices"
	"strings"
)

// OfflineKey stands for every key of a model while no model is asked.
const OfflineKey = "tapetree-offline-key"

// The variables in which clients of models look for the address of the API, as
// their own pages name them. Those of the first list end in /v1, those of the
// second do not.
var (
	openAIVariables = []string{
		"OPENAI_BASE_URL",     // the OpenAI SDKs and what is built on them
		"OPENAI_API_BASE",     // LangChain, LiteLLM, aider
		"OPENAI_BASE",         // scripts of the time before the SDKs agreed
		"OPENAI_API_BASE_URL", // Open WebUI
	}
	hostVariables = []string{
		"TAPETREE_URL",       // for a program that has a setting of its own
		"OPENAI_HOST",        // goose
		"ANTHROPIC_BASE_URL", // the Anthropic SDKs and Claude Code
		"ANTHROPIC_API_URL",  // LangChain
		"ANTHROPIC_API_BASE", // LiteLLM
		"ANTHROPIC_HOST",     // goose
	}
)

// keyVariables are those that clients ask for before they send anything.
var keyVariables = []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}

// Variables lists the names of the variables that Environ points at us.
func Variables() []string { return append(slices.Clone(openAIVariables), hostVariables...) }

// Environ is base with all variables that clients of models read pointed at
// host ("http://127.0.0.1:PORT", or with /s/NAME behind it). With replay set no
// key of a model is in it: OPENAI_API_KEY, ANTHROPIC_API_KEY and every variable
// of base that is named like one hold OfflineKey.
func Environ(base []string, host string, replay bool) []string {
	set := map[string]string{}
	for _, name := range openAIVariables {
		set[name] = host + "/v1"
	}
	for _, name := range hostVariables {
		set[name] = host
	}
	if replay {
		for _, name := range keyVariables {
			set[name] = OfflineKey
		}
	}
	direct := ""
	var environ []string
	for _, line := range base {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case set[name] != "":
			continue
		case strings.EqualFold(name, "NO_PROXY"):
			if value != "" {
				direct = value
			}
			continue
		case replay && isModelKey(name) && value != "":
			line = name + "=" + OfflineKey
		}
		environ = append(environ, line)
	}
	names := Variables()
	if replay {
		names = append(names, keyVariables...)
	}
	for _, name := range names {
		environ = append(environ, name+"="+set[name])
	}
	direct = strings.TrimPrefix(direct+",127.0.0.1,localhost", ",")
	return append(environ, "NO_PROXY="+direct, "no_proxy="+direct)
}

// isModelKey reports whether a variable is named like one that holds the key of
// a model's vendor.
func isModelKey(name string) bool {
	name = strings.ToUpper(name)
	for _, ending := range []string{"API_KEY", "API_TOKEN", "AUTH_TOKEN"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return name == "HF_TOKEN" || name == "CLAUDE_CODE_OAUTH_TOKEN"
}
