//go:build linux || darwin

package api

import (
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

func listen(path string) (net.Listener, error) {
	// A socket is made with all rights that the mask leaves. The mask is the whole
	// process's, but takes nothing from files and directories that we make.
	before := syscall.Umask(0o077)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	syscall.Umask(before)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	return &own{UnixListener: l, path: path}, nil
}

// own accepts connections of the user who listens.
type own struct {
	*net.UnixListener
	path    string
	left    atomic.Bool
	removed sync.Once
}

// SetUnlinkOnClose is as that of net.UnixListener, also while others close it.
func (l *own) SetUnlinkOnClose(unlink bool) { l.left.Store(!unlink) }

// Close removes the socket first: nobody finds one that does not answer.
func (l *own) Close() error {
	l.removed.Do(func() {
		if !l.left.Load() {
			_ = os.Remove(l.path) // the next daemon does it else
		}
	})
	return l.UnixListener.Close()
}

func (l *own) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peer(conn)
		if err == nil && uid == os.Geteuid() {
			return conn, nil
		}
		slog.Warn("connection refused", "uid", uid, "error", err)
		turnAway(conn, "403 Forbidden", `{"code":"forbidden","error":"this daemon belongs to another user"}`)
	}
}

// peer is the user at the other end.
func peer(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	uid = -1
	if failed := raw.Control(func(fd uintptr) { uid, err = peerOf(int(fd)) }); failed != nil {
		return -1, failed
	}
	return uid, err
}
