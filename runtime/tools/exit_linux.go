package tools

import "golang.org/x/sys/unix"

// awaitExit returns when the child process pid has ended, and leaves it to be
// reaped.
func awaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
