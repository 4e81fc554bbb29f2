//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// outlets are pipes that carry a command's output to writers. Those of os/exec are closed half
// a second after the command's end, read or not: on a machine with twenty times its load a
// reviewer's answer was lost so.
type outlets []*outlet

type outlet struct {
	from, to *os.File
	copied   chan struct{}
}

// pipe has a command that has not started write to w.
func (o *outlets) pipe(w io.Writer) (*os.File, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	one := &outlet{from, to, make(chan struct{})}
	*o = append(*o, one)
	go one.copy(w)
	return to, nil
}

// carry takes over what os/exec would copy itself. Whatever it returns, started and finish have
// to follow.
func (o *outlets) carry(cmd *exec.Cmd) error {
	one := cmd.Stdout == cmd.Stderr
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if _, file := (*stream).(*os.File); file {
			continue
		}
		to, err := o.pipe(*stream)
		if err != nil {
			return err
		}
		*stream = to
		if one {
			cmd.Stderr = to
		}
	}
	return nil
}

// started closes our write ends. If the command did not start, the readers see the end at once.
func (o outlets) started() {
	for _, one := range o {
		one.to.Close()
	}
}

// finish reads what a command that has ended wrote, and for drain what others write who hold
// its output.
func (o outlets) finish() {
	for _, one := range o {
		_ = one.from.SetReadDeadline(time.Now().Add(drain))
	}
	for _, one := range o {
		<-one.copied
		one.from.Close()
	}
}

func (o *outlet) copy(w io.Writer) {
	defer close(o.copied)
	buf := make([]byte, 32<<10)
	for {
		n, err := o.from.Read(buf)
		_, _ = w.Write(buf[:n]) // the command goes on, whatever becomes of its output
		if errors.Is(err, os.ErrDeadlineExceeded) {
			o.rest(w, buf)
		}
		if err != nil {
			return
		}
	}
}

// rest copies what is in the pipe, and waits for nothing. That is at most what the
// pipe holds, unless another process keeps writing.
func (o *outlet) rest(w io.Writer, buf []byte) {
	_ = o.from.SetReadDeadline(time.Time{})
	raw, err := o.from.SyscallConn()
	for read := 0; err == nil && read < 1<<20; {
		n := 0
		once := raw.Read(func(fd uintptr) bool { n, err = syscall.Read(int(fd), buf); return true })
		if err == syscall.EINTR {
			err = nil
			continue
		}
		if once != nil || n <= 0 {
			return
		}
		_, _ = w.Write(buf[:n])
		read += n
	}
}
