//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package tools

import "golang.org/x/sys/unix"

// awaitExit returns when the child process pid has ended, and leaves it to be
// reaped. waitid will not do here: it also returns for a stopped process.
func awaitExit(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	changes := []unix.Kevent_t{change}
	events := make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(queue, changes, events, nil)
		switch {
		case err == unix.ESRCH: // it has ended already and waits to be reaped
			return nil
		case err == unix.EINTR:
			changes = nil
		case err != nil || n > 0:
			return err
		}
	}
}
