package view

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/record/proxy"
)

// policy lets a page run our script, use our style sheet, and ask us for data,
// and nothing else. No text can become markup: with Trusted Types a script that
// tries fails.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Handler answers a page's requests. It belongs behind a proxy.Server, which
// refuses requests of other hosts and bounds what clients can take.
type Handler struct{ book *Book }

// NewHandler serves a book, which must not change any more.
func NewHandler(book *Book) *Handler { return &Handler{book} }

// SessionCount implements proxy.Sessions; /healthz says it.
func (h *Handler) SessionCount() int { return h.book.Len() }

// ServeSession implements proxy.Sessions.
func (h *Handler) ServeSession(name string, w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		head.Set("Allow", "GET, HEAD")
		proxy.WriteError(w, r, http.StatusMethodNotAllowed, "method_not_allowed", "the page is read with GET")
	case !ownOrigin(r):
		proxy.WriteError(w, r, http.StatusForbidden, "forbidden_origin", "only the page itself may ask for this")
	case name != "":
		proxy.WriteError(w, r, http.StatusNotFound, "not_found", "there is no such page")
	default:
		h.serve(w, r)
	}
}

// ownOrigin reports that no page of another origin asks, not even one of this
// machine.
func ownOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && !strings.EqualFold(origin, "http://"+r.Host) {
		return false
	}
	from := r.Header.Get("Sec-Fetch-Site")
	if from == "cross-site" || from == "same-site" {
		return r.Header.Get("Sec-Fetch-Mode") == "navigate" // a link that somebody follows
	}
	return true
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; path {
	case "/":
		write(w, "text/html; charset=utf-8", servedPage())
	case "/app.js":
		write(w, "text/javascript; charset=utf-8", script())
	case "/style.css":
		write(w, "text/css; charset=utf-8", style())
	default:
		id, isPart := strings.CutPrefix(path, "/data/")
		id, isJSON := strings.CutSuffix(id, ".json")
		if data, ok := h.book.part(id); ok && isPart && isJSON {
			write(w, "application/json", data)
			return
		}
		proxy.WriteError(w, r, http.StatusNotFound, "not_found", "there is no such page")
	}
}

func write(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // a client that is gone needs no answer
}
