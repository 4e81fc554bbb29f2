package world

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// The socket at the other end is the connection's own, although its port had connections to somewhere else before, which
// the kernel still lists.
func TestAPortThatHadConnectionsBefore(t *testing.T) {
	from := &net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		control := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
		check(t, control)
		return err
	}}
	connect := func() (near, far net.Conn) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		defer l.Close()
		far, err = from.DialContext(t.Context(), "tcp", l.Addr().String())
		check(t, err)
		near, err = l.Accept()
		check(t, err)
		from.LocalAddr = far.LocalAddr()
		return near, far
	}

	for range 30 { // the list has no order
		near, far := connect()
		check(t, far.Close()) // who closes first keeps the address
		check(t, near.Close())
	}
	near, far := connect()
	defer near.Close()
	defer far.Close()

	file, err := far.(*net.TCPConn).File()
	check(t, err)
	defer file.Close()
	want, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	check(t, err)
	if got := otherEnd(near); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
