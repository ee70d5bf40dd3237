package view

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"sync"
)

//go:embed web
var web embed.FS

// modules are the scripts of the page, each after those that it imports.
var modules = []string{"text", "dom", "data", "paged", "state", "tree", "names", "chart", "overview", "rows", "messages", "search", "diff", "keys", "main"}

// Imports and exports are for the reader and the editor: in a page the modules
// stand behind each other in one scope, for from a file a browser imports none.
var (
	importLine = regexp.MustCompile(`(?m)^import [^\n]*\n`)
	exportWord = regexp.MustCompile(`(?m)^export `)
)

var script = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	out.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range modules {
		module := exportWord.ReplaceAll(importLine.ReplaceAll(asset(name+".js"), nil), nil)
		fmt.Fprintf(&out, "// %s.js\n%s\n", name, module)
	}
	out.WriteString("})();\n")
	return out.Bytes()
})

var style = sync.OnceValue(func() []byte { return asset("style.css") })

func asset(name string) []byte {
	data, err := web.ReadFile("web/" + name)
	if err != nil {
		panic("view: " + err.Error()) // embedded
	}
	return data
}

// The places of index.html that differ between a page that is served and one
// that is a file.
const (
	headPlace = "<!-- head -->"
	dataPlace = "<!-- data -->"
)

var servedPage = sync.OnceValue(func() []byte {
	page := bytes.Replace(asset("index.html"), []byte(headPlace), []byte(`<link rel="stylesheet" href="/style.css">`+"\n"+`<script src="/app.js" defer></script>`), 1)
	return bytes.Replace(page, []byte(dataPlace), nil, 1)
})

// WriteHTML writes the page as one file, which holds all it shows. Its script
// stands before most of the data, so that it shows the first while the rest is
// still being read.
func (b *Book) WriteHTML(w io.Writer) error {
	head, rest, _ := bytes.Cut(asset("index.html"), []byte(headPlace))
	body, tail, _ := bytes.Cut(rest, []byte(dataPlace))
	out := &errWriter{w: w}
	out.write(head)
	out.printf(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'; `+
		`require-trusted-types-for 'script'; trusted-types 'none'">`+"\n<style>%s</style>", hash(script()), hash(style()), style())
	out.write(body)
	started := false
	for id, data := range b.parts() {
		if !started && id != "index" && id != "s0" {
			started = true
			out.printf("<script>%s</script>\n", script())
		}
		out.printf("<script type=\"application/json\" id=\"%s\">%s</script>\n", id, data)
		if out.err != nil {
			return out.err
		}
	}
	if !started {
		out.printf("<script>%s</script>\n", script())
	}
	out.write(tail)
	return out.err
}

// hash is how a policy names the one script, or style sheet, that may be used.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// errWriter keeps the first error.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) write(data []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(data)
	}
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}
