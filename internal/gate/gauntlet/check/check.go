// Package check runs a command that decides by its exit code.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Request is a check to run.
type Request struct {
	Name    string
	Command string // for the shell
	Dir     string
	Env     []string
	Timeout time.Duration
	// Run runs the command; nil means process.Run.
	Run func(context.Context, process.Command) process.Result
	// FixInstructions go into the log of a failure.
	FixInstructions string
	// Log gets everything that the command prints, between lines of our own; Echo
	// gets only the former, and may be nil.
	Log  io.Writer
	Echo io.Writer
	Now  func() time.Time
}

// Result is how the check ended: it passed, it failed, or it could not run and
// says nothing.
type Result struct {
	Passed  bool
	Ran     bool
	Message string
	Tail    string // the end of the output
	// TimedOut means that the check failed because it did not end by itself; Killed that a signal ended it.
	TimedOut, Killed bool
	// Missing means that it could not run because a program was not found or cannot be
	// executed; CutOff that the time for the whole run was over.
	Missing, CutOff bool
	// Err is why the command could not be started.
	Err error
}

// tailLines is what a summary or an agent is shown of a failure; the log has
// all of it.
const tailLines = 40

// Run runs the check. When ctx ends, everything that the command started ends.
func Run(ctx context.Context, r Request) Result {
	out := NewLog(r.Log)
	say := func(format string, args ...any) { out.say(r.Now(), format, args...) }
	say("Starting check: %s", r.Name)
	say("Executing command: %s", r.Command)
	say("Working directory: %s", r.Dir)
	result := run(ctx, r, out)
	out.endLine()
	if result.Ran && !result.Passed {
		say("Command failed: %s", result.Message)
	}
	say("Result: %s - %s", result.word(), result.Message)
	if result.Ran && !result.Passed && r.FixInstructions != "" {
		say("--- Fix Instructions ---\n%s", r.FixInstructions)
	}
	return result
}

func (r Result) word() string {
	switch {
	case r.Passed:
		return "pass"
	case r.Ran:
		return "fail"
	}
	return "error"
}

func run(ctx context.Context, r Request, output io.Writer) Result {
	start := r.Run
	if start == nil {
		start = process.Run
	}
	p := start(ctx, process.Command{
		Args:      process.Shell(r.Command),
		Dir:       r.Dir,
		Env:       r.Env,
		Timeout:   r.Timeout,
		Lines:     tailLines,
		OneStream: true,
		Output:    both(output, r.Echo),
	})
	return Result{
		Passed: p.OK(), Ran: p.Ran(), Message: message(ctx, r, p), Tail: plain.Text(p.Tail), TimedOut: p.TimedOut, Killed: p.Killed(),
		Err: p.Err, Missing: Missing(p, r.Dir), CutOff: p.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded),
	}
}

// Missing reports whether a command could not run because its program or its directory is not there, or cannot be used.
func Missing(p process.Result, dir string) bool {
	return p.Missing() || p.Err != nil && !enterable(dir)
}

// enterable reports whether a command can begin in a directory.
func enterable(dir string) bool { return disk.IsDir(dir + string(os.PathSeparator) + ".") }

func both(output, echo io.Writer) io.Writer {
	if echo == nil {
		return output
	}
	return io.MultiWriter(output, echo)
}

func message(ctx context.Context, r Request, p process.Result) string {
	switch {
	case p.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("was cut off after %s by the time limit of the whole run", p.Duration.Round(time.Second))
	case p.Canceled:
		return "was interrupted"
	case p.TimedOut:
		return fmt.Sprintf("Timed out after %gs", r.Timeout.Seconds())
	case p.Ran() && p.Signal == 0:
		return fmt.Sprintf("Exited with code %d", p.Code)
	case p.Ran():
		return p.String()
	case p.Err != nil && disk.IsDir(r.Dir) && !enterable(r.Dir):
		return fmt.Sprintf("the working directory %s cannot be entered: permission denied", r.Dir)
	case p.Err != nil && !disk.IsDir(r.Dir):
		return fmt.Sprintf("the working directory %s does not exist", r.Dir)
	}
	switch p.Code {
	case 127:
		return fmt.Sprintf("a program that `%s` needs was not found (exit 127)", brief(r.Command))
	case 126:
		return fmt.Sprintf("a program that `%s` needs cannot be executed (exit 126)", brief(r.Command))
	}
	return fmt.Sprintf("`%s` %s", brief(r.Command), p)
}

// brief is the start of a command, for a message.
func brief(command string) string {
	line, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	brief := plain.Clip(line, 60)
	if more && brief == line {
		return line + "…"
	}
	return brief
}
