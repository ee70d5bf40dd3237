package runtime

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// parseUsage reads a usage object; false when v tells nothing. In a stream the
// last one counts, whole: upstreams send running totals.
func parseUsage(v jsontext.Value) (Usage, bool) {
	members, err := membersOf(v)
	if err != nil || len(members) == 0 {
		return Usage{}, false
	}
	input, _ := membersOf(memberOf(members, "prompt_tokens_details"))
	output, _ := membersOf(memberOf(members, "completion_tokens_details"))
	u := Usage{
		Input:     tokens(memberOf(members, "prompt_tokens")),
		Output:    tokens(memberOf(members, "completion_tokens")),
		Cached:    tokens(memberOf(input, "cached_tokens")),
		Reasoning: tokens(memberOf(output, "reasoning_tokens")),
	}
	if u.Cached == 0 {
		u.Cached = tokens(memberOf(members, "prompt_cache_hit_tokens")) // DeepSeek
	}
	// xAI counts reasoning beside completion_tokens and in the total.
	if total := tokens(memberOf(members, "total_tokens")); u.Reasoning > 0 && total == u.Input+u.Output+u.Reasoning {
		u.Output += u.Reasoning
	}
	return u, true
}

// tokens reads a count; 0 for what is none.
func tokens(v jsontext.Value) int {
	if v.Kind() != '0' {
		return 0
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return int(min(n, math.MaxInt32))
}
