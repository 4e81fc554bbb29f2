package world

import (
	"errors"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Loopback listens from within the machine's namespace: a socket stays in the one in which it was made.
func (n *namespaces) Loopback(i int) (listener net.Listener, err error) {
	there, err := os.Open(n.machines[i].path())
	if err != nil {
		return nil, err
	}
	defer there.Close()
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer here.Close()

	runtime.LockOSThread() // namespaces are those of threads
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	listener, err = net.Listen("tcp", "127.0.0.1:0")
	if wrong := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); wrong != nil {
		return nil, errors.Join(err, wrong) // the thread stays locked, and ends with its goroutine
	}
	runtime.UnlockOSThread()
	return listener, err
}
