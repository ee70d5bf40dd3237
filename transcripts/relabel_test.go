package transcripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// What is amended stands in the transcript, in tree order; two exchanges at one
// place keep the partial file.
func TestAmend(t *testing.T) {
	for _, c := range []struct {
		second runtime.Path
		want   string
	}{
		{"root/1.1", ""},
		{"root/2.1", "write PATH: PATH:4: root/2.1#1 try 1 is there already, line 3; the recording is kept in PATH.partial"},
	} {
		path := filepath.Join(t.TempDir(), "n.jsonl")
		w, err := Create(path, Header{Name: "n", By: "tapetree test"})
		assert.NilError(t, err)
		for _, agent := range []runtime.Path{"root", "root2", "root3"} {
			var h runtime.History
			h.Append(runtime.UserMessage("hi " + string(agent)))
			assert.NilError(t, w.Exchange(&Exchange{Agent: agent, Turn: 1, Model: "m", Messages: h.View(), Status: 200, Response: []byte(`{}`)}))
		}
		w.Amend(func(f *File) {
			f.Header.Models = []string{"m"}
			f.Exchanges[1].Agent, f.Exchanges[1].Flag, f.Exchanges[1].Candidates = "root/2.1", FlagTwin, []runtime.Path{"root/1.1", "root/2.1"}
			f.Exchanges[2].Agent = c.second
		})
		f, err := w.Close(nil, &End{})
		if c.want != "" {
			assert.Error(t, err, strings.ReplaceAll(c.want, "PATH", path))
			_, err = os.Stat(path + ".partial")
			assert.NilError(t, err)
			continue
		}
		assert.NilError(t, err)
		assert.DeepEqual(t, f.Header.Models, []string{"m"})
		var agents []string
		for _, e := range f.Exchanges {
			agents = append(agents, string(e.Agent)+" "+e.Messages.Messages()[0].Content+" "+e.Flag)
		}
		assert.DeepEqual(t, agents, []string{"root hi root ", "root/1.1 hi root3 ", "root/2.1 hi root2 twin"})
		w.Amend(func(*File) { t.Error("amended after the end") })
	}
}

func TestIsAgent(t *testing.T) {
	for path, want := range map[runtime.Path]bool{
		"root": true, "root2": true, "root/2.1": true, "root/2.1#2": true, "root/?1": true, "root~title.1": true, "root/1.1~side.2": true,
		"": false, "root1": false, "boss": false, "root/1": false, "root/0.1": false, "root/1.1#1": false, "root~nap.1": false, "root~side": false, "root/": false,
	} {
		assert.Equal(t, IsAgent(path), want, "%s", path)
	}
}
