package histories

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
	"github.com/tapetree/tapetree/transcripts/imports"
)

// kind is how a file is read.
type kind int

const (
	kindUnknown kind = iota
	kindTranscript
	kindHAR
	kindCassette
	kindHTTPRR
	kindImport
)

// Formats lists the formats that are known, as a person would call them.
func Formats() []string {
	titles := []string{"tapetree transcript", "HAR", "cassette of go-vcr, x/vcr or vcrpy", "httprr trace"}
	for _, i := range imports.All() {
		titles = append(titles, i.Title)
	}
	return titles
}

// detect tells by its content what a file is. The name helps only where the
// content is too broken to tell.
func detect(path string, data []byte) (kind, *imports.Importer) {
	switch {
	case isTranscript(data):
		return kindTranscript, nil
	case transcripts.IsHTTPRR(data):
		return kindHTTPRR, nil
	}
	switch key := has(data, "log", "interactions", "request"); {
	case key == "log":
		return kindHAR, nil
	case key == "interactions":
		return kindCassette, nil
	case key == "request" && has(data, "response") != "": // of both, but in nobody's format
		return kindUnknown, nil
	}
	if importer := imports.Detect(data); importer != nil {
		return kindImport, importer
	}
	if interactionsLine.Match(data) {
		return kindCassette, nil
	}
	if strings.EqualFold(filepath.Ext(path), ".har") {
		return kindHAR, nil
	}
	return kindUnknown, nil
}

// interactionsLine stands in every cassette in YAML.
var interactionsLine = regexp.MustCompile(`(?m)^(?:\x{FEFF})?["']?interactions["']?[ \t]*:`)

// isTranscript reports whether a file begins as a transcript of ours does.
func isTranscript(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data, " \t\r\n"), []byte("\n"))
	return bytes.HasPrefix(line, []byte(`{"kind":"header"`)) ||
		bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line[:min(len(line), 256)], []byte(`"kind"`)) && bytes.Contains(line[:min(len(line), 256)], []byte(`"header"`))
}

// firstKeys is how far into a JSON object keys are looked for: programs write
// what a file is at its beginning.
const firstKeys = 1 << 20

// has returns which of the names is a key of the JSON object that data begins
// with.
func has(data []byte, names ...string) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), firstKeys)], []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) {
		return ""
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return ""
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		key := token.String()
		for _, name := range names {
			kind := dec.PeekKind()
			if key == name && (kind == '{' || kind == '[') {
				return name
			}
		}
		if dec.SkipValue() != nil {
			return ""
		}
	}
	return ""
}
