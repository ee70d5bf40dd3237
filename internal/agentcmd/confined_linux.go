package agentcmd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// confinedName is the name under which this program is started in a network of
// its own.
const confinedName = "tapetree-offline"

// ready is what the process in the new network says with its listener.
const ready = "ready"

// channelFile is its end of the pair of sockets: the first file after the
// standard ones.
const channelFile = 3

// init makes any program with this package the one that waits, when it was
// started as that: a test's too.
func init() {
	if len(os.Args) < 3 || os.Args[0] != confinedName {
		return
	}
	unix.CloseOnExec(channelFile)
	channel, err := net.FileConn(os.NewFile(channelFile, "channel"))
	if err == nil {
		err = wait(channel.(*net.UnixConn), os.Args[1], os.Args[2:])
		fmt.Fprint(channel, err)
	}
	os.Exit(127)
}

// wait opens the listener, hands it over, and becomes the program at path as
// soon as it is given an environment. It returns an error only.
func wait(channel *net.UnixConn, path string, args []string) error {
	if err := bringUp("lo"); err != nil {
		return fmt.Errorf("bring the loopback device up: %w", err)
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fmt.Errorf("open a port: %w", err)
	}
	file, err := listener.File()
	if err != nil {
		return fmt.Errorf("hand the port over: %w", err)
	}
	if _, _, err := channel.WriteMsgUnix([]byte(ready), unix.UnixRights(int(file.Fd())), nil); err != nil {
		return fmt.Errorf("hand the port over: %w", err)
	}
	environ, err := io.ReadAll(channel)
	if err != nil || len(environ) == 0 {
		return errors.New("nobody needs it any more")
	}
	// The right to change the network ends here.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop the right to change the network: %w", err)
	}
	return syscall.Exec(path, args, strings.Split(string(environ), "\x00"))
}

// bringUp switches a network device on.
func bringUp(device string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}
