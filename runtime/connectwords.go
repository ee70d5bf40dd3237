package runtime

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// windowsRefused is the error number of Windows for a refused connection, which
// package syscall does not take for ECONNREFUSED.
const windowsRefused = syscall.Errno(10061)

// ConnectWords says in words why a server gave a request no answer, as in "the
// server refused the connection": no addresses, and no words of the system.
func ConnectWords(err error) string {
	unknown, noHost := errors.AsType[*net.DNSError](err)
	switch kind := ConnectKind(err); {
	case errors.Is(err, context.Canceled):
		return "was given up by the client before it answered"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, windowsRefused):
		return "refused the connection"
	case kind == KindTimeout:
		return "did not answer in time"
	case kind == KindTLS:
		return "cannot be spoken to over TLS"
	case noHost && unknown.IsNotFound:
		return "is of a host that is not known"
	default:
		return "cannot be reached"
	}
}
