package runtime

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

func TestConnectWords(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&url.Error{Op: "Post", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}, "refused the connection"},
		{fmt.Errorf("dial: %w", syscall.Errno(10061)), "refused the connection"},
		{context.Canceled, "was given up by the client before it answered"},
		{os.ErrDeadlineExceeded, "did not answer in time"},
		{x509.UnknownAuthorityError{}, "cannot be spoken to over TLS"},
		{&net.DNSError{Name: "host", IsNotFound: true}, "is of a host that is not known"},
		{errors.New("else"), "cannot be reached"},
	} {
		assert.Equal(t, ConnectWords(c.err), c.want)
	}
}
