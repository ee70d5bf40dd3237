package transcripts

import (
	"bytes"
	"os"
	"testing"
)

// FuzzParse holds that nothing makes Parse panic, that what Encode writes is
// read again, and that writing it once more changes nothing.
func FuzzParse(f *testing.F) {
	for _, by := range []string{"tapetree v0", Authored} {
		f.Add(sampleSession(by).Encode())
	}
	for _, name := range foreignFiles {
		data, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(longSession(1, 2).Encode())
	f.Add([]byte(header + exchange + toolLine + second + endLine))
	f.Add([]byte(header + exchange + turn2(`"from":"root#1","edits":[[0,1,[{"raw":"x"},{"base64":"/w=="}]]],"add":[{"echo":1}]`)))
	f.Add([]byte(header + `{"kind":"tools","id":"t","tools":"[{]"}` + "\n" + with(`"add"`, `"tools":"t","add"`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data)
		if err != nil {
			return
		}
		_, _ = file.Sessions() // must not panic
		for _, x := range file.Exchanges {
			_ = x.Body()
		}
		once := file.Encode()
		again, err := Parse("f", once)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, once)
		}
		if twice := again.Encode(); !bytes.Equal(twice, once) {
			t.Fatalf("written again it differs:\n%s\n%s", once, twice)
		}
		if len(again.Exchanges) != len(file.Exchanges) || len(again.Calls) != len(file.Calls) {
			t.Fatalf("lines were lost:\n%s", once)
		}
	})
}

// FuzzReseal holds that a resealed file has no wrong seal left.
func FuzzReseal(f *testing.F) {
	f.Add(sampleSession("tapetree v0").Encode())
	f.Add([]byte(header + exchange + toolLine + endLine))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, _, err := Reseal("f", data)
		if err != nil {
			return
		}
		again, changed, err := Reseal("f", out)
		if err != nil || changed != 0 || !bytes.Equal(again, out) {
			t.Fatalf("resealed twice: %d changed, %v\n%s\n%s", changed, err, out, again)
		}
	})
}
