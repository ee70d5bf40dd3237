package record

import (
	"bytes"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// expandReply returns the recorded response of e with the paths of this machine
// in place of placeholders. One that holds none stays byte for byte as it came.
func expandReply(fold *runtime.Folder, e *transcripts.Exchange) *runtime.Response {
	reply := e.Reply()
	switch {
	case fold == nil || !bytes.Contains(reply.Body, []byte("{{")):
	case reply.Stream:
		reply.Body = []byte(strings.Join(ExpandSSE(fold, e.SSE), ""))
	default:
		reply.Body = fold.ExpandJSON(reply.Body)
	}
	return reply
}
