package runtime

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"time"
)

// OwnError marks an error of this program that passes through the HTTP layer,
// such as a recorder's full disk. Live returns it as it is, and it ends the
// session; every other error of that layer is the upstream's.
type OwnError struct{ Err error }

func (e *OwnError) Error() string { return e.Err.Error() }

// Unwrap returns the error that is marked.
func (e *OwnError) Unwrap() error { return e.Err }

// isOwn reports an error of ours: one that is marked, or one of a file.
func isOwn(err error) bool {
	var own *OwnError
	var file *fs.PathError
	return errors.As(err, &own) || errors.As(err, &file)
}

// ConnectKind says why a request got no response: KindTimeout, KindTLS or, for
// all else, KindDial.
func ConnectKind(err error) string {
	var (
		timeout  interface{ Timeout() bool }
		cert     *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &alert),
		errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &invalid):
		return KindTLS
	case errors.As(err, &timeout) && timeout.Timeout():
		return KindTimeout
	case err != nil && (strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "HTTP response to HTTPS client")):
		return KindTLS // net/http keeps no type for these
	default:
		return KindDial
	}
}

// EndOf says how a body ended from the error of its last read.
func EndOf(err error) End {
	var network net.Error
	switch {
	case err == nil || err == io.EOF:
		return EndEOF
	case errors.As(err, &network) && network.Timeout():
		return EndTimeout
	case errors.Is(err, context.Canceled):
		return EndClientClosed
	default:
		return EndReset
	}
}

// watch ends a request when no byte came for a while.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer
}

func newWatch(ctx context.Context, limit time.Duration) *watch {
	w := &watch{limit: limit}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(limit, func() { w.cancel(&silenceError{limit}) })
	return w
}

// reset starts the wait anew.
func (w *watch) reset() { w.timer.Reset(w.limit) }

// why returns the silence that ended the request if it did, in the place of err.
func (w *watch) why(err error) error {
	var silence *silenceError
	if err != nil && err != io.EOF && errors.As(context.Cause(w.ctx), &silence) {
		return silence
	}
	return err
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// silenceError is the cause of a request that watch ended. It is a net.Error.
type silenceError struct{ limit time.Duration }

func (e *silenceError) Error() string {
	return fmt.Sprintf("the upstream sent nothing for %v", e.limit)
}
func (e *silenceError) Timeout() bool   { return true }
func (e *silenceError) Temporary() bool { return true }
