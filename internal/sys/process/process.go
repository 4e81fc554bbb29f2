// Package process runs one command in a process group of its own, within a time,
// and keeps the end of what it prints.
package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/sys/enclave"
)

// Command is a command to run.
type Command struct {
	Args    []string
	Dir     string
	Env     []string
	Stdin   []byte
	Timeout time.Duration // from its start; 0: only the context limits it
	Lines   int           // how many of the last lines of output are kept
	// KeepStdout is how many of the first bytes of standard output are kept; 0
	// means maxStdout.
	KeepStdout int
	// OneStream gives the command one pipe for both streams, so that what it prints stays in
	// order. Nothing is kept of standard output then.
	OneStream bool
	// Output gets a copy of both streams as they come. An error of it does not
	// stop the command. Writes come one at a time.
	Output io.Writer
	// Stdout gets standard output as it comes, none of which is kept then.
	Stdout io.Writer
	// Spool is an empty file that takes standard output in place of a pipe, for a
	// command that exits before a pipe has taken all that it wrote. Stdout gets it
	// from there.
	Spool *os.File
	// Enough is closed when the caller has all that it wanted of the command, which
	// is then asked to end and, soon after, ended. Of a command that has it, nothing
	// stays behind, however it ends.
	Enough <-chan struct{}
	// Enclave is what the command sees in place of some directories; nil for what there is.
	Enclave *enclave.Enclave

	lastWord time.Duration // 0 means lastWord
}

// Shell is the argument list that runs a script in the POSIX shell. args
// become $1 and so on.
func Shell(script string, args ...string) []string {
	return append([]string{"sh", "-c", script, "sh"}, args...)
}

// Result tells how a command ended.
type Result struct {
	Code     int            // exit code; -1 if it did not exit by itself
	Signal   syscall.Signal // the signal that ended it, if one did
	TimedOut bool           // its own timeout was over
	Canceled bool           // the caller's context was over
	Err      error          // it could not be started
	Stdout   []byte         // the first bytes of it
	Tail     string         // the last lines of both streams, as they came
	Duration time.Duration
}

// Ran reports whether the command ran to its own end or its timeout: only then
// does the result say anything about what was checked. 126 and 127 are the
// shell's words for "cannot be executed" and "not found".
func (r Result) Ran() bool { return r.Err == nil && !r.Canceled && !r.Missing() }

// Missing reports whether the shell did not find or could not execute a program.
func (r Result) Missing() bool {
	return r.Err == nil && !r.Canceled && (r.Code == 126 || r.Code == 127)
}

// OK reports whether the command succeeded.
func (r Result) OK() bool { return r.Ran() && !r.TimedOut && r.Code == 0 && r.Signal == 0 }

// Killed reports whether a signal ended the command, or something that it waited for, as a shell tells it.
func (r Result) Killed() bool {
	const shells, lastSignal = 128, 64 // a shell adds the signal's number; ssh and PHP end with 255
	return r.Ran() && !r.TimedOut && (r.Signal != 0 || r.Code > shells && r.Code <= shells+lastSignal)
}

func (r Result) String() string {
	switch {
	case r.Canceled:
		return fmt.Sprintf("was ended after %s, because the hook timed out or was cancelled", round(r.Duration))
	case r.TimedOut:
		return fmt.Sprintf("timed out after %s", round(r.Duration))
	case r.Err != nil:
		return "could not be started: " + r.startError()
	case r.Signal != 0:
		return fmt.Sprintf("was ended by signal %d (%s)", int(r.Signal), r.Signal)
	case r.Code == 126:
		return "cannot be executed (exit 126)"
	case r.Code == 127:
		return "was not found (exit 127)"
	}
	return fmt.Sprintf("exit %d", r.Code)
}

// startError says why a command could not be started. Windows has no sh of its own, but Claude Code
// needs Git Bash there.
func (r Result) startError() string {
	missing, ok := errors.AsType[*exec.Error](r.Err)
	if runtime.GOOS == "windows" && ok && missing.Name == "sh" {
		return "sh is not on the PATH: run this in Git Bash, or add the folder bin of Git for Windows to the PATH"
	}
	return r.Err.Error()
}

// round shows whole seconds from ten on, and tenths below.
func round(d time.Duration) time.Duration {
	if d >= 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}

// maxStdout bounds what is kept of standard output for callers that parse it.
const maxStdout = 1 << 20

// drain is how long output is still read after the group was killed. A process
// that left the group and holds the pipe open must not hold us.
const drain = 500 * time.Millisecond

// drainTool is drain for programs that leave no process behind and whose answer we need. On a
// machine with twenty times its load half a second was too little to read that of tmux.
const drainTool = 10 * time.Second

// errTimeout is the cause of a context that ended by the command's own timeout.
var errTimeout = errors.New("timeout")

// Run runs the command and waits for it. When ctx or the timeout ends first, its
// whole process group is killed and, on Linux, what left the group.
func Run(ctx context.Context, c Command) Result {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	tail := newTail(c.Lines)
	if c.Output != nil {
		tail.copy = &guarded{to: c.Output}
	}
	stdout := &head{limit: cmp.Or(c.KeepStdout, maxStdout)}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	mark := newMark(env)
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append(env[:len(env):len(env)], mark)
	if len(c.Stdin) > 0 { // else it is closed
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(stdout, tail), tail
	switch {
	case c.Spool != nil:
		cmd.Stdout = c.Spool
	case c.Stdout != nil:
		cmd.Stdout = &guarded{to: c.Stdout}
	case c.OneStream:
		cmd.Stdout = tail
	}
	Contain(cmd)
	cmd.Cancel = func() error {
		err := killGroup(cmd.Process)
		EndMarked(mark)
		return err
	}

	start := time.Now()
	var out outlets
	var entry *enclave.Entry
	err := out.carry(cmd)
	if err == nil && c.Enclave != nil {
		entry, err = c.Enclave.Enter(cmd)
	}
	if err == nil {
		err = cmd.Start()
	}
	out.started()
	if entry != nil {
		entry.Started()
	}
	if err != nil {
		out.finish()
	} else {
		defer c.limit(end)()
		dismissed := dismiss(cmd.Process, c.Enough, cmp.Or(c.lastWord, lastWord))
		copied := follow(c.Spool, c.Stdout)
		err = cmd.Wait()
		out.finish()
		dismissed()
		copied()
		endGroup(cmd.Process)
		if c.Enough != nil {
			EndMarked(mark)
		}
	}
	state := cmd.ProcessState
	if entry != nil {
		if fault := entry.Fault(); fault != nil {
			state, err = nil, fault // the command itself never ran
		}
	}
	return Result{Duration: time.Since(start), Stdout: stdout.bytes(), Tail: tail.String()}.
		ended(state, err, context.Cause(ctx))
}

// limit ends a command that has started when its timeout is over. On a busy machine one that
// began earlier could be over before the command runs.
func (c Command) limit(end context.CancelCauseFunc) (stop func() bool) {
	if c.Timeout <= 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(c.Timeout, func() { end(errTimeout) }).Stop
}

// lastWord is how long a command that was asked to end may take to do so.
const lastWord = 300 * time.Millisecond

// dismiss ends the command's group once enough is closed: at first kindly, so that
// it leaves no file half written. The function that it returns ends the watch.
func dismiss(p *os.Process, enough <-chan struct{}, lastWord time.Duration) (ended func()) {
	if enough == nil {
		return func() {}
	}
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
			return
		case <-enough:
			_ = askGroup(p) // one that has ended needs no asking
		}
		patience := time.NewTimer(lastWord)
		defer patience.Stop()
		select {
		case <-over:
		case <-patience.C:
			_ = killGroup(p)
		}
	}()
	return func() { close(over) }
}

// Contain puts a command that has not started into a process group of its own,
// which is killed when the command's context ends. It does not outlive us, and
// what left the group cannot hold us by its output.
func Contain(cmd *exec.Cmd) {
	ownGroup(cmd)
	cmd.WaitDelay = drain
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
}

// ContainTool is Contain for a tool of ours, such as git: all of its output is read.
func ContainTool(cmd *exec.Cmd) {
	Contain(cmd)
	cmd.WaitDelay = drainTool
}

func (r Result) ended(state *os.ProcessState, err, cause error) Result {
	if state == nil {
		r.Code, r.Err, r.Canceled = -1, err, cause != nil
		return r
	}
	r.Code, r.Signal = state.ExitCode(), signalOf(state)
	// A command that exits by itself while its time runs out has its own result.
	if cause != nil && killed(state) {
		r.TimedOut = errors.Is(cause, errTimeout)
		r.Canceled = !r.TimedOut
	}
	return r
}
