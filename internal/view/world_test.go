package view

import (
	"io"
	"io/fs"
	"log"
	"net"
	"testing"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// suite reads a transcript of the suite.
func suite(t testing.TB, name string) *transcripts.History {
	t.Helper()
	data, err := fs.ReadFile(transcripts.Suite, name+".jsonl")
	assert.NilError(t, err)
	f, err := transcripts.Parse("transcripts/"+name+".jsonl", data)
	assert.NilError(t, err)
	h, err := f.History()
	assert.NilError(t, err)
	return h
}

func checked(h *transcripts.History) []record.Finding {
	return scenarios.CheckHistory(h, scenarios.CheckOptions{})
}

func book(list ...*transcripts.History) *Book {
	b := &Book{}
	for _, h := range list {
		b.Add(h, checked)
	}
	return b
}

// pictured is what the pictures of the documentation show.
func pictured(t testing.TB) *Book {
	t.Helper()
	return book(survey("runs/monday.json", false), survey("runs/tuesday.json", true), suite(t, "recorded-mini-parallel"))
}

// serve serves a book until the test ends, and returns the page's address.
func serve(t testing.TB, b *Book) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	server := proxy.Serve(listener, NewHandler(b), proxy.ServerOptions{ErrorLog: log.New(io.Discard, "", 0)})
	t.Cleanup(func() { _ = server.Shutdown(t.Context()) })
	return server.URL() + "/"
}
