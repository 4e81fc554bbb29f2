//go:build unix

package errand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/session/terminal"
)

func canTerminal() error { return nil }

// RunInTerminal is the runner of an errand that was started in a terminal. That the
// terminal goes away is a wish that the command end, as SIGTERM is.
func RunInTerminal(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Keys that come before the command does are not meant for us. To ignore the signals
	// would have the command ignore them too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGPIPE)
	d := directory(dir)
	return runner{
		dir: d, stage: tty{os.Stdin, os.Environ()}, now: time.Now, mouth: note(d.path("said")),
		grace: grace, patience: enough,
	}.run(ctx)
}

// tty is the terminal that a command has to itself.
type tty struct {
	file *os.File
	env  []string // of the terminal's programs
}

// hold waits for whoever launched us. Meanwhile the terminal may have gone away, because
// another runner was launched in our place.
func (t tty) hold(d directory) (*os.File, error) {
	lock, err := d.takeSoon(time.Minute)
	if err != nil {
		return nil, err
	}
	if err := t.ours(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// ours fails where we do not have the terminal to give.
func (t tty) ours() error {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err == nil && group != syscall.Getpgrp() {
		err = errors.New("another process has it")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	return nil
}

func (t tty) environ(d directory) ([]string, error) {
	env, err := d.readEnviron()
	return inTerminal(env, t.env), err
}

// start starts the command in the foreground of the terminal. It waits until it is there:
// else it could be stopped for what it does to the terminal.
func (t tty) start(cmd *exec.Cmd, _ *output) error {
	// The script is the third word, behind the shell and -c.
	cmd.Args[2] = "read -r STOPGATE_READY <&3 || exit 1; unset STOPGATE_READY; exec 3<&-\n" + cmd.Args[2]

	ear, mouth, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ear.Close()
	defer mouth.Close()

	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.file, t.file, t.file
	cmd.ExtraFiles = []*os.File{ear}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.E2BIG) {
			return fmt.Errorf("the command and its environment are too large: %w", err)
		}
		return err
	}

	// From here on it is we who are in the background.
	signal.Ignore(syscall.SIGTTOU)
	err = t.show(cmd.Process.Pid)
	if err == nil {
		_, err = io.WriteString(mouth, "\n")
	}
	if err != nil {
		_ = cmd.Cancel() // it has done nothing yet
		_ = cmd.Wait()
		return errors.Join(errHungUp, err)
	}
	return nil
}

// show brings a process group to the foreground.
func (t tty) show(group int) error {
	return os.NewSyscallError("tcsetpgrp", unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group))
}

// wait has the command go on whenever it was stopped: there is no shell in the terminal
// that would do so.
func (t tty) wait(cmd *exec.Cmd) int {
	pid := cmd.Process.Pid
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return -1
		case status.Stopped():
			_ = t.show(pid) // somebody else may have taken the terminal
			_ = syscall.Kill(-pid, syscall.SIGCONT)
		default:
			return statusCode(status)
		}
	}
}

// ended keeps what is to be seen of the command.
func (t tty) ended(out *output) {
	pane, ok := terminal.FromEnviron(t.env)
	if !ok {
		return
	}
	_ = t.settle(3 * time.Second) // what is there then has to do
	const scrolled = 100
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	text, err := pane.LastLines(ctx, scrolled)
	text = strings.TrimRight(text, " \n")
	if err != nil || text == "" {
		return
	}
	_, _ = io.WriteString(out, text+"\n")
}

// settle waits until the terminal has drawn all that was printed: it is asked where its
// cursor is, and answers in turn. One that was stopped, or is gone, does not answer.
func (t tty) settle(patience time.Duration) error {
	settled := make(chan error, 1)
	go func() { settled <- t.askPosition() }()
	select {
	case err := <-settled:
		return err
	case <-time.After(patience):
		return errors.New("the terminal does not answer")
	}
}

func (t tty) askPosition() error {
	if err := t.show(syscall.Getpgrp()); err != nil {
		return err
	}
	if _, err := term.MakeRaw(int(t.file.Fd())); err != nil {
		return err
	}
	if _, err := io.WriteString(t.file, "\x1b[6n"); err != nil {
		return err
	}
	return awaitPosition(t.file)
}

// awaitPosition reads up to the answer, which may come behind keys that were pressed.
func awaitPosition(r io.Reader) error {
	const longest = 16
	var last []byte
	for one := make([]byte, 1); !isPosition(last); {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		last = append(last[max(0, len(last)-longest):], one[0])
	}
	return nil
}

// isPosition reports whether a text ends in a position of the cursor: ESC [ 12 ; 40 R.
func isPosition(text []byte) bool {
	text, ok := bytes.CutSuffix(text, []byte("R"))
	at := bytes.LastIndex(text, []byte("\x1b["))
	return ok && at >= 0 && len(bytes.Trim(text[at+2:], "0123456789;")) == 0
}
