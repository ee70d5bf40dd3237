package scripted

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options are the manners of a server. The zero value streams arguments whole,
// at once, with ids that do not change between runs.
type Options struct {
	// Random makes ids at random, as real servers do. Otherwise they come from
	// the body of the request, so that they are the same in any order of
	// arrival; equal requests differ in a number.
	Random bool
	Piece  int           // streamed arguments come in pieces of so many bytes
	Pace   time.Duration // waits so long before each event of a stream
	Log    io.Writer     // one line for each request; nil for none
}

// Server answers by a script. It is an http.Handler for any number of clients
// at once.
type Server struct {
	script  *Script
	options Options

	mu     sync.Mutex
	failed map[int]int    // how often each rule has failed a request
	seen   map[string]int // how often each request came
}

// New returns a server for a script from ParseScript.
func New(s *Script, o Options) *Server {
	return &Server{script: s, options: o, failed: map[int]int{}, seen: map[string]int{}}
}

// longestBody is where reading a request stops: far beyond any conversation,
// and it keeps a mistaken upload from filling the memory.
const longestBody = 64 << 20

// ServeHTTP answers POST to …/chat/completions, …/responses and …/messages,
// and GET of …/models. Anything else is a 404 in the form of the wire.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimRight(r.URL.Path, "/")
	anthropic := strings.HasSuffix(path, "/messages")
	if r.Method == http.MethodGet && strings.HasSuffix(path, "/models") {
		s.log(r, 0, "models")
		s.send(w, http.StatusOK, s.models())
		return
	}
	form := map[string]wire{"completions": chatWire, "responses": responsesWire, "messages": messagesWire}[path[strings.LastIndex(path, "/")+1:]]
	if r.Method != http.MethodPost || form.whole == nil {
		s.log(r, 0, "404")
		s.send(w, http.StatusNotFound, failure(anthropic, http.StatusNotFound, "no such endpoint: "+r.Method+" "+r.URL.Path))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
	var q question
	if err == nil {
		q, err = read(body)
	}
	if err != nil {
		s.log(r, len(body), "400 "+err.Error())
		s.send(w, http.StatusBadRequest, failure(anthropic, http.StatusBadRequest, err.Error()))
		return
	}
	reply, marker := s.pick(q)
	s.log(r, len(body), fmt.Sprintf("%d tools, rule %q: %s", len(q.offered), marker, reply.short()))
	if reply.Status != 0 {
		s.fail(w, anthropic, reply)
		return
	}
	a := answer{Reply: reply, id: s.id(r.URL.Path, body), model: s.script.Model, input: len(body) / 4, piece: s.options.Piece}
	if !q.stream {
		s.send(w, http.StatusOK, form.whole(a))
		return
	}
	s.stream(w, r, form.events(a, q.usage))
}

// wire is how an answer is written down.
type wire struct {
	whole  func(a answer) object
	events func(a answer, usage bool) []event
}

// answer is a reply at its place.
type answer struct {
	Reply
	id    string // what ids are made of
	model string
	input int // tokens: a quarter of the bytes, roughly what tokenizers give
	piece int
}

// output is the tokens of the answer, counted as those of the request are.
func (a answer) output() int {
	n := len(a.Text)
	for _, call := range a.Calls {
		n += len(call.Name) + len(call.Arguments)
	}
	return 1 + n/4
}

// created is the time at which every answer says it was made: a fixed one.
const created = 1700000000

func (s *Server) models() object {
	model := object{
		"id", s.script.Model, "object", "model", "created", created, "owned_by", "tapetree",
		"type", "model", "display_name", s.script.Model, "created_at", "2023-11-14T22:13:20Z",
	}
	return object{"object", "list", "data", list{model}, "has_more", false, "first_id", s.script.Model, "last_id", s.script.Model}
}

// id makes what the ids of one answer are built from.
func (s *Server) id(path string, body []byte) string {
	if s.options.Random {
		return rand.Text()[:12]
	}
	sum := sha256.New()
	sum.Write([]byte(path))
	sum.Write(body)
	id := hex.EncodeToString(sum.Sum(nil))[:12]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[id]++
	if n := s.seen[id]; n > 1 {
		id += "x" + strconv.Itoa(n)
	}
	return id
}

func (s *Server) fail(w http.ResponseWriter, anthropic bool, r Reply) {
	message := r.Message
	if message == "" {
		message = "the script fails this request"
	}
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	s.send(w, r.Status, failure(anthropic, r.Status, message))
}

func (s *Server) send(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(encode(body), '\n')) // a client that is gone needs no answer
}

// event is one event of a stream. Without a name only its data is written.
type event struct {
	name string
	data []byte
}

// stream writes events one by one until the client leaves.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flusher := http.NewResponseController(w)
	for _, e := range events {
		if s.options.Pace > 0 {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(s.options.Pace):
			}
		}
		text := "data: " + string(e.data) + "\n\n"
		if e.name != "" {
			text = "event: " + e.name + "\n" + text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		if err := flusher.Flush(); err != nil {
			return
		}
	}
}

// short is a reply in a word or two, for the log.
func (r Reply) short() string {
	if r.Status != 0 {
		return strconv.Itoa(r.Status)
	}
	names := []string{}
	for _, call := range r.Calls {
		names = append(names, call.Name)
	}
	if len(names) == 0 {
		return "text"
	}
	return strings.Join(names, "+")
}

func (s *Server) log(r *http.Request, bytes int, what string) {
	if s.options.Log == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.options.Log, "%s %s %d bytes, %s\n", r.Method, r.URL.Path, bytes, what)
}
