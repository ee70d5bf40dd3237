package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tapetree/tapetree/runtime"
)

// WriteError answers with an error of ours, in the shape that a client of the
// request's wire understands. SDKs are told not to try again what will not
// change.
func WriteError(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	message = "tapetree: " + message
	w.Header().Set("Content-Type", "application/json")
	if status < http.StatusInternalServerError {
		w.Header().Set("X-Should-Retry", "false")
	}
	w.WriteHeader(status)
	// A client that is gone needs no answer.
	_ = json.NewEncoder(w).Encode(errorBody(r, code, message))
}

// errorFields are those of an error on all wires.
type errorFields struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func errorBody(r *http.Request, code, message string) any {
	fields := errorFields{Type: "tapetree_" + code, Code: code, Message: message}
	if wire, _ := runtime.WireOf(r.URL.Path); wire == runtime.WireMessages {
		return struct {
			Type  string      `json:"type"`
			Error errorFields `json:"error"`
		}{"error", fields}
	}
	return struct {
		Error errorFields `json:"error"`
	}{fields}
}

// byteCount writes a number of bytes for a person.
func byteCount(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
