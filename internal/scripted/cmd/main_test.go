package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestServesUntilInterrupted(t *testing.T) {
	script := filepath.Join(t.TempDir(), "s.json")
	assert.NilError(t, os.WriteFile(script, []byte(`{"default":"Hello."}`), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{script, "127.0.0.1:0"}, writer, io.Discard) }()
	base, err := bufio.NewReader(reader).ReadString('\n')
	assert.NilError(t, err)
	response, err := http.Get(strings.TrimSpace(base) + "/models")
	assert.NilError(t, err)
	response.Body.Close()
	assert.Equal(t, response.StatusCode, 200)
	cancel()
	assert.NilError(t, <-done)
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	bad, good := filepath.Join(dir, "bad.json"), filepath.Join(dir, "good.json")
	assert.NilError(t, os.WriteFile(bad, []byte(`{"rules":[["","x"]]}`), 0o600))
	assert.NilError(t, os.WriteFile(good, []byte(`{}`), 0o600))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{good}, "usage: scripted [--random] [--piece BYTES] [--pace DURATION] SCRIPT.json ADDRESS"},
		{[]string{bad, "127.0.0.1:0"}, bad + ": rule 1: the marker is empty"},
		{[]string{filepath.Join(dir, "none"), "127.0.0.1:0"}, "open " + filepath.Join(dir, "none") + ": no such file or directory"},
		{[]string{good, "127.0.0.1:none"}, "listen tcp: lookup tcp/none: unknown port"},
		{[]string{"--rando", good, "x"}, "unknown flag: --rando"},
	} {
		var out bytes.Buffer
		assert.Error(t, run(t.Context(), test.args, &out, io.Discard), test.want)
		assert.Equal(t, out.String(), "")
	}
}
