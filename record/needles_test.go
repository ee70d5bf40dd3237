package record

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestNeedlesAreFoundAtEveryPlace(t *testing.T) {
	for length := minKnown; length < 24; length++ {
		var n needles
		needle := "QWERTYUIOPASDFGHJKLZXCVB"[:length]
		n.put(spelling{text: needle, secret: "s", kind: "env"})
		for before := range 12 {
			for after := range 12 {
				text := strings.Repeat("x", before) + needle + strings.Repeat("y", after)
				found := n.find(text)
				assert.Assert(t, len(found) > 0, "%d bytes at %d of %d", length, before, len(text))
				for _, m := range found {
					assert.Equal(t, m, match{start: before, end: before + length, kind: "env", value: "s"})
				}
			}
		}
	}
}

func TestShortTextsAreNoNeedles(t *testing.T) {
	var n needles
	n.put(spelling{text: "1234567"})
	assert.Equal(t, len(n.all), 0)
	assert.Assert(t, n.add("a secret of some length", "env"))
	assert.Assert(t, !n.add("a secret of some length", "url"))
}
