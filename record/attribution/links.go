package attribution

import "slices"

// unlinked decides a draw between calls of one thread that name what an earlier
// call of it set up, as in run{agent: "ann", task: T} after
// spawn{agent: "ann", role: R}: R stands in the opening of ann's child.
func unlinked(best []evidence, o *opening) []evidence {
	for _, e := range best {
		if e.call.thread() != best[0].call.thread() || len(e.call.children) > 0 {
			return best
		}
	}
	return keepMost(best, func(e evidence) int { return linked(e.call, o) })
}

// linked counts the bytes of the opening's texts that earlier calls hold that
// have a text in common with c.
func linked(c *call, o *opening) int {
	n := 0
	for _, u := range c.thread().turns[:c.turn().n-1] {
		for _, earlier := range u.last().calls {
			if !slices.ContainsFunc(earlier.strings, func(text string) bool { return slices.Contains(c.strings, text) }) {
				continue
			}
			for _, text := range earlier.strings {
				if slices.Contains(o.system, text) || slices.Contains(o.user, text) {
					n += len(text)
				}
			}
		}
	}
	return n
}
