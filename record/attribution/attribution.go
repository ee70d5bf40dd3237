// Package attribution finds out which agent a request belongs to when its
// client does not say so: a program in any language that talks to a model on
// behalf of a parent and its subagents.
//
// It knows nothing of HTTP and of transcripts: it is told of requests as they
// begin, of the calls of their answers as they become complete, and of their
// ends, and puts each request into a thread, which is one conversation. What a
// thread is called (root, root/2.1, root~title.1) can change until its parent
// goes on, so names are read at the end.
package attribution

import (
	"net/http"

	"github.com/tapetree/tapetree/runtime"
)

// Options sets up a Scope.
type Options struct {
	// IgnoreSessionHeaders leaves the session headers of clients out of account.
	IgnoreSessionHeaders bool
}

// Request is one request for a model answer.
type Request struct {
	// Messages is the whole conversation in chat form
	// (runtime.Wire.ChatForm), system texts included.
	Messages []runtime.Message
	// Base is the Log of an earlier request of this scope whose first Known
	// messages are, byte for byte, the first ones of this request, so that only
	// what follows is read; nil: nothing is known.
	Base  *Log
	Known int
	// Tools and Body are digests of the tool list ("" for none) and of the whole
	// request: equal digests mean equal bytes.
	Tools, Body string
	Header      http.Header
	// Agent is the path that the client itself names (X-Tapetree-Agent), "" for
	// none. The request belongs to that agent whatever it says.
	Agent runtime.Path
	// Previous is the id of the answer that this request goes on from, on a wire
	// where the server keeps the conversation (previous_response_id); "" for none.
	Previous string
}

// Thread is one conversation of a scope; threads are numbered from 0 in the
// order in which they begin, and the number never changes.
type Thread int

// Label is what a thread is called.
type Label struct {
	Path       runtime.Path
	Flag       string         // "", FlagTwin or FlagAmbiguous
	Candidates []runtime.Path // with a flag: the paths it may be, sorted
}

// Place is where an exchange stands: its thread's label, the turn and the try.
type Place struct {
	Label
	Turn, Try int
}
