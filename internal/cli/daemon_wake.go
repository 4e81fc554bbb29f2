package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/client"
	"github.com/stopgate/stopgate/internal/lockfile"
	"github.com/stopgate/stopgate/internal/logfile"
	"github.com/stopgate/stopgate/internal/plain"
)

// daemonLog is what a daemon says that was started by a command.
const daemonLog = "daemon.log"

// startPatience is the longest wait for a daemon to be ready. One that has a long
// journal to catch up with takes its time.
const startPatience = 2 * time.Minute

// wake starts the daemon where there is none, and reports whether it did.
func (p *plane) wake(ctx context.Context) (started bool, err error) {
	if _, err := p.Version(ctx); !isDown(err) {
		return false, err
	}
	// Two commands at once start one daemon: the second waits for the first.
	release, err := lockfile.Acquire(ctx, filepath.Join(p.stateDir, "daemon-start.lock"), startPatience)
	if err != nil {
		return false, err
	}
	defer release()
	if _, err := p.Version(ctx); !isDown(err) {
		return false, err
	}
	if hasUnit(os.Getenv) && hasSystemctl() {
		return true, p.launchUnit(ctx)
	}
	return true, p.launch(ctx)
}

// launch starts the daemon and waits until it is ready or says why it cannot be.
func (p *plane) launch(ctx context.Context) error {
	program, err := findProgram("stopgated", os.Environ())
	if err != nil {
		return err
	}
	log, err := logfile.Open(p.stateDir, daemonLog)
	if err != nil {
		return err
	}
	defer log.Close()
	ready, ended, err := startDaemon(program, log)
	if err != nil {
		return codeError{err, exitCouldNotRun}
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

// readReady reads the one line that a daemon writes at its start.
func (p *plane) readReady(ctx context.Context, ready io.Reader, ended func() string, log string) error {
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
		err = fmt.Errorf("the daemon was not ready after %s", brief(startPatience))
	default:
		err = fmt.Errorf("the daemon ended before it was ready (%s)%s", ended(), lastWords(log))
	}
	return codeError{hintError{err, hint}, exitCouldNotRun}
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

// halt ends the daemon and waits until it has. It reports whether there was one.
func (p *plane) halt(ctx context.Context, kill bool) (stopped bool, err error) {
	version, err := p.Version(ctx)
	if isDown(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := p.Client.Stop(ctx, kill); err != nil && !errors.Is(err, client.ErrCut) {
		return false, err
	}
	// Its lock is what the next daemon has to wait for.
	release, err := lockfile.Acquire(ctx, filepath.Join(p.stateDir, "daemon.lock"), stopPatience)
	if errors.Is(err, lockfile.ErrBusy) {
		return false, codeError{hintError{
			fmt.Errorf("the daemon (process %d) has not ended after %s", version.PID, brief(stopPatience)),
			"its log is " + filepath.Join(p.stateDir, "logs", daemonLog),
		}, exitCouldNotRun}
	}
	if err != nil {
		return false, err
	}
	release()
	return true, nil
}
