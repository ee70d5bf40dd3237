package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// keys are the answers of a review: single keys on a terminal, else the first
// word of a line.
type keys struct {
	terminal *os.File // nil: lines
	lines    *bufio.Reader
	typed    []byte // read and not yet asked for
}

func newKeys(in io.Reader) *keys {
	if file, ok := in.(*os.File); ok && isTerminal(in) {
		return &keys{terminal: file}
	}
	return &keys{lines: bufio.NewReader(in)}
}

// typedKey is one answer, or why there is none.
type typedKey struct {
	key string
	err error
}

// read waits for an answer: io.EOF at the end of the input, context.Canceled
// when the review was interrupted. An answer that comes after that is lost.
func (k *keys) read(ctx context.Context) (string, error) {
	if k.terminal != nil {
		return k.key(ctx)
	}
	got := make(chan typedKey, 1)
	go func() {
		for {
			line, err := k.lines.ReadString('\n')
			if word := strings.TrimSpace(line); word != "" {
				got <- typedKey{word, nil}
				return
			}
			if err != nil {
				got <- typedKey{"", err}
				return
			}
		}
	}()
	return await(ctx, got)
}

func await(ctx context.Context, got <-chan typedKey) (string, error) {
	select {
	case a := <-got:
		return a.key, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Keys that have no letter, as terminals send them.
const (
	ctrlC  = 0x03
	ctrlD  = 0x04
	escape = 0x1b
)

// key reads one key. The terminal is raw only while it waits.
func (k *keys) key(ctx context.Context) (string, error) {
	for len(k.typed) == 0 {
		if err := k.fill(ctx); err != nil {
			return "", err
		}
	}
	key := k.typed[0]
	k.typed = k.typed[1:]
	switch key {
	case ctrlC:
		return "", context.Canceled
	case ctrlD:
		return "", io.EOF
	default:
		return string(rune(key)), nil
	}
}

// fill reads what is typed.
func (k *keys) fill(ctx context.Context) error {
	fd := int(k.terminal.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(fd, old) }() // a terminal that is gone needs no restoring
	typed := make(chan typedKey, 1)
	go func() {
		buffer := make([]byte, 64)
		n, err := k.terminal.Read(buffer)
		typed <- typedKey{string(buffer[:n]), err}
	}()
	text, err := await(ctx, typed)
	if text == "" && err != nil {
		return err
	}
	k.typed = lettersOf(text)
	return nil
}

// lettersOf drops keys that send several bytes, such as arrows, Alt and letters
// beyond ASCII: their last byte must not be taken for a letter of ours.
func lettersOf(typed string) []byte {
	var letters []byte
	for i := 0; i < len(typed); i++ {
		switch {
		case typed[i] >= 0x80:
		case typed[i] != escape:
			letters = append(letters, typed[i])
		case i+1 < len(typed) && (typed[i+1] == '[' || typed[i+1] == 'O'):
			for i += 2; i < len(typed) && (typed[i] < '@' || typed[i] > '~'); i++ { // up to its final byte (ECMA-48, 5.4)
			}
		default:
			i++
		}
	}
	return letters
}
