//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package scenarios

func mkfifo(string) error { return ErrNoFIFO }
