package runtime

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestUnpaired: each way in which calls and results can fail to match.
func TestUnpaired(t *testing.T) {
	for history, want := range map[string]string{
		"s=0 u=0 a:1,2=0 t:1=0 t:2=0 a=0":     "",
		"s=0 u=0 a:1=0 t:1=0 u=0 a:1=0 t:1=0": "",
		"u=0 t:1=0":                           `message 2 is the result of "1", which is no open call`,
		"u=0 a:1=0 t:1=0 t:1=0":               `message 4 is the result of "1", which is no open call`,
		"u=0 a:1,2=0 t:2=0 t:1=0":             `message 3 is the result of "2", but that of "1" comes first`,
		"u=0 a:1,2=0 t:1=0 u=0 t:2=0":         `message 4 comes before the result of call "2"`,
		"u=0 a:1,2=0 t:1=0":                   `call "2" has no result`,
	} {
		messages, _ := historyOf(t, history)
		assert.Equal(t, unpaired(messages, 0), want)
	}
}

// TestPairingIsChecked: a history that came to be wrong is never sent; the
// fault names agent and turn.
func TestPairingIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(*loop){
		"an orphan": func(l *loop) { l.history.Append(ToolMessage("z", "")) },
		"results in the order of their ends": func(l *loop) {
			messages := l.history.messages
			last := len(messages) - 1
			messages[last], messages[last-1] = messages[last-1], messages[last]
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t).on(Root, calling(`a echo {}`, `b echo {}`), saying("never"))
			r := runnerOf(s)
			l := &loop{Runner: r, run: &Run{}, ids: make(map[string]bool)}
			_, err := l.begin(t.Context())
			assert.NilError(t, err)
			_, err = l.turn(t.Context(), &Turn{Number: 1})
			assert.NilError(t, err)
			spoil(l)
			_, err = l.turn(t.Context(), &Turn{Number: 2})
			assert.ErrorContains(t, err, "check the messages of root turn 2: message ")
			assert.Equal(t, len(s.requestsOf(Root)), 1)
		})
	}
}
