package proxy

import (
	"io"
	"net/http"
	"time"
)

// idleBody is a request's body that ends with an error when nothing of it comes
// for a while. What comes slowly, but comes, is waited for.
type idleBody struct {
	io.ReadCloser
	conn *http.ResponseController
	idle time.Duration
}

// Read implements io.Reader.
func (b *idleBody) Read(p []byte) (int, error) {
	// An error says that the connection keeps no deadlines: then there is none.
	_ = b.conn.SetReadDeadline(time.Now().Add(b.idle))
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.conn.SetReadDeadline(time.Time{}) // the client may be silent while it is answered
	}
	return n, err
}

// idleWriter fails when the client takes nothing of the response for a while.
type idleWriter struct {
	http.ResponseWriter
	conn *http.ResponseController
	idle time.Duration
}

// Write implements io.Writer.
func (w *idleWriter) Write(p []byte) (int, error) {
	w.renew()
	return w.ResponseWriter.Write(p)
}

// FlushError sends what was written.
func (w *idleWriter) FlushError() error {
	w.renew()
	return w.conn.Flush()
}

// Flush implements http.Flusher.
func (w *idleWriter) Flush() { _ = w.FlushError() } // the next Write tells

func (w *idleWriter) renew() {
	_ = w.conn.SetWriteDeadline(time.Now().Add(w.idle)) // see idleBody.Read
}

// Unwrap is for http.ResponseController.
func (w *idleWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
