package enclave

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Available reports why there can be no enclave; nil where there can. It is tried once, with
// the rights that we have and else with those that the kernel gives a user in a namespace:
// containers and distributions forbid one or the other, and no setting tells all of that.
func Available() error {
	_, err := tried()
	return err
}

// AsUser reports whether the enclaves here need a user namespace, in which a program cannot
// change to another user.
func AsUser() bool {
	flags, err := tried()
	return err == nil && flags&syscall.CLONE_NEWUSER != 0
}

var tried = sync.OnceValues(func() (flags uintptr, err error) {
	ways := []uintptr{syscall.CLONE_NEWNS, syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
	if !mayMount() {
		ways = ways[1:]
	}
	for _, flags := range ways {
		if err = try(flags); err == nil {
			return flags, nil
		}
	}
	if !errors.Is(err, ErrUnavailable) {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return 0, err
})

// mayMount reports whether we have CAP_SYS_ADMIN. With it no user namespace is needed, in
// which sudo and other programs that change the user cannot work.
func mayMount() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// try makes an enclave over the directory for temporary files, and runs nothing in it.
func try(flags uintptr) error {
	const patience = 10 * time.Second // it takes milliseconds
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = []string{}
	entry, err := (&Enclave{[]Cover{{Dir: os.TempDir()}}}).enter(cmd, flags, "")
	if err != nil {
		return err
	}
	err = cmd.Run()
	entry.Started()
	if fault := entry.Fault(); fault != nil {
		return fault
	}
	return err
}

// Enter has a command that has not started run in the enclave. Started has to be called once
// it has, or could not, and then Fault when it has ended.
func (e *Enclave) Enter(cmd *exec.Cmd) (*Entry, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	flags, err := tried()
	if err != nil {
		return nil, err
	}
	return e.enter(cmd, flags, cmd.Path)
}

func (e *Enclave) enter(cmd *exec.Cmd, flags uintptr, program string) (*Entry, error) {
	asUser := flags&syscall.CLONE_NEWUSER != 0
	given, err := handOver(order{Enclave: *e, Program: program, Args: cmd.Args, Cwd: cmd.Dir, AsUser: asUser})
	if err != nil {
		return nil, err
	}
	faults, write, err := os.Pipe()
	if err != nil {
		given.Close()
		return nil, err
	}

	cmd.Path, cmd.Args = "/proc/self/exe", []string{os.Args[0], word}
	cmd.Dir = "/" // the directory may be one that only the enclave has
	cmd.ExtraFiles = []*os.File{given, write}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := cmd.SysProcAttr
	attr.Cloneflags |= flags
	if asUser {
		// The command stays who it is, and keeps what its groups may read.
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // a user's rights in its namespace end with exec; the stage mounts
	}
	return &Entry{given, write, faults}, nil
}

// handOver writes an order into memory for the stage to read. A pipe would need a writer
// that waits for it.
func handOver(o order) (*os.File, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("stopgate", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "order")
	if _, err = file.Write(text); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Entry is a command on its way into an enclave.
type Entry struct{ given, write, faults *os.File }

// Started closes what only the command needs.
func (e *Entry) Started() {
	e.given.Close()
	e.write.Close()
}

// Fault is why the command could not be started in the enclave; nil when it ran. It is
// ErrUnavailable where there was no enclave.
func (e *Entry) Fault() error {
	defer e.faults.Close()
	text, err := io.ReadAll(e.faults)
	if err != nil || len(text) == 0 {
		return err
	}
	if why, found := strings.CutPrefix(string(text), ErrUnavailable.Error()+": "); found {
		return fmt.Errorf("%w: %s", ErrUnavailable, why)
	}
	return errors.New(string(text))
}
