package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// daemonLog is what a daemon says that was started by a command.
const daemonLog = "daemon.log"

// startPatience is the longest wait for a daemon to be ready. One that has a long
// journal to catch up with takes its time.
const startPatience = 2 * time.Minute

// wake starts the daemon where there is none, and reports whether it did.
func (p *Daemon) wake(ctx context.Context) (started bool, err error) {
	if err := daemonapi.CheckSocket(daemonapi.Socket(p.stateDir)); err != nil {
		return false, term.CannotRun(err, "use a shorter path: export STOPGATE_STATE_DIR=$HOME/.stopgate")
	}
	switch _, err := p.Version(ctx); {
	case errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission):
		return false, p.noPlace(ctx, err)
	case !ending(err):
		return false, err
	}

	// Two commands at once start one daemon: the second waits for the first.
	release, err := lockfile.Acquire(ctx, filepath.Join(p.stateDir, "daemon-start.lock"), startPatience)
	if err != nil {
		return false, p.noPlace(ctx, err)
	}
	defer release()

	if running, _, err := p.settle(ctx, startPatience); running != nil || err != nil {
		return false, err
	}
	if hasUnit(os.Getenv) && !p.despite { // the unit has no such flag; its next start needs none
		if hasManager(ctx) {
			return true, p.launchUnit(ctx)
		}
		fmt.Fprintln(p.errOut, "stopgate: systemd is not available here; starting the daemon without it")
	}
	return true, p.launch(ctx)
}

// noPlace says that the daemon cannot be started where its files cannot be written.
func (p *Daemon) noPlace(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	hint := "its state directory is " + term.Shown(p.stateDir) + "; set STOPGATE_STATE_DIR to use another one"
	return term.CannotRun(fmt.Errorf("the daemon cannot be started: %w", err), hint)
}

// hung says that a daemon is there and does nothing.
func (p *Daemon) hung() error {
	hint := "its log is " + filepath.Join(p.stateDir, "logs", daemonLog)
	if pid := p.holderPID(); pid > 0 {
		hint = fmt.Sprintf("if it is suspended, continue it with: kill -CONT %[1]d\notherwise stop it with: kill %[1]d (or kill -KILL %[1]d), then: stopgate daemon start\n%[2]s", pid, hint)
	}
	return term.CannotRun(fmt.Errorf("the daemon%s does not answer", p.holder()), hint)
}

// settle waits for a daemon that has not yet begun to answer, or no longer does and has
// not ended: its lock is held. It returns the daemon that can be asked then, if any, and
// whether there was one.
func (p *Daemon) settle(ctx context.Context, patience time.Duration) (running *daemonapi.Version, was bool, err error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	for range pause.Doubling(limited, time.Millisecond, 100*time.Millisecond) {
		version, err := p.Version(limited)
		switch {
		case err == nil:
			return &version, true, nil
		case ctx.Err() != nil:
			return nil, was, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return nil, was, p.hung()
		case !ending(err) && limited.Err() == nil:
			return nil, was, err
		}

		if held, err := p.held(); err != nil || !held {
			return nil, was, err
		}
		was = true
	}
	if ctx.Err() != nil {
		return nil, was, ctx.Err()
	}
	return nil, was, term.CannotRun(fmt.Errorf("a daemon%s has neither answered nor stopped within %s", p.holder(), plain.Duration(patience)), "its log is "+filepath.Join(p.stateDir, "logs", daemonLog))
}

// ending reports whether an error is that of a daemon that is not there, or was killed while it was asked.
func ending(err error) bool { return IsDown(err) || errors.Is(err, daemonapi.ErrCut) }

// held reports whether a daemon has the state directory, also one that cannot be asked.
// A daemon that starts has the patience for those who look.
func (p *Daemon) held() (bool, error) { return lockfile.Held(p.lockPath()) }

// remains says what is left of a daemon that does not answer and has not stopped as it should;
// "" where none is expected to run.
func (p *Daemon) remains() string {
	held, err := p.held()
	switch {
	case err != nil:
		return ": " + err.Error()
	case held:
		return " yet: it is starting or stopping" + p.holder()
	case disk.Exists(daemonapi.Socket(p.stateDir)):
		return ": it was killed or has crashed, and left its socket behind"
	case p.leftRunning():
		return ", but commands that it started still run"
	}
	return ""
}

// lockPath is held by a daemon for as long as it lives.
func (p *Daemon) lockPath() string { return filepath.Join(p.stateDir, "daemon.lock") }

// holder names the process that has the lock, where that is known.
func (p *Daemon) holder() string {
	if pid := p.holderPID(); pid > 0 {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

// holderPID is 0 where nobody knows.
func (p *Daemon) holderPID() int {
	text, _ := os.ReadFile(filepath.Join(p.stateDir, "daemon.pid")) // then nobody does
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// launch starts the daemon and waits until it is ready or says why it cannot be.
func (p *Daemon) launch(ctx context.Context) error {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return err
	}
	log, err := logfile.Open(p.stateDir, daemonLog)
	if err != nil {
		return p.noPlace(ctx, err)
	}
	defer log.Close()
	ready, ended, err := startDaemon(program, p.daemonArgs(), p.daemonEnviron(os.Environ()), log)
	if err != nil {
		return term.WithCode(err, term.ExitCouldNotRun)
	}
	defer ready.Close()
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	go func() {
		<-ctx.Done()
		_ = ready.SetReadDeadline(time.Now()) // it is closed, or ends the reading
	}()
	return p.readReady(ctx, ready, ended, log.Name())
}

// daemonArgs are the arguments of stopgated.
func (p *Daemon) daemonArgs() []string {
	if p.despite {
		return []string{"daemon", "--despite-damage"}
	}
	return []string{"daemon"}
}

// daemonEnviron is the environment of the daemon, which may stand elsewhere: where the
// state directory is must not depend on that.
func (p *Daemon) daemonEnviron(env []string) []string {
	return append(environ.WithoutSession(env), "STOPGATE_STATE_DIR="+p.stateDir)
}

// readReady reads the one line that a daemon writes at its start.
func (p *Daemon) readReady(ctx context.Context, ready io.Reader, ended func() string, log string) error {
	var word struct {
		Ready bool   `json:"ready"`
		Error string `json:"error"`
		Hint  string `json:"hint"`
	}

	const longest = 64 << 10
	line, err := bufio.NewReader(io.LimitReader(ready, longest)).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &word)
	}

	hint := "its log is " + log
	switch {
	case err == nil && word.Ready:
		return nil
	case err == nil && word.Error != "":
		if word.Hint != "" {
			hint = word.Hint + "\n" + hint
		}
		err = fmt.Errorf("the daemon could not start: %s", strings.TrimSpace(word.Error))
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil:
		err = fmt.Errorf("the daemon was not ready after %s", plain.Duration(startPatience))
	default:
		err = fmt.Errorf("the daemon exited before it was ready (%s)%s", ended(), lastWords(log))
	}
	return term.CannotRun(err, hint)
}

// lastWords are the last line of a log.
func lastWords(log string) string {
	file, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer file.Close()
	const enough = 4 << 10
	if info, err := file.Stat(); err == nil && info.Size() > enough {
		_, _ = file.Seek(-enough, io.SeekEnd) // else we read more
	}
	text, _ := io.ReadAll(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := plain.Line(lines[len(lines)-1])
	if last == "" {
		return ""
	}
	return ": " + last
}

// stopPatience is the longest wait for a daemon to end. With kill it ends what it
// started first.
const stopPatience = time.Minute

// Halt ends the daemon and waits until it has. It reports whether there was one.
func (p *Daemon) Halt(ctx context.Context, kill bool) (stopped bool, err error) {
	running, was, err := p.settle(ctx, stopPatience)
	switch {
	case err == nil && !was && kill && p.leftRunning():
		// Only a daemon knows what is to become of those whose work is ended.
		if _, err := p.wake(ctx); err != nil {
			return false, err
		}
		return p.Halt(ctx, kill)
	case err != nil || !was:
		return false, err
	case running == nil && kill:
		return true, mayGoOn("the daemon was already stopping, so the commands and agents that it started keep running")
	case running == nil:
		return true, nil
	}
	answer := p.Client.Stop(ctx, kill)
	if answer != nil && !errors.Is(answer, daemonapi.ErrCut) && daemonapi.Code(answer) != "conflict" {
		return false, answer
	}
	if err := p.awaitEnd(ctx, running.PID); err != nil {
		return false, err
	}
	return true, p.left(answer, kill)
}

// awaitEnd waits until a daemon has ended. Its lock is what the next one has to wait for, which may
// have it before we do: then another process answers.
func (p *Daemon) awaitEnd(ctx context.Context, pid int) error {
	for end := time.Now().Add(stopPatience); ; {
		release, err := lockfile.Acquire(ctx, p.lockPath(), 500*time.Millisecond)
		if err == nil {
			release()
			return nil
		}
		if !errors.Is(err, lockfile.ErrBusy) {
			return err
		}
		asking, cancel := context.WithTimeout(ctx, time.Second)
		next, err := p.Version(asking)
		cancel()
		if err == nil && next.PID != pid {
			return nil
		}
		if time.Now().After(end) {
			return term.CannotRun(fmt.Errorf("the daemon (process %d) has not stopped after %s", pid, plain.Duration(stopPatience)), "its log is "+filepath.Join(p.stateDir, "logs", daemonLog))
		}
	}
}

// left says what a daemon that has ended was to end as well, and did not, or may not have.
func (p *Daemon) left(answer error, kill bool) error {
	var refusal *daemonapi.Error
	switch {
	case errors.As(answer, &refusal):
		return term.WithCode(explainRefusal(refusal, p.Skew()), term.ExitCouldNotRun)
	case answer != nil && kill:
		return mayGoOn("the daemon stopped before it reported whether its commands and agents have ended")
	}
	return nil
}

func mayGoOn(why string) error {
	hint := "to kill what still runs: stopgate daemon start, then stopgate daemon stop --kill"
	return term.CannotRun(errors.New(why), hint)
}
