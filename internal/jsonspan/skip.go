// Package jsonspan finds where JSON values begin and end, and reads their
// strings, in text that is in memory. It is for histories of 100 MB, whose
// values are cut out several times; that a text is no JSON it reports without
// saying why. jsontext can say it.
package jsonspan

import (
	"encoding/binary"
	"math/bits"
)

// deepest is how deep values may be nested, as in jsontext.
const deepest = 10_000

// Space returns where the white space that begins at i ends.
func Space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// Skip returns the end of the value that begins at i, without white space before
// it. ok is false if no valid JSON value stands there; bytes that are no UTF-8
// and names that are written twice are let pass.
func Skip(text []byte, i int) (end int, ok bool) {
	var room [64]byte
	open := room[:0] // the kinds of the objects and arrays around
	for {
		if i >= len(text) {
			return i, false
		}
		switch c := text[i]; c {
		case '{', '[':
			if len(open) == deepest {
				return i, false
			}
			open = append(open, c)
			if i = Space(text, i+1); i < len(text) && text[i] == c+2 { // '}' and ']' come two after '{' and '['
				break // see closed
			}
			if i, ok = first(text, i, c); !ok {
				return i, false
			}
			continue
		default:
			if i, ok = scalar(text, i); !ok {
				return i, false
			}
		}
		var done bool
		if i, open, done, ok = closed(text, i, open); done || !ok {
			return i, ok
		}
	}
}

// closed goes on behind a value: to the next one, or to the end of all that is
// open.
func closed(text []byte, i int, open []byte) (end int, left []byte, done, ok bool) {
	for len(open) > 0 {
		kind := open[len(open)-1]
		if i = Space(text, i); i >= len(text) {
			return i, open, false, false
		}
		switch text[i] {
		case kind + 2:
			open = open[:len(open)-1]
			i++
		case ',':
			i, ok = first(text, Space(text, i+1), kind)
			return i, open, false, ok
		default:
			return i, open, false, false
		}
	}
	return i, open, true, true
}

// first returns where the next value in an object or an array begins: in an
// object behind its name.
func first(text []byte, i int, kind byte) (at int, ok bool) {
	if kind == '[' {
		return i, true
	}
	_, i, ok = Name(text, i)
	return i, ok
}

// Name reads the name of a member that begins at i, still quoted, and returns
// where its value begins.
func Name(text []byte, i int) (quoted []byte, value int, ok bool) {
	if i >= len(text) || text[i] != '"' {
		return nil, i, false
	}
	end, ok := quotedEnd(text, i)
	if !ok {
		return nil, end, false
	}
	colon := Space(text, end)
	if colon >= len(text) || text[colon] != ':' {
		return nil, colon, false
	}
	return text[i:end:end], Space(text, colon+1), true
}

func scalar(text []byte, i int) (end int, ok bool) {
	switch text[i] {
	case '"':
		return quotedEnd(text, i)
	case 't':
		return word(text, i, "true")
	case 'f':
		return word(text, i, "false")
	case 'n':
		return word(text, i, "null")
	}
	return number(text, i)
}

func word(text []byte, i int, want string) (end int, ok bool) {
	end = i + len(want)
	return end, end <= len(text) && string(text[i:end]) == want
}

// number reads a number as RFC 8259 has it.
func number(text []byte, i int) (end int, ok bool) {
	if i < len(text) && text[i] == '-' {
		i++
	}
	from := i
	i = digits(text, i)
	if i == from || text[from] == '0' && i > from+1 {
		return i, false
	}
	if i < len(text) && text[i] == '.' {
		from = i + 1
		if i = digits(text, from); i == from {
			return i, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		from = i
		if i = digits(text, from); i == from {
			return i, false
		}
	}
	return i, true
}

func digits(text []byte, i int) int {
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return i
}

// Eight bytes are looked at at once. The lowest byte that is marked is one that
// is looked for; those above it may be marked by the carry. See
// https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// quotedEnd returns the end of the string that begins with the quote at i.
func quotedEnd(text []byte, i int) (end int, ok bool) {
	i++
	for {
		for i+8 <= len(text) {
			x := binary.LittleEndian.Uint64(text[i:])
			quote, back := x^ones*'"', x^ones*'\\'
			mark := ((quote-ones)&^quote | (back-ones)&^back | (x-ones*' ')&^x) & highs
			if mark != 0 {
				i += bits.TrailingZeros64(mark) / 8
				break
			}
			i += 8
		}
		if i >= len(text) {
			return i, false
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1, true
		case c == '\\':
			if i, ok = escape(text, i); !ok {
				return i, false
			}
		case c < ' ':
			return i, false
		default:
			i++
		}
	}
}

// escape returns the end of the escape that begins with the backslash at i.
func escape(text []byte, i int) (end int, ok bool) {
	if i+1 >= len(text) {
		return len(text), false
	}
	switch text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, true
	case 'u':
		if i+6 > len(text) {
			return len(text), false
		}
		for _, c := range text[i+2 : i+6] {
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return i, false
			}
		}
		return i + 6, true
	}
	return i, false
}
