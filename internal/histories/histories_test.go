package histories

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

const (
	transcript = `{"kind":"header","format":1,"name":"x","by":"authored"}
{"kind":"exchange","agent":"root","turn":1,"wire":"chat","model":"m","add":[{"role":"user","content":"Hi."}],"status":200,"response":{"choices":[{"index":0,"message":{"role":"assistant","content":"Ho."},"finish_reason":"stop"}]}}
{"kind":"end","exchanges":1}
`
	cassette = `interactions:
- request:
    body: '{"model":"m","messages":[{"role":"user","content":"Hi."}]}'
    method: POST
    uri: https://api.example/v1/chat/completions
  response:
    body: {string: '{"choices":[{"index":0,"message":{"role":"assistant","content":"Ho."},"finish_reason":"stop"}]}'}
    status: {code: 200}
- 17
- request: {method: GET, uri: 'https://other.example/x?key=secret'}
  response: {status: {code: 200}}
`
	goCassette = `version: 2
interactions:
    - id: 0
      request:
        body: '{"model":"m","messages":[{"role":"user","content":"Hi."}]}'
        url: https://api.example/v1/chat/completions
        method: POST
      response:
        body: '{"choices":[{"index":0,"message":{"role":"assistant","content":"Ho."},"finish_reason":"stop"}]}'
        code: 200
        duration: 2s
`
	har = `{"log":{"version":"1.2",
"entries":[
{"startedDateTime":"2026-01-02T03:04:05Z","time":1000,"request":{"method":"POST","url":"https://api.example/v1/chat/completions","postData":{"text":"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi.\"}]}"}},"response":{"status":200,"content":{"mimeType":"application/json","text":"{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Ho.\"},\"finish_reason\":\"stop\"}]}"}}},
{"startedDateTime":"2026-01-02T03:04:07Z","time":1000,"request":{"method":"POST","url":"https://far.example/v1/chat/completions","postData":{"text":"{\"model\":\"f\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi.\"}]}"}},"response":{"status":200,"content":{"mimeType":"application/json","text":"{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Ho.\"},\"finish_reason\":\"stop\"}]}"}}}
]}}`
	messages = `[{"role":"user","content":"Hi."},
{"role":"assistant","content":"Ho."}]`
)

func trace() string {
	ask := "POST https://api.example/v1/chat/completions HTTP/1.1\r\n\r\n" + `{"model":"m","messages":[{"role":"user","content":"Hi."}]}`
	says := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + `{"choices":[{"index":0,"message":{"role":"assistant","content":"Ho."},"finish_reason":"stop"}]}`
	return fmt.Sprintf("httprr trace v1\n%d %d\n%s%s", len(ask), len(says), ask, says)
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	assert.NilError(t, err)
	assert.NilError(t, w.Close())
	return out.String()
}

// told gives what a file holds, in one text.
func told(ctx context.Context, path string, data []byte) string {
	var out strings.Builder
	for h, err := range Parse(ctx, path, data, Options{}) {
		if err != nil {
			fmt.Fprintf(&out, "error %s\n", err)
			continue
		}
		spot := h.Spots[transcripts.TurnKey{Agent: "root", Turn: 1}]
		turn := h.Roots[0].Turns[0]
		fmt.Fprintf(&out, "%s %s line %d timed %v %s: %s -> %s\n", h.Format, h.Name(), spot.Line, spot.Timed, spot.End-spot.Start, turn.Sent.Messages()[0].Content, turn.Answer.Message.Content)
		for _, w := range h.Warnings {
			fmt.Fprintf(&out, "warning %s\n", w.In(h.Path))
		}
		for _, l := range h.Lost {
			fmt.Fprintf(&out, "lost %s\n", l)
		}
	}
	return out.String()
}

func TestAFileIsWhatItHolds(t *testing.T) {
	asVCRPy := "vcrpy x line 2 timed false 0s: Hi. -> Ho.\nwarning x:9: interaction 2: it is no mapping of request and response\nlost interaction 3: GET https://other.example/x: not to an upstream that was asked for a model answer\n"
	known := "no history: it is in no format that is known. Known are: " + strings.Join(Formats(), "; ") + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"a transcript", transcript, "transcript x line 2 timed false 0s: Hi. -> Ho.\n"},
		{"a cassette", cassette, asVCRPy},
		{"a packed cassette", packed(t, cassette), asVCRPy},
		{"a cassette with durations", goCassette, "go-vcr x line 3 timed true 2s: Hi. -> Ho.\n"},
		{"a trace", trace(), "httprr x line 2 timed false 0s: Hi. -> Ho.\n"},
		{"a HAR file of two upstreams", har, "har x (api.example) line 3 timed true 1s: Hi. -> Ho.\nhar x (far.example) line 4 timed true 1s: Hi. -> Ho.\n"},
		{"messages", messages, "openai x line 2 timed false 0s: Hi. -> Ho.\n"},
		{"a trace that breaks off", trace() + "\nGET", "httprr x line 2 timed false 0s: Hi. -> Ho.\nwarning x:8: record 2 does not begin with two lengths that fit the file; no later record can be read\n"},
		{"nothing", "", "error x: no history: the file is empty\n"},
		{"a mark alone", "\ufeff", "error x: no history: the file is empty\n"},
		{"white space", " \r\n\t", "error x: no history: the file holds nothing but white space\n"},
		{"much white space", "[" + strings.Repeat(" ", longestBlank+1), "error x: no history: it has more than 16 MiB of white space in one place, which no history has\n"},
		{"much packed white space", packed(t, "["+strings.Repeat(" ", 3*longestBlank)), "error x: no history: it has more than 16 MiB of white space in one place, which no history has\n"},
		{"an empty list", " [ ]\n", "error x: no history: it holds no message: it is an empty list or object\n"},
		{"an empty object", "{}", "error x: no history: it holds no message: it is an empty list or object\n"},
		{"NUL bytes", "\x00[", "error x: no history: it begins with a NUL byte, as no text does; of UTF-16, the byte order mark in front is missing\n"},
		{"too deep", strings.Repeat("[", deepest+1), "error x: " + strings.Replace(known, "it is in no format that is known", "its values stand more than 10000 deep in each other", 1)},
		{"UTF-16", "\xff\xfe" + wide(messages, 0), "openai x line 2 timed false 0s: Hi. -> Ho.\n"},
		{"UTF-16, the other way", "\xfe\xff" + wide(messages, 1), "openai x line 2 timed false 0s: Hi. -> Ho.\n"},
		{"packed UTF-16", packed(t, "\xff\xfe"+wide(messages, 0)), "openai x line 2 timed false 0s: Hi. -> Ho.\n"},
		{"a page", "<html>", "error x: " + known},
		{"an answer", `{"choices":[]}`, "error x: " + strings.Replace(known, "it is in no format that is known", "it is a model's answer without the request; what was asked is not in it", 1)},
		{"a stream", "data: {}\n\n", "error x: " + strings.Replace(known, "it is in no format that is known", "it is a streamed answer without the request; what was asked is not in it", 1)},
		{"a log", `{"request":{"messages":[{"role":"user","content":"Hi."}]},"response":{}}`, "error x: " + strings.Replace(known, "it is in no format that is known", "it holds requests with their responses, in no format that is known", 1)},
		{"a cassette of embeddings", strings.Replace(goCassette, "chat/completions", "embeddings", 1), "error x: no history: it holds no request for a model answer\n"},
		{"no cassette", "interactions: 17", "error x: is no cassette: it has no list of interactions\n"},
		{"a broken transcript", `{"kind":"header"}`, "error x:1: key \"format\" is missing\n"},
		{"no gzip", "\x1f\x8bx", "error x: begins as a gzip file, and is none: unexpected EOF\n"},
		{"a gzip file that breaks off", packed(t, cassette)[:99], "error x: breaks off or is damaged within what gzip packed: unexpected EOF; `gzip -t` says the same; get the file anew\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, told(t.Context(), "x", []byte(c.text)), c.want)
			assert.Equal(t, told(t.Context(), "x", []byte(c.text)), c.want, "a second time")
		})
	}
}

func TestABrokenHARFileIsToldByItsName(t *testing.T) {
	assert.Equal(t, told(t.Context(), "x.har", []byte("<html>")), "error x.har: is no HAR file: invalid character '<' at start of value\n")
}

func TestUnpackingHasALimit(t *testing.T) {
	data := []byte(packed(t, strings.Repeat("x", 3<<20)))
	_, err := unpackUpTo("x.gz", data, 2<<20)
	assert.Error(t, err, "x.gz: unpacks to more than 2 MiB, which no such file needs; split it")
	plain, err := unpackUpTo("x.gz", data, 3<<20)
	assert.NilError(t, err)
	assert.Equal(t, len(plain), 3<<20)
}

func TestReadingAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	assert.NilError(t, os.WriteFile(path, []byte(messages), 0o600))
	count := 0
	for h, err := range Each(t.Context(), path, Options{}) {
		assert.NilError(t, err)
		assert.Equal(t, h.Format, "openai")
		count++
	}
	assert.Equal(t, count, 1)
	for _, err := range Each(t.Context(), filepath.Dir(path), Options{}) {
		assert.ErrorIs(t, err, files.ErrBad)
		assert.Error(t, err, "read "+filepath.Dir(path)+": is a folder; a file belongs there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range Each(ctx, path, Options{}) {
		assert.ErrorIs(t, err, context.Canceled)
	}
	for _, err := range Parse(t.Context(), "x", []byte("?"), Options{}) {
		assert.Assert(t, errors.Is(err, ErrUnknown))
	}
}

func TestFilesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/2", "b/.git/config", "a.jsonl", ".hidden", "c"} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	if goruntime.GOOS != "windows" {
		assert.NilError(t, os.Symlink(dir, filepath.Join(dir, "loop")))
	}
	list, err := Files(dir)
	assert.NilError(t, err)
	for i := range list {
		list[i], _ = filepath.Rel(dir, list[i])
		list[i] = filepath.ToSlash(list[i])
	}
	assert.DeepEqual(t, list, []string{".hidden", "a.jsonl", "b/2", "c"})
	list, err = Files(filepath.Join(dir, "c"))
	assert.NilError(t, err)
	assert.DeepEqual(t, list, []string{filepath.Join(dir, "c")})
	_, err = Files(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestHARFilesAreToldByTheirBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for text, want := range map[string]bool{har: true, har[:20]: true, har[:4]: false, cassette: false, "": false} {
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := IsHAR(path)
		assert.NilError(t, err)
		assert.Equal(t, got, want, text)
	}
	_, err := IsHAR(path + "x")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzParse: no bytes make the reading of any format panic.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{transcript, cassette, goCassette, trace(), har, messages, packed(f, cassette), `{"type":"session"}` + "\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for range Parse(t.Context(), "x", data, Options{Alone: true}) {
		}
	})
}

// wide is ASCII text in UTF-16; at says which byte of two is the letter's.
func wide(text string, at int) string {
	var out strings.Builder
	for i := range len(text) {
		pair := [2]byte{}
		pair[at] = text[i]
		out.Write(pair[:])
	}
	return out.String()
}

func TestUTF16(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xfeA\x00":            "A",
		"\xfe\xff\x00A":            "A",
		"\xff\xfe\x3d\xd8\x00\xde": "😀",
		"\xff\xfe\x3d\xd8A\x00":    "\uFFFDA",
		"\xff\xfe\x3d\xd8":         "\uFFFD",
		"\xff\xfeA":                "\uFFFD",
		"\xff\xfe":                 "",
		"plain \xff\xfe":           "plain \xff\xfe",
	} {
		assert.Equal(t, string(utf8Of([]byte(text))), want, "%q", text)
	}
}

func TestMuchWhiteSpace(t *testing.T) {
	for n, want := range map[int]bool{longestBlank: false, longestBlank + 1: true} {
		for _, before := range []int{0, longestBlank/2 + 7} {
			text := strings.Repeat("x", before) + strings.Repeat(" ", n) + "x"
			assert.Equal(t, mostlyBlank([]byte(text)), want, "%d behind %d", n, before)
		}
	}
}

func TestUnreadLinesAreKept(t *testing.T) {
	for h, err := range Parse(t.Context(), "x", []byte(`{"messages":[{"role":"user","content":"a"}]}`+"\nbroken\n"+`{"messages":[{"role":"user","content":"b"}]}`+"\n"), Options{}) {
		assert.NilError(t, err)
		for _, w := range h.Warnings {
			assert.Equal(t, w.Text, "broken\n")
		}
	}
}
