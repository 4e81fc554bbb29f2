//go:build linux || darwin

package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["nobody"] = childNobody
	children["leave"] = childLeave
}

// shortDir is a directory whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "api")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestTheSocketIsItsOwnersAlone(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	path := filepath.Join(shortDir(t), "s")
	l, err := Listen(path)
	check(t, err)
	info, err := os.Lstat(path)
	check(t, err)
	if info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if mask := syscall.Umask(0); mask != 0 {
		t.Errorf("the mask is %o", mask)
	}
	check(t, l.Close())
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestListenReplacesOnlySockets(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "s")
	check(t, processtest.Child(t, "leave", path).Run())
	if _, err := daemonapi.New(path, "v1").Version(t.Context()); !errors.Is(err, daemonapi.ErrNotRunning) || !strings.Contains(err.Error(), path) {
		t.Errorf("a socket that nobody listens on: %v", err)
	}
	l, err := Listen(path)
	check(t, err)
	serveOn(t, l, New(&fakePlane{}, "v1"))
	if _, err := daemonapi.New(path, "v1").Version(t.Context()); err != nil {
		t.Error(err)
	}

	file := filepath.Join(dir, "file")
	check(t, os.WriteFile(file, []byte("mine"), 0o600))
	link := filepath.Join(dir, "link")
	check(t, os.Symlink(path, link))
	for _, path := range []string{file, link} {
		if l, err := Listen(path); err == nil || !strings.Contains(err.Error(), "is not a socket") {
			t.Errorf("%s: %v, %v", path, l, err)
		}
	}
	if text, err := os.ReadFile(file); string(text) != "mine" {
		t.Errorf("the file is gone: %v", err)
	}
}

// childLeave leaves a socket behind, as a daemon does that is killed.
func childLeave(args []string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: args[0], Net: "unix"})
	if err == nil {
		l.SetUnlinkOnClose(false)
	}
	return err
}

func TestPathsThatAreNone(t *testing.T) {
	dir := shortDir(t)
	long := filepath.Join(dir, strings.Repeat("x", daemonapi.MaxSocket-len(dir)-1))
	for path, want := range map[string]string{
		long + "x":         "STOPGATE_STATE_DIR",
		"":                 "invalid socket path",
		"@abstract":        "invalid socket path",
		dir + "/a\x00b":    "invalid socket path",
		dir + "/missing/s": "no such file",
	} {
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200q: %v", path, err)
		}
		_, err := daemonapi.New(path, "v1").Version(t.Context())
		if down := errors.Is(err, daemonapi.ErrNotRunning); err == nil || !down && !strings.Contains(err.Error(), want) {
			t.Errorf("%.200q: client: %v", path, err)
		}
	}
	l, err := Listen(long)
	check(t, err)
	l.Close()
}

// A directory that is open to all, and one that is not.
func TestOtherUsersAreTurnedAway(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	log := captureLog(t)
	p := &fakePlane{}
	for _, open := range []bool{true, false} {
		// Nobody else may go into a test's temporary directory.
		dir := shortDir(t)
		path := filepath.Join(dir, "s")
		l, err := Listen(path)
		check(t, err)
		stop := serveOn(t, l, New(p, "v1"))
		if open {
			check(t, os.Chmod(dir, 0o777))
			check(t, os.Chmod(path, 0o666))
		}
		out, err := processtest.Child(t, "nobody", path).Output()
		check(t, err)
		want := "nothing was sent: HTTP/1.1 403 Forbidden\nasked: the socket belongs to another user: " + path + ", user 0\n"
		if !open {
			want = "nothing was sent: permission denied\nasked: permission denied\n"
		}
		if string(out) != want {
			t.Errorf("open %v: %s", open, out)
		}
		if calls := p.took(); calls != nil {
			t.Errorf("open %v: %q", open, calls)
		}
		if _, err := daemonapi.New(path, "v1").Version(t.Context()); err != nil {
			t.Errorf("open %v: the owner himself: %v", open, err)
		}
		stop()
	}
	if !strings.Contains(log.String(), "uid=65534") {
		t.Errorf("the log has %q", log.String())
	}
}

// childNobody asks as another user.
func childNobody(args []string) error {
	if err := syscall.Setuid(65534); err != nil {
		return err
	}
	fmt.Printf("nothing was sent: %s\n", silently(args[0]))
	_, err := daemonapi.New(args[0], "v1").Status(context.Background())
	if e, ok := errors.AsType[*daemonapi.Error](err); ok {
		fmt.Printf("asked: %d %s %s\n", e.Status, e.Code, e)
		return nil
	}
	fmt.Printf("asked: %v\n", cause(err))
	return nil
}

// silently is the first line that comes when one says nothing.
func silently(path string) string {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return cause(err).Error()
	}
	defer conn.Close()
	text, err := io.ReadAll(conn) // it ends: the daemon hangs up
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(text), "\r\n")
	return line
}

func cause(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return err
}
