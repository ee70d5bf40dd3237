package agentcmd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// confined is a program that waits in a network of its own: this program,
// started once more, which has opened the listener there and becomes the
// agent's when it is given an environment.
type confined struct {
	agent    *Agent
	process  *process
	channel  *net.UnixConn
	listener net.Listener
}

// confine starts the one that waits, and takes its listener over.
func confine(a *Agent) (*confined, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{confinedName, a.path}, a.command.Args...)
	cmd.Dir = a.command.Dir
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = ownNetwork(os.Getuid(), os.Getgid())
	c := &confined{agent: a, channel: ours}
	if c.process, err = startProcess(cmd, &a.command); err != nil {
		_ = ours.Close()
		return nil, reason(err)
	}
	theirs.Close()
	if c.listener, err = c.receive(); err != nil {
		c.giveUp()
		return nil, err
	}
	return c, nil
}

// reason is an error's own word, without the path of this program.
func reason(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return err
}

// ownNetwork makes the new process one with a network of its own. Who is not
// root must be given that right in a namespace of users of its own first, and
// there the right to bring the loopback device up.
func ownNetwork(uid, gid int) *syscall.SysProcAttr {
	if uid == 0 {
		return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
	}
}

func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	file := os.NewFile(uintptr(pair[0]), "channel")
	defer file.Close()
	theirs = os.NewFile(uintptr(pair[1]), "channel")
	conn, err := net.FileConn(file)
	if err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	return conn.(*net.UnixConn), theirs, nil
}

// receive takes the listener over, or the word of what went wrong.
func (c *confined) receive() (net.Listener, error) {
	word, rights := make([]byte, 512), make([]byte, unix.CmsgSpace(4))
	n, m, _, _, err := c.channel.ReadMsgUnix(word, rights)
	switch {
	case n == 0 || errors.Is(err, io.EOF):
		return nil, errors.New("the process that opens a port there has ended")
	case err != nil:
		return nil, err
	case string(word[:n]) != ready:
		return nil, errors.New(string(word[:n]))
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no port came over")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		return nil, errors.New("no port came over")
	}
	file := os.NewFile(uintptr(files[0]), "listener")
	defer file.Close()
	return net.FileListener(file)
}

// release gives the waiting process its environment, upon which it becomes the
// program. The error is that of the system when it does not.
func (c *confined) release(environ []string) (*process, error) {
	if _, err := io.WriteString(c.channel, strings.Join(environ, "\x00")); err != nil {
		c.giveUp()
		return nil, err
	}
	if err := c.channel.CloseWrite(); err != nil {
		c.giveUp()
		return nil, err
	}
	word, err := io.ReadAll(io.LimitReader(c.channel, 512)) // ends when the program begins
	_ = c.channel.Close()
	if err == nil && len(word) > 0 {
		err = errors.New(string(word))
	}
	if err != nil {
		c.giveUp()
		return nil, err
	}
	return c.process, nil
}

// giveUp ends the process that waits.
func (c *confined) giveUp() {
	_ = c.channel.Close()
	c.process.end()
	c.process.takeBack()
}
