package record

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/transcripts"
)

const (
	envSecret = `zq"7/Vn<k2\&Lp+9x`
	fill      = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
	fillHex   = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
)

// secretKinds are made-up keys, one of each shape. They are put together here
// so that no scanner takes this file for a leak.
var secretKinds = []struct{ kind, secret string }{
	{"env", envSecret},
	{"openai", "sk-" + fill},
	{"openai", "sk-proj-" + fill + "_-x"},
	{"openai", "sk-svcacct-" + fill},
	{"anthropic", "sk-ant-" + "api03-" + fill},
	{"openrouter", "sk-or-v1-" + fillHex},
	{"github", "ghp_" + fill[:36]},
	{"github", "gho_" + fill[:36]},
	{"github", "ghs_" + fill[:36]},
	{"github", "github_pat_" + fill[:22] + "_" + fill},
	{"aws", "AKIA" + "Z7Q2M4N6P8R0T2V4"},
	{"aws", "ASIA" + "Z7Q2M4N6P8R0T2V4"},
	{"google", "AIza" + fill[:35]},
	{"slack", "xoxb-" + "123456789012-" + fill[:24]},
	{"stripe", "sk_live_" + fill[:24]},
	{"stripe", "rk_live_" + fill[:24]},
	{"gitlab", "glpat-" + fill[:20]},
	{"npm", "npm_" + fill[:36]},
	{"huggingface", "hf_" + fill[:34]},
	{"sendgrid", "SG." + fill[:22] + "." + fill},
	{"twilio", "SK" + fillHex[:32]},
	{"telegram", "123456789:AA" + fill[:33]},
	{"jwt", "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiJ0ZXN0In0." + fill},
	{"digitalocean", "dop_v1_" + fillHex + fillHex[:24]},
	{"groq", "gsk_" + fill},
	{"xai", "xai-" + fill},
	{"azure", "abc8Q~" + fill[:34]},
	{"pem", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIB" + fill + "\n" + fill + "\n-----END RSA " + "PRIVATE KEY-----"},
	{"vault", "hvs." + fill},
	{"pypi", "pypi-" + fill + fill},
}

func testRedactor() *Redactor {
	return NewRedactor([]string{"MY_API_KEY=" + envSecret, "PATH=/usr/bin", "TOKEN=short", "OPENAI_API_KEY=" + offlineKey})
}

// quote writes text as JSON, inside of the quotes.
func quote(t *testing.T, text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	assert.NilError(t, err)
	return string(quoted[1 : len(quoted)-1])
}

func TestEachKindInEachPlace(t *testing.T) {
	for i, tt := range secretKinds {
		mark := fmt.Sprintf("{{secret:%s:1}}", tt.kind)
		once := quote(t, tt.secret)
		twice := quote(t, once)
		places := []struct{ name, text, want string }{
			{"alone", tt.secret, mark},
			{"result", "found: " + tt.secret + "\nnext line", "found: " + mark + "\nnext line"},
			{"quoted", "x='" + tt.secret + "'", "x='" + mark + "'"},
			{"body", `{"content":"the key ` + once + ` is here"}`, `{"content":"the key ` + mark + ` is here"}`},
			{"arguments", `{"arguments":"{\"text\":\"` + twice + `\"}"}`, `{"arguments":"{\"text\":\"` + mark + `\"}"}`},
			{"arguments cut off", `{"arguments":"{\"text\":\"` + twice, `{"arguments":"{\"text\":\"` + mark},
			{"a name", `{"` + once + `":1}`, `{"` + mark + `":1}`},
			{"text that quotes JSON", `log: {"text":"a\n` + once + `"}`, `log: {"text":"a\n` + mark + `"}`},
		}
		for _, place := range places {
			t.Run(fmt.Sprintf("%d %s/%s", i, tt.kind, place.name), func(t *testing.T) {
				r := testRedactor()
				assert.DeepEqual(t, r.Find(place.text), []string{tt.kind})
				assert.Equal(t, r.Text(place.text), place.want)
				assert.Equal(t, string(r.JSON([]byte(place.text))), place.want)
				assert.Equal(t, r.Text(place.want), place.want)
				assert.DeepEqual(t, r.Find(place.want), []string(nil))
				assert.Assert(t, HasSecret(place.want))
				assert.Equal(t, r.Mask(place.text), strings.ReplaceAll(place.want, mark, "***"))
			})
		}
	}
}

func TestEachKindSplitOverFramesAtEveryByte(t *testing.T) {
	for _, tt := range secretKinds {
		if tt.kind == "pem" {
			continue // TestSSE has it; here it would only take long
		}
		text := "the key " + tt.secret + " is here"
		want := fmt.Sprintf("the key {{secret:%s:1}} is here", tt.kind)
		for cut := 1; cut < len(text); cut++ {
			r := testRedactor()
			blocks := []string{contentFrame(t, text[:cut]), contentFrame(t, text[cut:])}
			out, recut := r.SSE(blocks)
			assert.Equal(t, joinedContent(t, out), want)
			assert.Equal(t, recut, cut > len("the key ") && cut < len("the key "+tt.secret), "cut at %d", cut)
		}
	}
}

func TestEachKindInHeadersAndURLs(t *testing.T) {
	for _, tt := range secretKinds {
		if strings.ContainsAny(tt.secret, "\n\"") {
			continue
		}
		r := testRedactor()
		mark := fmt.Sprintf("{{secret:%s:1}}", tt.kind)
		kept := r.Headers(http.Header{"X-Ratelimit-Note": {"for " + tt.secret}})
		assert.DeepEqual(t, kept, []transcripts.Member{{Name: "x-ratelimit-note", Value: jsontext.Value(`"for ` + mark + `"`)}})
		assert.Equal(t, r.URL("https://u:"+tt.secret+"@host:1/v1?key="+tt.secret+"#"+tt.secret), "https://host:1/v1")
		assert.Equal(t, r.Text("GET /v1?key="+tt.secret+"&a=b"), "GET /v1?key="+mark+"&a=b")
	}
}

func TestEnvironmentSecretsInEverySpelling(t *testing.T) {
	user := "user:" + envSecret
	for name, text := range map[string]string{
		"base64":                   base64.StdEncoding.EncodeToString([]byte(envSecret)),
		"base64, no padding":       base64.RawStdEncoding.EncodeToString([]byte(envSecret)),
		"base64 for URLs":          base64.URLEncoding.EncodeToString([]byte(envSecret)),
		"query":                    `zq%227%2FVn%3Ck2%5C%26Lp%2B9x`,
		"query, lower case":        `zq%227%2fVn%3ck2%5c%26Lp%2b9x`,
		"JSON":                     `zq\"7/Vn<k2\\&Lp+9x`,
		"JSON in JSON":             `zq\\\"7/Vn<k2\\\\&Lp+9x`,
		"JSON for HTML":            `zq\"7/Vn\u003ck2\\\u0026Lp+9x`,
		"JSON with escaped slash":  `zq\"7\/Vn<k2\\&Lp+9x`,
		"JSON for HTML, and slash": `zq\"7\/Vn\u003ck2\\\u0026Lp+9x`,
	} {
		assert.Equal(t, testRedactor().Text("a "+text+" b"), "a {{secret:env:1}} b", name)
	}
	// Inside a longer text base64 shares a character with its neighbours.
	for pad := range 3 {
		long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", pad) + user + " and more"))
		core := base64.RawStdEncoding.EncodeToString([]byte(envSecret))
		out := testRedactor().Text(long)
		assert.Assert(t, strings.Contains(out, "{{secret:env:1}}"), out)
		assert.Assert(t, !strings.Contains(out, core[4:12]), out)
	}
}

func TestEnvironmentNamesAndLengths(t *testing.T) {
	const value = "twelve chars"
	for line, secret := range map[string]bool{
		"A_KEY=" + value:               true,
		"a_token=" + value:             true,
		"My_Secret=" + value:           true,
		"PASSWORD=" + value:            true,
		"X_CREDENTIALS=" + value:       true,
		"KEYS=" + value:                false,
		"TOKENIZER=" + value:           false,
		"A_KEY=elevenchars":            false,
		"A_KEY=zwölfzeich":             false, // twelve bytes, eleven characters
		"OPENAI_API_KEY=" + offlineKey: false,
	} {
		_, v, _ := strings.Cut(line, "=")
		want := v
		if secret {
			want = "{{secret:env:1}}"
		}
		assert.Equal(t, NewRedactor([]string{line}).Text(v), want, line)
	}
}

func TestNumericEnvironmentSecretBecomesAString(t *testing.T) {
	r := NewRedactor([]string{"PIN_SECRET=123456789012"})
	assert.Equal(t, string(r.JSON([]byte(`{"pin":123456789012,"not":1234567890123,"args":"{\"pin\":123456789012}"}`))),
		`{"pin":"{{secret:env:1}}","not":1234567890123,"args":"{\"pin\":\"{{secret:env:1}}\"}"}`)
}

func TestSecretsBesideTheirName(t *testing.T) {
	const v = "q7Zp2Lx9Vb4Nw1Kd"
	const aws = "wJa" + "lrXUtnFEMI/K7MDENG+bPxRfiCY9aB2cD4eF6gH"
	for _, tt := range []struct{ text, want string }{
		{"?key=" + v + "&x=1", "?key={{secret:value:1}}&x=1"},
		{"token=" + v, "token={{secret:value:1}}"},
		{"TOKEN: " + v + ".", "TOKEN: {{secret:value:1}}."},
		{"secret = '" + v + "'", "secret = '{{secret:value:1}}'"},
		{`client-secret := "` + v + `"`, `client-secret := "{{secret:value:1}}"`},
		{"api_key: " + v, "api_key: {{secret:value:1}}"},
		{`{"api_key":"` + v + `"}`, `{"api_key":"{{secret:value:1}}"}`},
		{`{"api_key" : "\u0071` + v[1:] + `"}`, `{"api_key" : "{{secret:value:1}}"}`},
		{`say {"api_key": "` + v + `"}`, `say {"api_key": "{{secret:value:1}}"}`},
		{`say {\"apiKey\": \"` + v + `\"}`, `say {\"apiKey\": \"{{secret:value:1}}\"}`},
		{`{"arguments":"{\"access_token\":\"` + v + `\"}"}`, `{"arguments":"{\"access_token\":\"{{secret:value:1}}\"}"}`},
		{"<password>" + v + "</password>", "<password>{{secret:value:1}}</password>"},
		{"cmd --token " + v + " x", "cmd --token {{secret:value:1}} x"},
		{"cmd --api-key=" + v, "cmd --api-key={{secret:value:1}}"},
		{"export STRIPE_KEY=" + v, "export STRIPE_KEY={{secret:value:1}}"},
		{"redirect?next=x%26key%3D" + v, "redirect?next=x%26key%3D" + v}, // no name this side of %26
		{"X-Api-Key: " + v, "X-Api-Key: {{secret:value:1}}"},
		{"Authorization: Bearer " + v, "Authorization: Bearer {{secret:bearer:1}}"},
		{"Authorization: Bearer local-key", "Authorization: Bearer {{secret:bearer:1}}"},
		{`-H "Authorization: Basic dXNlcjpwYXNzd29yZA=="`, `-H "Authorization: Basic {{secret:bearer:1}}"`},
		{"bearer " + v, "bearer {{secret:bearer:1}}"},
		{"password=hunter2hunter2", "password={{secret:value:1}}"},
		{"password=S3cr3t!Pass@word#1", "password={{secret:value:1}}"},
		{"aws_secret_access_key = " + aws, "aws_secret_access_key = {{secret:aws:1}}"},
		{`"SecretAccessKey": "` + aws + `"`, `"SecretAccessKey": "{{secret:aws:1}}"`},
		{"AccountKey=" + aws + "Zz==;Endpoint=x", "AccountKey={{secret:azure:1}};Endpoint=x"},
		{"https://x.blob/c?sv=1&sig=" + v + "%3D", "https://x.blob/c?sv=1&sig={{secret:azure:1}}"},
		{"postgres://me:pw@host/db", "postgres://me:{{secret:url:1}}@host/db"},
		{"https://" + v + "@host/db", "https://{{secret:url:1}}@host/db"},
		{"key=550e8400-e29b-41d4-a716-446655440000", "key={{secret:value:1}}"},
		{"key=abcdef1234567890", "key={{secret:value:1}}"},
	} {
		assert.Equal(t, testRedactor().Text(tt.text), tt.want)
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"max_tokens: 4096000000, \"prompt_tokens\":123456789012",
		"key=conversation_history_items token: string_value_here password: process.env.DB_PASSWORD2",
		"token = getTokenFromEnvironment(1234567890)",
		"sort_key=created_at_desc_2024 public_key=" + fill + " next_page_token=" + fill,
		"task-0123456789abcdef0123 disk-usage-report-2024-01-02-03 .sk-fading-circle-container{}",
		"Authorization: Bearer $OPENAI_API_KEY Authorization: Bearer <token>",
		"the bearer certificate authentication",
		"PWD=/tmp/Xk3j9Qz/run-1a2b3c4d5e6f",
		"https://example.com/a@b?x=1 user@host.com postgres://me:$PASSWORD@host",
		"sha256:" + fillHex + " commit " + fillHex,
		"chatcmpl-" + fill + " call_" + fill + " toolu_" + fill + " resp_" + fill + " fp_" + fill,
		"token=call_" + fill + " key=toolu_" + fill,
		`{"id":"call_` + fill + `","tool_call_id":"SK` + fillHex[:32] + `","system_fingerprint":"fp_1","id":"AC` + fillHex[:32] + `"}`,
		"OPENAI_API_KEY=" + offlineKey + " key " + offlineKey,
		"{{secret:env:1}} token={{secret:value:2}} password={{secret:value:3}}",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		`{"google":{"thought_signature":"` + fill + `"},"signature":"` + fill + `"}`,
		"key=file/path/to/module.go token=v1.2.3 secret=correct_horse_battery",
		"eyJhbGciOi no dots", "AKIA", "sk-short", "ghp_",
	} {
		r := testRedactor()
		assert.Equal(t, r.Text(text), text)
		assert.DeepEqual(t, r.Find(text), []string(nil))
	}
}

// TestCase601 is case 6.01: a key is caught whatever the header's case, in the query, and
// where the server says it back.
func TestCase601(t *testing.T) {
	const key = "k-one-two-three"
	r := NewRedactor(nil)
	r.Learn(http.Header{"aPi-KeY": {key}, "Authorization": {"Bearer other-made-up-key"}, "Accept": {"text/event-stream"}}, "https://host/v1?kEy=from-the-query&model=a-long-model-name")
	assert.DeepEqual(t, r.Headers(http.Header{
		"sEt-CoOkIe": {"s=abc"}, "Api-Key": {key}, "cOnTeNt-TyPe": {"text/html"}, "X-RateLimit-Limit": {"1", "2"}, "Retry-After": {"3"},
		"Date": {"now"}, "X-Request-Id": {"req"}, "Server": {"x"},
	}), []transcripts.Member{
		{Name: "content-type", Value: jsontext.Value(`"text/html"`)},
		{Name: "retry-after", Value: jsontext.Value(`"3"`)},
		{Name: "x-ratelimit-limit", Value: jsontext.Value(`"1, 2"`)},
	})
	assert.Equal(t, r.Text("wrong key k-one-two-three, other-made-up-key, from-the-query; text/event-stream a-long-model-name"),
		"wrong key {{secret:header:1}}, {{secret:header:2}}, {{secret:url:3}}; text/event-stream a-long-model-name")
}

// TestCase602 is case 6.02: what was recorded with one token equals what is sent with
// another.
func TestCase602(t *testing.T) {
	body := func(token string) []byte { return []byte(`{"token":"` + token + `"}`) }
	recorded := NewRedactor([]string{"API_TOKEN=the-first-token"}).JSON(body("the-first-token"))
	replayed := NewRedactor([]string{"API_TOKEN=another-token-of-today"}).JSON(body("another-token-of-today"))
	assert.Equal(t, string(recorded), `{"token":"{{secret:env:1}}"}`)
	assert.Equal(t, string(replayed), string(recorded))
}

func TestASecretFoundByItsNameIsKnownEverywhere(t *testing.T) {
	const v = "q7Zp2Lx9Vb4Nw1Kd"
	r := testRedactor()
	assert.Equal(t, r.Text("first "+v+" then token="+v), "first {{secret:value:1}} then token={{secret:value:1}}")
	assert.Equal(t, string(r.JSON([]byte(`["`+v+`"]`))), `["{{secret:value:1}}"]`)
	r = testRedactor()
	assert.Equal(t, string(r.JSON([]byte(`["`+v+`",{"api_key":"`+v+`"}]`))), `["{{secret:value:1}}",{"api_key":"{{secret:value:1}}"}]`)
}

func TestSecretsAreNumberedInOrderOfFirstSight(t *testing.T) {
	r := testRedactor()
	a, b := "ghp_"+fill[:36], "sk-"+fill
	assert.Equal(t, r.Text(b+" "+a+" "+b), "{{secret:openai:1}} {{secret:github:2}} {{secret:openai:1}}")
	assert.Equal(t, r.Text(a+" "+envSecret), "{{secret:github:2}} {{secret:env:3}}")
}

func TestOverlappingSecretsLeaveNothing(t *testing.T) {
	r := NewRedactor([]string{"A_KEY=abcdefghijklmnop", "B_KEY=klmnopqrstuvwxyz"})
	assert.Equal(t, r.Text("<abcdefghijklmnopqrstuvwxyz>"), "<{{secret:env:1}}>")
}

func TestURL(t *testing.T) {
	for u, want := range map[string]string{
		"https://host/v1":                                     "https://host/v1",
		"https://me:pw@host:8080/v1/?a=b#c":                   "https://host:8080/v1/",
		"https://me@host":                                     "https://host",
		"https://me:p%zz@host/v1?a=b":                         "https://host/v1",
		"http://me:p w@[::1/x?y#z":                            "http://[::1/x",
		"https://api.host/bot123456789:AA" + fill[:33] + "/x": "https://api.host/bot{{secret:telegram:1}}/x",
		"": "",
	} {
		assert.Equal(t, testRedactor().URL(u), want, u)
	}
}

func TestRedactorIsSafeForConcurrentUse(t *testing.T) {
	r := testRedactor()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			secret := fmt.Sprintf("ghp_%s%02d", fill[:34], i)
			for range 20 {
				assert.Check(t, !strings.Contains(r.Text("x "+secret+" "+envSecret), secret))
			}
		})
	}
	wait.Wait()
}

// cleanText is 1.3 MB of what tools return: code, paths, JSON, prose, digests.
func cleanText() string {
	part := "func (r *Runner) Run(ctx context.Context, prompt string) (*Run, error) {\n\treturn nil, fmt.Errorf(\"run %q: %w\", prompt, err)\n}\n" +
		"internal/cli/replay.go:42: golden/NAME.txt differs, max_tokens=4096\n{\"path\":\"src/main.go\",\"key\":\"name\",\"n\":12}\n" +
		"The quick brown fox jumps over https://example.com/docs?page=2 and the lazy dog.\n9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"
	return strings.Repeat(part, 1_300_000/len(part)+1)
}

// BenchmarkRedactCleanJSON is the same text as the content of a message.
func BenchmarkRedactCleanJSON(b *testing.B) {
	r := testRedactor()
	raw := []byte(`{"content":` + string(quoted(cleanText())) + `}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		r.JSON(raw)
	}
}

func BenchmarkRedactClean(b *testing.B) {
	r := NewRedactor([]string{"A_KEY=" + envSecret, "B_TOKEN=" + fill, "C_SECRET=another secret value", "D_PASSWORD=correct horse battery"})
	text := cleanText()
	assert.Equal(b, r.Text(text), text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}
