package view

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// ask gives the status, the type and the size of an answer of a server.
func ask(t *testing.T, method, address string, head map[string]string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	assert.NilError(t, err)
	for name, value := range head {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	assert.NilError(t, err)
	assert.NilError(t, answer.Body.Close())
	return fmt.Sprintf("%d %s", answer.StatusCode, answer.Header.Get("Content-Type"))
}

func TestOnlyThePageItselfIsServed(t *testing.T) {
	url := strings.TrimSuffix(serve(t, book(survey("a", false))), "/")
	host := strings.TrimPrefix(url, "http://")
	for _, c := range []struct {
		method, path string
		head         map[string]string
		want         string
	}{
		{"GET", "/", nil, "200 text/html; charset=utf-8"},
		{"HEAD", "/", nil, "200 text/html; charset=utf-8"},
		{"GET", "/app.js", nil, "200 text/javascript; charset=utf-8"},
		{"GET", "/style.css", nil, "200 text/css; charset=utf-8"},
		{"GET", "/data/index.json", nil, "200 application/json"},
		{"GET", "/data/s0.json", nil, "200 application/json"},
		{"GET", "/data/s0-a1-p0.json", nil, "200 application/json"},
		{"GET", "/data/s0-a1-t0.json", nil, "200 application/json"},
		{"GET", "/data/s0-a0-g3.json", nil, "200 application/json"},
		{"GET", "/data/d0-0.json", nil, "200 application/json"},
		{"GET", "/data/d0-0-a1-p0.json", nil, "200 application/json"},
		{"GET", "/data/d0-1.json", nil, "404 application/json"},
		{"GET", "/data/d0-0-a9-p0.json", nil, "404 application/json"},
		{"GET", "/data/s1.json", nil, "404 application/json"},
		{"GET", "/data/s0-a9-p0.json", nil, "404 application/json"},
		{"GET", "/data/s0-a0-p9.json", nil, "404 application/json"},
		{"GET", "/data/s0-a0-t999.json", nil, "404 application/json"},
		{"GET", "/data/s0-a0-x0.json", nil, "404 application/json"},
		{"GET", "/data/s99999999999999999999.json", nil, "404 application/json"},
		{"GET", "/data/index", nil, "404 application/json"},
		{"GET", "/index.html", nil, "404 application/json"},
		{"GET", "/../style.css", nil, "404 application/json"},
		{"GET", "/data/..%2f..%2fetc%2fpasswd.json", nil, "404 application/json"},
		{"GET", "/s/name/", nil, "404 application/json"},
		{"POST", "/", nil, "405 application/json"},
		{"DELETE", "/data/s0.json", nil, "405 application/json"},
		{"GET", "/", map[string]string{"Host": "evil.example"}, "403 application/json"},
		{"GET", "/", map[string]string{"Host": "evil.example:80"}, "403 application/json"},
		{"GET", "/data/s0.json", map[string]string{"Origin": "http://evil.example"}, "403 application/json"},
		{"GET", "/data/s0.json", map[string]string{"Origin": "null"}, "403 application/json"},
		{"GET", "/data/s0.json", map[string]string{"Origin": "http://127.0.0.1:1"}, "403 application/json"},
		{"GET", "/data/s0.json", map[string]string{"Origin": "http://" + host}, "200 application/json"},
		{"GET", "/app.js", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, "403 application/json"},
		{"GET", "/app.js", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, "403 application/json"},
		{"GET", "/", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}, "200 text/html; charset=utf-8"},
	} {
		assert.Equal(t, ask(t, c.method, url+c.path, c.head), c.want, "%s %s %v", c.method, c.path, c.head)
	}
}

func TestEveryAnswerForbidsWhatThePageDoesNotDo(t *testing.T) {
	for _, path := range []string{"/", "/app.js", "/data/index.json", "/nothing"} {
		w := httptest.NewRecorder()
		NewHandler(book(survey("a", false))).ServeSession("", w, httptest.NewRequest("GET", path, nil))
		assert.Equal(t, w.Header().Get("Content-Security-Policy"), policy)
		assert.Equal(t, w.Header().Get("X-Content-Type-Options"), "nosniff")
		assert.Equal(t, w.Header().Get("Cache-Control"), "no-store")
		assert.Equal(t, w.Header().Get("Cross-Origin-Resource-Policy"), "same-origin")
	}
	assert.Assert(t, !strings.Contains(policy, "unsafe"))
}

// A history can neither end a script element nor begin one: between the blocks
// of a file stands no < that we did not write.
func TestAFileHoldsNoMarkupOfAHistory(t *testing.T) {
	var plain, bad bytes.Buffer
	assert.NilError(t, book(survey("a", false), survey("b", true)).WriteHTML(&plain))
	assert.NilError(t, book(hostile("a"), hostile("b")).WriteHTML(&bad))
	tags := regexp.MustCompile(`(?i)<(!--|/?[a-z]+)`)
	kinds := func(page []byte) map[string]bool {
		found := map[string]bool{}
		for _, tag := range tags.FindAllString(string(page), -1) {
			found[tag] = true
		}
		return found
	}
	assert.DeepEqual(t, kinds(bad.Bytes()), kinds(plain.Bytes()))
	assert.Assert(t, !bytes.ContainsAny(bad.Bytes(), "\u2028\u2029"))
	assert.Equal(t, bytes.Count(bad.Bytes(), []byte("<script")), bytes.Count(bad.Bytes(), []byte("</script>")))
}

// The scripts stand in one scope, where a second function with one name would
// take the place of the first.
func TestNamesOfTheScriptsAreUnique(t *testing.T) {
	found := map[string]string{}
	names := regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function|const|let|class) (\w+)`)
	imports := regexp.MustCompile(`(?m)^import \{([^}]*)\} from "\./(\w+)\.js";$`)
	files, err := web.ReadDir("web")
	assert.NilError(t, err)
	count := 0
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".js") {
			count++
		}
	}
	assert.Equal(t, count, len(modules))
	for i, module := range modules {
		text := string(asset(module + ".js"))
		for _, m := range names.FindAllStringSubmatch(text, -1) {
			assert.Equal(t, found[m[1]], "", "%s stands in %s too", m[1], module)
			found[m[1]] = module
		}
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			for _, name := range strings.Split(m[1], ",") {
				assert.Assert(t, strings.Contains(string(asset(m[2]+".js")), " "+strings.TrimSpace(name)), "%s imports %s of %s", module, name, m[2])
			}
		}
		_ = i
		assert.Equal(t, strings.Count(text, "\nimport ")+strings.Count(text[:7], "import "), len(imports.FindAllString(text, -1)), module)
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "</script"} {
			assert.Assert(t, !strings.Contains(text, word), "%s has %s", module, word)
		}
	}
}

func TestTheWriterOfAFileHasItsErrors(t *testing.T) {
	for room := range 5 {
		err := book(survey("a", false)).WriteHTML(&full{room: room * 9000})
		assert.Error(t, err, "no room")
	}
}

type full struct{ room int }

func (f *full) Write(data []byte) (int, error) {
	if f.room -= len(data); f.room < 0 {
		return 0, fmt.Errorf("no room")
	}
	return len(data), nil
}

// FuzzRows: whatever an agent was told, the rows hold it, and their JSON can
// stand in a page.
func FuzzRows(f *testing.F) {
	f.Add("</script>", "{", "\xff\u2028")
	f.Fuzz(func(t *testing.T, said, args, result string) {
		s := newStage("a")
		s.root(said, args).say(1, strings.ToValidUTF8(said, ""), "tool "+strings.ToValidUTF8(args, "")).get(0, result)
		b := book(s.History())
		for _, data := range b.parts() {
			if i := bytes.IndexAny(data, "<>&\u2028\u2029"); i >= 0 {
				t.Fatalf("%q", data[i:])
			}
		}
		assert.Equal(t, b.sessions[0].told[0].lines[0].text, said)
	})
}

func modelOf(h *transcripts.History) (Session, [][]Row) {
	s := newSession(h, checked(h))
	var rows [][]Row
	for _, pages := range s.pages {
		var all []Row
		for _, p := range pages {
			all = append(all, p.rows...)
		}
		rows = append(rows, all)
	}
	return s.model, rows
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}
