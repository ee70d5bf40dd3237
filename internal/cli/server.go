package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/tapetree/tapetree/record/proxy"
)

// shutdownGrace is how long requests may be under way when a server ends.
const shutdownGrace = 10 * time.Second

// listen starts a server at the address that a flag gives.
func listen(flag, address string, sessions proxy.Sessions, o proxy.ServerOptions) (*proxy.Server, error) {
	server, err := proxy.Listen(address, sessions, o)
	if err == nil {
		return server, nil
	}
	if _, _, wrong := net.SplitHostPort(address); wrong != nil {
		return nil, usagef("%s: %v", flag, err)
	}
	return nil, &exitError{exitCannotRun, fmt.Errorf("listen at %s: %w", address, err)}
}

// untilEnded waits until ctx ends or the server does, and lets the requests that
// are under way finish.
func untilEnded(ctx context.Context, server *proxy.Server) error {
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	over, cut := context.WithTimeout(context.Background(), shutdownGrace)
	defer cut()
	if err := server.Shutdown(over); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return &exitError{exitCannotRun, fmt.Errorf("end the server: %w", err)}
	}
	if err := server.Err(); err != nil {
		return &exitError{exitCannotRun, fmt.Errorf("serve at %s: %w", server.URL(), err)}
	}
	return nil
}
