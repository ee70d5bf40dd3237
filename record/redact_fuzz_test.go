package record

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
)

// TestPlantedSecretsNeverSurvive puts together what can go wrong, more densely
// than a fuzzer would.
func TestPlantedSecretsNeverSurvive(t *testing.T) {
	pieces := []string{" ", "\n", `"`, "'", `\`, `\n`, "{", "}", "[", "]", ":", "=", "&", "%3D", "key=", "token: ", "https://u:p@h/", "Bearer ", "a", "Z9", "{{secret:env:1}}", "{{tmp}}", "sk-", "eyJ", "~", "-----BEGIN ", ",", "."}
	random := rand.New(rand.NewPCG(3, 4))
	some := func() string {
		var text strings.Builder
		for range random.IntN(6) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		return text.String()
	}
	for range 700 {
		first, second := secretKinds[random.IntN(len(secretKinds))].secret, secretKinds[random.IntN(len(secretKinds))].secret
		text := some() + " " + first + " " + some() + " " + second + " " + some()
		inner, err := json.Marshal(map[string]string{"text": text})
		assert.NilError(t, err)
		body, err := json.Marshal([]string{text, string(inner)})
		assert.NilError(t, err)
		for _, place := range []string{text, "log: " + string(inner), string(body)} {
			r := testRedactor()
			out := r.Text(place)
			for _, secret := range []string{first, second} {
				assert.Assert(t, !strings.Contains(out, secret) && !strings.Contains(out, quote(t, secret)), "%q leaves %q", place, out)
			}
			assert.DeepEqual(t, r.Find(out), []string(nil))
			assert.Assert(t, place != string(body) || jsontext.Value(out).IsValid())
		}
	}
}

// FuzzRedact plants a secret in a text and that text in every place: the
// secret is in no output, what was JSON is JSON, and what is redacted stays as
// it is.
func FuzzRedact(f *testing.F) {
	for i := range secretKinds {
		f.Add("before", "after", byte(i))
	}
	f.Add(`{"a":"\"`, `\\"}`, byte(0))
	f.Add("{{secret:env:1}} token=", "&x={{tmp}}", byte(3))
	f.Add("-----BEGIN RSA PRIVATE"+" KEY-----", "sk-", byte(5))
	f.Fuzz(func(t *testing.T, before, after string, kind byte) {
		secret := secretKinds[int(kind)%len(secretKinds)].secret
		text := strings.ToValidUTF8(before, "?") + " " + secret + " " + strings.ToValidUTF8(after, "?")
		r := testRedactor()
		out := r.Text(text)
		assert.Assert(t, !strings.Contains(out, secret), "%q", out)
		assert.Assert(t, !strings.Contains(r.Mask(text), secret))
		assert.Assert(t, len(r.Find(text)) > 0)
		if !strings.Contains(before, "BEGIN") { // a block that breaks off takes what follows
			assert.Equal(t, r.Text(out), out)
		}

		arguments, err := json.Marshal(map[string]string{"text": text})
		assert.NilError(t, err)
		body, err := json.Marshal(map[string]any{"content": text, "arguments": string(arguments), "list": []string{text}})
		assert.NilError(t, err)
		redacted := testRedactor().JSON(body)
		assert.Assert(t, jsontext.Value(redacted).IsValid(), "%s", redacted)
		var members struct {
			Content, Arguments string
			List               []string
		}
		assert.NilError(t, json.Unmarshal(redacted, &members, json.MatchCaseInsensitiveNames(true)))
		var inner map[string]string
		assert.NilError(t, json.Unmarshal([]byte(members.Arguments), &inner))
		for _, text := range []string{members.Content, inner["text"], members.List[0]} {
			assert.Assert(t, !strings.Contains(text, secret), "%q", text)
		}
		blocks, _ := testRedactor().SSE([]string{contentFrame(t, text[:len(text)/2]), contentFrame(t, text[len(text)/2:])})
		if strings.ToValidUTF8(text[:len(text)/2], "") == text[:len(text)/2] {
			assert.Assert(t, !strings.Contains(joinedContent(t, blocks), secret))
		}
	})
}

// FuzzRedactText holds for any text at all: redaction never panics, keeps JSON
// JSON, and leaves nothing that a second look would find.
func FuzzRedactText(f *testing.F) {
	for _, k := range secretKinds {
		f.Add(k.secret)
	}
	for _, seed := range []string{`{"api_key":"q7Zp2Lx9Vb4Nw1Kd"}`, "https://u:p@h/?key=a", "Authorization: Bearer x", "key%3Dx", `{"a":1`, "eyJ.eyJ.", "~Q~", "1:2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := testRedactor()
		out := r.Text(text)
		assert.DeepEqual(t, r.Find(out), []string(nil))
		if jsontext.Value(text).IsValid() {
			assert.Assert(t, jsontext.Value(r.JSON([]byte(text))).IsValid() || !strings.ContainsAny(text, "{["))
		}
		r.URL(text)
	})
}
