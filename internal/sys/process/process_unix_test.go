//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestResult(t *testing.T) {
	notExecutable := filepath.Join(t.TempDir(), "plain")
	check(t, os.WriteFile(notExecutable, []byte("text"), 0o600))
	tests := []struct {
		name    string
		command Command
		code    int
		signal  syscall.Signal
		ran, ok bool
		text    string
	}{
		{"success", shell(t, "true"), 0, 0, true, true, "exit 0"},
		{"failure", shell(t, "exit 3"), 3, 0, true, false, "exit 3"},
		{"exit 2", shell(t, "exit 2"), 2, 0, true, false, "exit 2"},
		{"exit 255", shell(t, "exit 255"), 255, 0, true, false, "exit 255"},
		{"the exit code of a shell whose child was killed", shell(t, "sh -c 'kill -9 $$'; exit $?"), 137, 0, true, false, "exit 137"},
		{"ended by SIGTERM", shell(t, "kill -TERM $$"), -1, syscall.SIGTERM, true, false, "was ended by signal 15 (terminated)"},
		{"ended by SIGKILL from outside", shell(t, "kill -KILL $$"), -1, syscall.SIGKILL, true, false, "was ended by signal 9 (killed)"},
		{"not found", shell(t, "no-such-program-here"), 127, 0, false, false, "was not found (exit 127)"},
		{"not executable", shell(t, notExecutable), 126, 0, false, false, "cannot be executed (exit 126)"},
		{"arguments", Command{Args: Shell(`test "$1" = "a b" && test "$2" = "" && test $# = 2`, "a b", "")}, 0, 0, true, true, "exit 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, tt.command)
			if r.Code != tt.code || r.Signal != tt.signal || r.Ran() != tt.ran || r.OK() != tt.ok {
				t.Errorf("got code %d, signal %v, ran %t, ok %t; want %d, %v, %t, %t",
					r.Code, r.Signal, r.Ran(), r.OK(), tt.code, tt.signal, tt.ran, tt.ok)
			}
			if r.String() != tt.text {
				t.Errorf("told as %q, want %q", r, tt.text)
			}
			if r.Err != nil || r.TimedOut || r.Canceled {
				t.Errorf("got %+v, want neither error nor end of time", r)
			}
		})
	}
}

func TestCouldNotBeStarted(t *testing.T) {
	tests := []struct {
		name    string
		command Command
	}{
		{"missing program", Command{Args: []string{filepath.Join(t.TempDir(), "gone")}}},
		{"missing program on PATH", Command{Args: []string{"no-such-program-here"}}},
		{"missing directory", Command{Args: Shell("true"), Dir: filepath.Join(t.TempDir(), "gone")}},
		{"NUL in the environment", Command{Args: Shell("true"), Env: []string{"A=\x00"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, tt.command)
			if r.Err == nil || r.Ran() || r.OK() || r.Code != -1 {
				t.Errorf("got %+v, want an error and not ran", r)
			}
			if !strings.HasPrefix(r.String(), "could not be started: ") {
				t.Errorf("told as %q", r)
			}
		})
	}
}

func TestOwnTimeoutIsAFailure(t *testing.T) {
	c := shell(t, "echo working; exec sleep 600")
	c.Timeout = 300 * time.Millisecond
	r := run(t, c)
	if !r.TimedOut || r.Canceled || !r.Ran() || r.OK() {
		t.Errorf("got %+v, want timed out, which counts as having run", r)
	}
	if !strings.HasPrefix(r.String(), "timed out after ") {
		t.Errorf("told as %q", r)
	}
}

// However little time a command has, it begins, and that it did not end is its own failure.
func TestTimeoutBeginsWithTheCommand(t *testing.T) {
	c := shell(t, "exec sleep 600")
	c.Timeout = 1
	if r := run(t, c); !r.TimedOut || !r.Ran() {
		t.Errorf("got %+v, want timed out", r)
	}
}

func TestCallersContextIsNoVerdict(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Hour} {
		c := shell(t, "touch started; exec sleep 600")
		c.Timeout = timeout
		r := Run(cancelWhen(t, filepath.Join(c.Dir, "started")), c)
		if !r.Canceled || r.TimedOut || r.Ran() || r.OK() {
			t.Errorf("timeout %s: got %+v, want canceled, which does not count as having run", timeout, r)
		}
		if !strings.Contains(r.String(), "the hook timed out or was cancelled") {
			t.Errorf("told as %q", r)
		}
	}
}

func TestCallersDeadlineBeforeTheTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	c := shell(t, "exec sleep 600")
	c.Timeout = time.Hour
	if r := Run(ctx, c); !r.Canceled || r.TimedOut || r.Ran() {
		t.Errorf("got %+v, want canceled", r)
	}
}

func TestContextThatIsOverStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := shell(t, "touch started")
	r := Run(ctx, c)
	if r.Ran() || !r.Canceled || !errors.Is(r.Err, context.Canceled) {
		t.Errorf("got %+v, want canceled", r)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "started")); err == nil {
		t.Error("the command ran")
	}
}

// A command that has exited keeps its result when the time runs out while its
// output is still being read.
func TestOwnExitBeatsALateCancel(t *testing.T) {
	for _, code := range []string{"0", "1"} {
		// The process in another session holds the output open past the exit.
		c := shell(t, `setsid sh -c 'echo $$ >holder; exec sleep 600' & while ! test -s holder; do :; done; echo x >exited; exit `+code)
		r := Run(cancelWhen(t, filepath.Join(c.Dir, "exited")), c)
		holder := pid(t, filepath.Join(c.Dir, "holder"))
		t.Cleanup(func() { _ = syscall.Kill(holder, syscall.SIGKILL) })
		if r.Signal == 0 && (r.Canceled || !r.Ran()) {
			t.Errorf("exit %s: got %+v, want the command's own exit", code, r)
		}
	}
}

func TestWholeGroupDies(t *testing.T) {
	// Each script starts processes that write their ids and then "started".
	scripts := map[string]string{
		"grandchild in the background": `(sh -c 'echo $$ >a; sleep 600; touch marker' >/dev/null 2>&1 &); `,
		"grandchild holds the output":  `(sh -c 'echo $$ >a; sleep 600; touch marker' &); `,
		"grandchild ignores signals":   `(trap '' TERM INT HUP; sh -c 'echo $$ >a; sleep 600; touch marker' &); `,
		"grandchild holds the input":   `sh -c 'echo $$ >a; sleep 600; touch marker' <&0 & `,
	}
	ends := map[string]struct {
		end string
		run func(t *testing.T, c Command) Result
	}{
		"on timeout": {"touch started; sleep 600; touch marker", func(t *testing.T, c Command) Result {
			return Run(endWhen(t, filepath.Join(c.Dir, "started"), errTimeout), c)
		}},
		"on cancel": {"touch started; sleep 600; touch marker", func(t *testing.T, c Command) Result {
			return Run(cancelWhen(t, filepath.Join(c.Dir, "started")), c)
		}},
		"after a normal end": {"exit 0", run},
		"after a failure":    {"exit 1", run},
	}
	for what, script := range scripts {
		for when, e := range ends {
			t.Run(what+" "+when, func(t *testing.T) {
				t.Parallel()
				c := shell(t, "echo $$ >self; "+script+"while ! test -s a; do :; done; "+e.end)
				if r := e.run(t, c); r.TimedOut != (when == "on timeout") || r.Canceled != (when == "on cancel") {
					t.Errorf("got %+v", r)
				}
				wantDead(t, pid(t, filepath.Join(c.Dir, "self")))
				wantDead(t, pid(t, filepath.Join(c.Dir, "a")))
				if _, err := os.Stat(filepath.Join(c.Dir, "marker")); err == nil {
					t.Error("something went on after Run")
				}
			})
		}
	}
}

// What leaves the group cannot be killed, but it must not hold us either.
func TestOutputHeldOpenOutsideTheGroup(t *testing.T) {
	c := shell(t, `setsid sh -c 'echo $$ >holder; exec sleep 600' & while ! test -s holder; do :; done; echo done`)
	r := run(t, c)
	holder := pid(t, filepath.Join(c.Dir, "holder"))
	t.Cleanup(func() { _ = syscall.Kill(holder, syscall.SIGKILL) })
	if !alive(holder) {
		t.Error("the test does not test: the process did not leave the group")
	}
	if !r.OK() || r.Tail != "done" {
		t.Errorf("got %+v, want success and the output", r)
	}
}

// A busy machine may get to the output long after the command's end.
func TestOutputIsReadHoweverLate(t *testing.T) {
	late := sync.OnceFunc(func() { time.Sleep(2 * drain) })
	c := shell(t, "head -c 60000 /dev/zero; echo; echo last; echo error >&2")
	c.Output = writer(func(p []byte) (int, error) { late(); return len(p), nil })
	if r := run(t, c); !r.OK() || len(r.Stdout) != 60006 || !strings.Contains(r.Tail, "last") || !strings.Contains(r.Tail, "error") {
		t.Errorf("%d bytes, the last are %q", len(r.Stdout), r.Tail[max(0, len(r.Tail)-20):])
	}
}

// On a busy machine output can be read long after its program has ended. Here it is written late.
func TestOutputOfAToolIsReadWholly(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "setsid sh -c 'sleep 1; echo late' & echo early")
	ContainTool(cmd)
	if out, err := cmd.Output(); err != nil || string(out) != "early\nlate\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestStdin(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16) // 1 MiB; a pipe holds 64 KiB
	tests := []struct {
		name, script, tail string
		stdin              []byte
	}{
		{"read wholly", "wc -c | tr -d ' '", "1048576", large},
		{"not read", "echo fine", "fine", large},
		{"closed at once", "exec 0<&-; echo fine", "fine", large},
		{"read in part", "head -c 16", "0123456789abcde", large},
		{"none", "cat; echo end", "end", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := shell(t, tt.script)
			c.Stdin = tt.stdin
			if r := run(t, c); !r.OK() || r.Tail != tt.tail {
				t.Errorf("got %q, %+v; want %q", r.Tail, r, tt.tail)
			}
		})
	}
}

func TestDirAndEnv(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with space")
	check(t, os.Mkdir(dir, 0o700))
	r := run(t, Command{Args: Shell(`pwd; echo "$A|${HOME-unset}"`), Dir: dir, Env: []string{"A=1", "PATH=" + os.Getenv("PATH")}})
	if want := dir + "\n1|unset"; r.Tail != want {
		t.Errorf("got %q, want %q", r.Tail, want)
	}
}

func TestStdoutApartFromStderr(t *testing.T) {
	r := run(t, shell(t, "echo out; echo err >&2"))
	if string(r.Stdout) != "out\n" {
		t.Errorf("stdout is %q", r.Stdout)
	}
	if !strings.Contains(r.Tail, "out") || !strings.Contains(r.Tail, "err") {
		t.Errorf("the tail is %q, want both streams", r.Tail)
	}
}

func TestLargeOutputInConstantMemory(t *testing.T) {
	c := shell(t, "yes 0123456789 | head -c 50000000; echo; echo last")
	c.Lines = 3
	allocated := testing.AllocsPerRun(1, func() {
		r := run(t, c)
		if want := "[…]\n0123456789\n01234\nlast"; !strings.HasSuffix(r.Tail, "\nlast") || strings.Count(r.Tail, "\n") != 3 || !strings.HasPrefix(r.Tail, "[…]\n") {
			t.Errorf("got %q, want something like %q", r.Tail, want)
		}
		if len(r.Stdout) != maxStdout {
			t.Errorf("kept %d bytes of stdout, want %d", len(r.Stdout), maxStdout)
		}
	})
	// 50 MB came in pieces of at most 32 KiB: more than 1500 of them.
	if allocated > 1000 {
		t.Errorf("%v allocations, want a number that does not grow with the output", allocated)
	}
}

func TestDetachOutlivesItsParent(t *testing.T) {
	self, err := os.Executable()
	check(t, err)
	dir := t.TempDir()
	// The command waits until the parent is gone and we said so.
	script := `echo $$ >pid; while ! test -e go; do sleep 0.05; done; echo noise; echo noise >&2; read x; touch done`
	parent := exec.Command(self)
	parent.Dir = dir
	parent.Env = append(os.Environ(), parentEnv+"="+script)
	// This returns only when nobody holds the parent's output open any more.
	out, err := parent.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Fatalf("parent: %v, %q", err, out)
	}
	p := pid(t, filepath.Join(dir, "pid"))
	if !alive(p) {
		t.Error("the command ended with its parent")
	}
	if own, _ := syscall.Getpgid(p); own != p {
		t.Errorf("group %d of process %d: a signal to the parent's group would reach it", own, p)
	}
	check(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	eventually(t, "the detached command is done", func() bool {
		_, err := os.Stat(filepath.Join(dir, "done"))
		return err == nil
	})
	wantDead(t, p)
}

func TestDetachLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(path)
	check(t, err)
	check(t, Detach(Shell("echo out; echo err >&2"), os.Environ(), log))
	check(t, log.Close())
	eventually(t, "both streams are in the log", func() bool {
		text, _ := os.ReadFile(path)
		return string(text) == "out\nerr\n"
	})
}

func TestDetachMissingProgram(t *testing.T) {
	if err := Detach([]string{filepath.Join(t.TempDir(), "gone")}, nil, nil); err == nil {
		t.Error("want an error")
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("disk full")
}

func TestOutputIsCopied(t *testing.T) {
	var log strings.Builder
	c := shell(t, `echo out; echo err >&2; exit 3`)
	c.Output = &log
	if r := run(t, c); r.Code != 3 || len(r.Tail) != len("out\nerr") || string(r.Stdout) != "out\n" {
		t.Errorf("got %+v", r)
	}
	if got := log.String(); got != "out\nerr\n" && got != "err\nout\n" {
		t.Errorf("the copy holds %q", got)
	}
	sink := &broken{}
	c.Output = sink
	if r := run(t, c); r.Code != 3 || sink.writes == 0 {
		t.Errorf("a copy that cannot be written changed the result: %+v", r)
	}
}

func TestKeepsTheStartOfStdout(t *testing.T) {
	c := shell(t, `echo 12345678`)
	c.KeepStdout = 4
	if r := run(t, c); string(r.Stdout) != "1234" {
		t.Errorf("got %q", r.Stdout)
	}
}

func TestInputIsClosed(t *testing.T) {
	if r := run(t, shell(t, `cat; test ! -t 0`)); !r.OK() {
		t.Errorf("got %+v", r)
	}
}
