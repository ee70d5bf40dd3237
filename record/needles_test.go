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

// A body that is cut off can end inside a secret. Less than half of one is not
// looked for: the first word of a password may stand at the end of any text.
func TestTheBeginningOfAnEnvironmentSecretIsFoundWhereATextBreaksOff(t *testing.T) {
	r := NewRedactor([]string{"DB_PASSWORD=postgres-plain-words"})
	for text, want := range map[string]string{
		"uses postgres":                           "uses postgres",
		"uses postgres-":                          "uses postgres-",
		"it is postgres-p":                        "it is {{secret:env:1}}",
		"postgres-plain-word":                     "{{secret:env:1}}",
		"postgres-plain-words":                    "{{secret:env:1}}",
		"postgres-pl postgres-plain":              "postgres-pl {{secret:env:1}}",
		"postgres-plain and more":                 "postgres-plain and more",
		`data: {"delta":{"content":"postgres-pla`: `data: {"delta":{"content":"{{secret:env:1}}`,
	} {
		assert.Equal(t, r.Text(text), want)
	}
	out, _ := r.SSE([]string{contentFrame(t, "it is post"), contentFrame(t, "gres-plain")})
	assert.Equal(t, joinedContent(t, out), "it is {{secret:env:1}}")
}

// A command that a person approves is shown as it is, but for what is known to
// be a secret.
func TestMaskKnownLeavesWhatOnlyLooksLikeASecret(t *testing.T) {
	r := NewRedactor([]string{"API_KEY=plain-words-it-is"})
	const text = "curl -d key=plain-words-it-is -H token=q7Zp2Lx9Vb4Nw1Kdm8Rt5Hy3"
	assert.Equal(t, r.MaskKnown(text), "curl -d key=*** -H token=q7Zp2Lx9Vb4Nw1Kdm8Rt5Hy3")
	assert.Equal(t, r.Mask(text), "curl -d key=*** -H token=***")
}
