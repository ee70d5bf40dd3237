// Package suggest finds the word that a mistyped one was meant to be.
package suggest

// Nearest returns the word of known that word was most likely meant to be, or
// "" when none is close enough. Letter case and the separators - _ . and space
// do not count as differences; otherwise one edit (a letter added, dropped,
// changed, or two neighbours swapped) is allowed for each three letters of the
// word, at least one and at most three. Of equally close words the first of
// known wins, so the answer does not depend on anything but the arguments.
func Nearest(word string, known []string) string {
	typed := fold(word)
	best, bestDistance := "", allowed(len(typed))+1
	for _, candidate := range known {
		if d := distance(typed, fold(candidate), bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// allowed is the greatest distance at which a word of n letters is still taken
// for a typing error. A word of one or two letters is near to everything.
func allowed(n int) int {
	switch {
	case n < 3:
		return 0
	case n < 6:
		return 1
	case n < 9:
		return 2
	default:
		return 3
	}
}

// fold lower-cases a word and drops its separators.
func fold(word string) []rune {
	var folded []rune
	for _, r := range word {
		switch {
		case r == '-' || r == '_' || r == '.' || r == ' ':
		case 'A' <= r && r <= 'Z':
			folded = append(folded, r+'a'-'A')
		default:
			folded = append(folded, r)
		}
	}
	return folded
}

// distance is the number of edits between a and b (optimal string alignment),
// or some number of at least limit when it is not below limit.
func distance(a, b []rune, limit int) int {
	if gap := len(a) - len(b); gap >= limit || -gap >= limit {
		return limit
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := above[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			row[j] = min(changed, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
