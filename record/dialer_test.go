package record

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// What of net/http, and of other packages, can reach a network.
var dialers = map[string][]string{
	"http":    {"Client", "DefaultClient", "DefaultTransport", "Transport", "Get", "Head", "Post", "PostForm", "ListenAndServe", "Serve"},
	"tls":     {"Dial", "DialWithDialer", "Dialer", "Client", "Listen"},
	"runtime": {"Live"},
}

// recordingFiles are the files that only record: a network is their purpose.
var recordingFiles = []string{"library.go"}

func TestReplayHasNoDialer(t *testing.T) {
	files, err := filepath.Glob("*.go")
	assert.NilError(t, err)
	checked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(recordingFiles, name) {
			continue
		}
		checked++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		assert.NilError(t, err)
		for _, imported := range file.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			assert.NilError(t, err)
			assert.Assert(t, !slices.Contains([]string{"net", "os/exec", "syscall", "net/rpc"}, path), "%s imports %s", name, path)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, ok := selector.X.(*ast.Ident)
			if !ok {
				return true
			}
			at := fset.Position(selector.Pos())
			assert.Check(t, !slices.Contains(dialers[from.Name], selector.Sel.Name), "%s uses %s.%s", at, from.Name, selector.Sel.Name)
			return true
		})
	}
	assert.Assert(t, checked > 10)
}

// TestMissMakesNoConnection is case 6.08: a miss goes nowhere. The upstream of the recording listens and
// hears nothing.
func TestMissMakesNoConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	connections := make(chan int)
	go func() {
		n := 0
		for {
			conn, err := listener.Accept()
			if err != nil {
				connections <- n
				return
			}
			n++
			_ = conn.Close()
		}
	}()
	address := "http://" + listener.Addr().String() + "/v1"
	t.Setenv("OPENAI_BASE_URL", address)
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	f.Header.Upstream = address
	f.Exchanges = f.Exchanges[:1]

	report, _, err := replay(t, f, ReplayOptions{}, session{})
	assert.ErrorIs(t, err, ErrMissing)
	assert.Assert(t, slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Code == codeMissing }))
	r, err := NewReplayer(f, ReplayOptions{})
	assert.NilError(t, err)
	_, err = r.Complete(t.Context(), &runtime.Request{Place: runtime.Place{Agent: "root~title.1", Turn: 1}, Model: "another"})
	assert.ErrorIs(t, err, ErrMissing)
	assert.NilError(t, listener.Close())
	assert.Equal(t, <-connections, 0)
}
