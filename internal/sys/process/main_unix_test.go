//go:build unix

package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// parentEnv makes the test binary a process that detaches a command and ends.
const parentEnv = "STOPGATE_PROCESS_PARENT"

// callerEnv makes the test binary a hook that says who calls it.
const callerEnv = "STOPGATE_PROCESS_CALLER"

// largeEnv makes the test binary a process that takes a while to end.
const largeEnv = "STOPGATE_PROCESS_LARGE"

func TestMain(m *testing.M) {
	if os.Getenv(largeEnv) != "" {
		memory := bytes.Repeat([]byte("x"), 256<<20)
		fmt.Print(string(memory[:1]))
		time.Sleep(patience)
		os.Exit(int(memory[0]))
	}
	if os.Getenv(callerEnv) != "" {
		fmt.Print(Caller().PID)
		os.Exit(0)
	}
	if script := os.Getenv(parentEnv); script != "" {
		if err := Detach(Shell(script), os.Environ(), nil); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	if script := os.Getenv(earlierEnv); script != "" {
		if err := endAfterStarting(script); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	if chain := os.Getenv(chainEnv); chain != "" {
		if err := runChain(chain); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

// patience only bounds a test that fails; nothing waits this long.
const patience = 3 * time.Minute

func shell(t *testing.T, script string) Command {
	t.Helper()
	return Command{Args: Shell(script), Dir: t.TempDir(), Env: os.Environ()}
}

func run(t *testing.T, c Command) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r := Run(ctx, c)
	if ctx.Err() != nil {
		t.Fatalf("the command did not come back: %+v", r)
	}
	return r
}

var eventually = checktest.Eventually

// pid waits for a process to write its id into the file.
func pid(t *testing.T, path string) int {
	t.Helper()
	n := 0
	eventually(t, path+" holds a process id", func() bool {
		text, _ := os.ReadFile(path)
		line, _, whole := strings.Cut(string(text), "\n")
		n, _ = strconv.Atoi(line)
		return whole && n > 0
	})
	return n
}

// alive reports whether the process runs. One that is dead and not yet waited for
// still takes signals, so /proc is asked where there is one.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

func wantDead(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "process "+strconv.Itoa(pid)+" is dead", func() bool { return !alive(pid) })
}

// cancelWhen ends the context as soon as the file is there, as a caller does.
func cancelWhen(t *testing.T, path string) context.Context {
	t.Helper()
	return endWhen(t, path, context.Canceled)
}

// endWhen ends the context as soon as the file is there. With errTimeout it stands in for a
// Timeout, which would have to guess how long the command takes to get that far.
func endWhen(t *testing.T, path string, cause error) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel(cause)
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(path); err == nil {
				return
			}
		}
	}()
	t.Cleanup(func() { <-done })
	return ctx
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
