package record

import (
	"testing"

	"gotest.tools/v3/assert"
)

func mustVolatile(t *testing.T, rules ...string) *Volatile {
	t.Helper()
	v, err := ParseVolatile(rules)
	assert.NilError(t, err)
	return v
}

func TestVolatileSets(t *testing.T) {
	for _, tt := range []struct{ set, text, want string }{
		{"dates", "on 2024-01-15 at 2024-01-15T10:20:30.123Z, 2024-01-15 10:20:30 +0200, 2024/01/15 10:20:30", "on ⟨date⟩ at ⟨date⟩, ⟨date⟩, ⟨date⟩"},
		{"dates", "Mon, 15 Jan 2024 10:20:30 GMT; Monday, 15-Jan-24 10:20:30 UTC", "⟨date⟩; ⟨date⟩"},
		{"dates", `[15/Jan/2024:10:20:30 +0000] "GET"`, `[⟨date⟩] "GET"`},
		{"dates", "Mon Jan 15 10:20:30 UTC 2024; Jan  5 10:20 a; Jan 15  2023 b", "⟨date⟩; ⟨date⟩ a; ⟨date⟩ b"},
		{"dates", "January 15, 2024 and 15 January 2024 and Feb 3", "⟨date⟩ and ⟨date⟩ and ⟨date⟩"},
		{"dates", "Date: 1/15/2024, 15.01.2024; 40/1/2024 1.2.3456 a/1/15/20245", "Date: ⟨date⟩, ⟨date⟩; 40/1/2024 1.2.3456 a/1/15/20245"},
		{"dates", "10:20:30 10:20:30.5 20240115T102030Z", "⟨date⟩ ⟨date⟩ ⟨date⟩"},
		{"dates", "2024-13-15 2024-01-32 1.2.3 12:34 25:00:00 May I 1234-5 main.go:10:20", "2024-13-15 2024-01-32 1.2.3 12:34 25:00:00 May I 1234-5 main.go:10:20"},
		{"dates", "2024-01-15 10:20:30 INFO a; 2024-01-15T10:20:30Z GET; 2024-01-15 10:20:30 CEST b", "⟨date⟩ INFO a; ⟨date⟩ GET; ⟨date⟩ b"},
		{"uuids", "550e8400-e29b-41d4-a716-446655440000 550E8400-E29B-41D4-A716-446655440001 550e8400-e29b-41d4-a716-446655440000", "⟨uuid 1⟩ ⟨uuid 2⟩ ⟨uuid 1⟩"},
		{"uuids", "550e8400-e29b-41d4-a716-44665544000", "550e8400-e29b-41d4-a716-44665544000"},
		{"ports", "http://host.local:8080/x localhost:4001 127.0.0.1:4002 [::1]:4003 [::]:4001", "http://host.local:⟨port 1⟩/x localhost:⟨port 2⟩ 127.0.0.1:⟨port 3⟩ [::1]:⟨port 4⟩ [::]:⟨port 2⟩"},
		{"ports", "main.go:42 a:1 10:20:30 {\"n\":8080} localhost:123456 http://host/x:80", "main.go:42 a:1 10:20:30 {\"n\":8080} localhost:123456 http://host/x:80"},
		{"durations", "ok pkg 0.003s; 45ms 2m3s 1h2m 1h2m3.5s 3s 0m0.012s 12µs", "ok pkg ⟨duration⟩; ⟨duration⟩ ⟨duration⟩ ⟨duration⟩ ⟨duration⟩ ⟨duration⟩ ⟨duration⟩ ⟨duration⟩"},
		{"durations", "in 0.52 seconds, took 3 seconds, elapsed: 12 ms", "in ⟨duration⟩, took ⟨duration⟩, elapsed: ⟨duration⟩"},
		{"durations", "wait 5 minutes, 3 items, 5m of rope, v1.2, s3, in 3 steps", "wait 5 minutes, 3 items, 5m of rope, v1.2, s3, in 3 steps"},
		{`/build \d+/`, "build 12 of 13", `⟨rule 1⟩ of 13`},
		{`/pid=(\d+)/`, "pid=12 n=3 pid=4", `pid=⟨rule 1⟩ n=3 pid=⟨rule 1⟩`},
		{`/x(y)?z/`, "xz xyz", `xz x⟨rule 1⟩z`},
	} {
		assert.Equal(t, mustVolatile(t, tt.set).Apply(tt.text, nil), tt.want, tt.set)
	}
}

func TestEnvironmentBlockIsAlwaysVolatile(t *testing.T) {
	uses := map[string]int{}
	text := "a <environment>\nos: linux\n</environment> b <environment>x</environment> <environment> open"
	assert.Equal(t, mustVolatile(t).Apply(text, uses), "a <environment>⟨environment⟩</environment> b <environment>⟨environment⟩</environment> <environment> open")
	assert.DeepEqual(t, uses, map[string]int{"environment": 2})
}

func TestNilVolatileChangesNothing(t *testing.T) {
	var v *Volatile
	assert.Equal(t, v.Apply("<environment>x</environment> 2024-01-15", nil), "<environment>x</environment> 2024-01-15")
}

func TestEveryUseIsCounted(t *testing.T) {
	uses := map[string]int{"dates": 1}
	v := mustVolatile(t, " durations ", "", "# a comment", "dates", `/b\d/`, "dates", "uuids", "/c(4)/")
	v.Apply("2024-01-15 10:20:30, 2024-01-16, 1.5s, took 3 seconds, b1 b2 b3 c4", uses)
	assert.DeepEqual(t, uses, map[string]int{"dates": 3, "durations": 2, "rule 1": 3, "rule 2": 1})
}

// TestCase607 is case 6.07: what the rules cover is the same; what they do not cover is not.
func TestCase607(t *testing.T) {
	v := mustVolatile(t, "dates", "uuids", "ports", "durations", `/tmp\.(\w+)/`)
	same := [][2]string{
		{"Today is 2024-01-15.", "Today is 2026-11-30."},
		{"dir tmp.Xy12 took 1.5s", "dir tmp.Zz99 took 22ms"},
		{"job 550e8400-e29b-41d4-a716-446655440000 on localhost:4001", "job 11111111-e29b-41d4-a716-446655440000 on localhost:4999"},
	}
	for _, pair := range same {
		assert.Equal(t, v.Apply(pair[0], nil), v.Apply(pair[1], nil))
	}
	const a, b = "550e8400-e29b-41d4-a716-446655440000", "11111111-e29b-41d4-a716-446655440000"
	different := [][2]string{
		{"Today is 2024-01-15.", "Today was 2024-01-15."},
		{"Today is 2024-01-15.", "Today is ."},
		{"Today is 2024-01-15.", "Today is <date>."},
		{"copy " + a + " to " + b, "copy " + a + " to " + a},
		{"join localhost:1 and localhost:2", "join localhost:1 and localhost:1"},
		{"wait 5 minutes", "wait 50 minutes"},
		{"fix main.go:42", "fix main.go:43"},
		{"version 1.2.3", "version 1.2.4"},
		{"<environment>x</environment> a", "<environment>x</environment> b"},
		{"build 1", "build 2"},
	}
	for _, pair := range different {
		assert.Assert(t, v.Apply(pair[0], nil) != v.Apply(pair[1], nil), "%q meets %q", pair[0], pair[1])
	}
}

func TestParseVolatileErrors(t *testing.T) {
	for rule, want := range map[string]string{
		"date":        `parse volatile rule "date": allowed are dates, uuids, ports, durations, and /regexp/; did you mean "dates"?`,
		"UUIDS":       `parse volatile rule "UUIDS": allowed are dates, uuids, ports, durations, and /regexp/; did you mean "uuids"?`,
		"timestamps":  `parse volatile rule "timestamps": allowed are dates, uuids, ports, durations, and /regexp/`,
		"/abc":        `parse volatile rule "/abc": a regexp stands between slashes, as in /build [0-9]+/`,
		"//":          `parse volatile rule "//": a regexp stands between slashes, as in /build [0-9]+/`,
		"/a(/":        "parse volatile rule \"/a(/\": error parsing regexp: missing closing ): `a(` (the syntax is RE2)",
		"/x*/":        `parse volatile rule "/x*/": it matches the empty text, so it would cover nothing or everything; write + for *`,
		"dates,uuids": `parse volatile rule "dates,uuids": allowed are dates, uuids, ports, durations, and /regexp/`,
	} {
		_, err := ParseVolatile([]string{"ports", rule})
		assert.Error(t, err, want)
	}
}

func FuzzVolatile(f *testing.F) {
	f.Add("/a(b)?/", "ab a 2024-01-15 10:20:30 1.5s localhost:1")
	f.Add("dates", "Jan 15")
	f.Fuzz(func(t *testing.T, rule, text string) {
		v, err := ParseVolatile([]string{rule, "dates", "uuids", "ports", "durations"})
		if err != nil {
			return
		}
		uses := map[string]int{}
		assert.Equal(t, v.Apply(text, uses), v.Apply(text, nil))
		if len(uses) == 0 {
			assert.Equal(t, v.Apply(text, nil), text)
		}
	})
}
