//go:build unix

package errand

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["start many"] = startMany
	children["dies some time"] = diesSomeTime
	children["start many in terminals"] = startManyInTerminals
	children["terminal, dies some time"] = func(args []string) error {
		n, err := strconv.Atoi(filepath.Base(args[2]))
		if err != nil {
			return err
		}
		time.AfterFunc(time.Duration(n)*1500*time.Microsecond, func() { panic(dieNow()) })
		return RunInTerminal(args[2])
	}
}

// errandOf is the numbered errand of a directory. Its command says that it ran.
func errandOf(base string, n int, runner string) (dir string, s Spec) {
	return filepath.Join(base, strconv.Itoa(n)), Spec{
		Script: fmt.Sprintf("echo x >> ran-%d", n), Dir: base, Log: filepath.Join(base, "log"),
		Env: append(os.Environ(), "STOPGATE_TEST_CHILD="+runner, "GORACE=atexit_sleep_ms=0"),
	}
}

// startMany is a daemon that starts one errand after the other, and says so.
func startMany(args []string) error {
	from, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for n := from; ; n++ {
		dir, spec := errandOf(args[0], n, "errand")
		if err := Start(context.Background(), self, dir, spec); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func ran(t *testing.T, base string, n int) int {
	t.Helper()
	s := &scene{T: t, work: base}
	text, err := os.ReadFile(s.path(fmt.Sprintf("ran-%d", n)))
	if os.IsNotExist(err) {
		return 0
	}
	check(t, err)
	return len(text) / len("x\n")
}

// killWhileStarting lets a daemon start errands from a number on, and kills it a pause after
// one of every so many: anywhere within what follows. It returns the first number that the
// daemon did not tell of.
func killWhileStarting(t *testing.T, next, every int, pause time.Duration, child string, args ...string) int {
	t.Helper()
	cmd := processtest.Child(t, child, append(args, strconv.Itoa(next))...)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		check(t, err)
		if next = n + 1; next%every == 0 {
			time.Sleep(pause)
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	return next
}

// Daemons are killed while they start errands. The next one starts the last again: none
// is lost, and none runs twice.
func TestKilledDaemons(t *testing.T) {
	base := t.TempDir()
	self, err := os.Executable()
	check(t, err)
	next := 0
	for round := range 12 {
		next = killWhileStarting(t, next, 3, time.Duration(round*1373%20000)*time.Microsecond, "start many", base)
	}
	for n := range next + 1 {
		dir, spec := errandOf(base, n, "errand")
		check(t, Start(t.Context(), self, dir, spec))
		r, err := Wait(t.Context(), dir)
		check(t, err)
		if got := ran(t, base, n); got != 1 || r.Lost || r.Code != 0 {
			t.Errorf("errand %d ran %d times and ended with %+v", n, got, r)
		}
	}
}

// diesSomeTime is a runner that is killed after some time.
func diesSomeTime(args []string) error {
	n, err := strconv.Atoi(filepath.Base(args[1]))
	if err != nil {
		return err
	}
	time.AfterFunc(time.Duration(n)*400*time.Microsecond, func() { panic(dieNow()) })
	return Run(args[1])
}

// Runners are killed at all times of their lives. No command runs twice, and one whose
// result is known ran once.
func TestKilledRunners(t *testing.T) {
	base := t.TempDir()
	self, err := os.Executable()
	check(t, err)
	again, lost := 0, 0
	for n := range 60 {
		dir, spec := errandOf(base, n, "dies some time")
		if err := Start(t.Context(), self, dir, spec); err != nil {
			again++
			_, spec = errandOf(base, n, "errand")
			check(t, Start(t.Context(), self, dir, spec))
		}
		r, err := Wait(t.Context(), dir)
		check(t, err)
		got := ran(t, base, n)
		if r.Lost {
			lost++
		}
		if got > 1 || got != 1 && !r.Lost || r.Code != 0 {
			t.Errorf("errand %d ran %d times and ended with %+v", n, got, r)
		}
	}
	t.Logf("%d were started again, %d are lost", again, lost)
}

// startIn starts the numbered errand of a directory in a terminal.
func startIn(ctx context.Context, server terminal.Server, base string, n int, runner string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, spec := errandOf(base, n, "")
	return StartInTerminal(ctx, self, dir, spec, func(ctx context.Context, argv []string) error {
		return launchIn(ctx, server, terminal.NewSession{Name: "errand-" + strconv.Itoa(n), Dir: base, Argv: argv}, runner)
	})
}

// startManyInTerminals is startMany with a tmux server.
func startManyInTerminals(args []string) error {
	from, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	for n := from; ; n++ {
		server := terminal.Server{Socket: args[0], Environ: os.Environ()}
		if err := startIn(context.Background(), server, args[1], n, "terminal"); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// Daemons are killed while they start errands in terminals, also between what they say to
// tmux and what the runners say to them.
func TestKilledDaemonsWithTerminals(t *testing.T) {
	s := newStage(t)
	base, next := s.work, 0
	for round := range 10 {
		next = killWhileStarting(t, next, 2, time.Duration(round*4373%40000)*time.Microsecond, "start many in terminals", s.Socket, base)
	}
	for n := range next + 1 {
		check(t, startIn(t.Context(), s.Server, base, n, "terminal"))
		dir, _ := errandOf(base, n, "")
		r, err := Wait(t.Context(), dir)
		check(t, err)
		if got := ran(t, base, n); got != 1 || r.Lost || r.Code != 0 {
			t.Errorf("errand %d ran %d times and ended with %+v", n, got, r)
		}
		if directory(dir).has("env") {
			t.Errorf("the environment of errand %d is still on disk", n)
		}
	}
}

// Runners in terminals are killed at all times of their lives. No command runs twice, and
// one whose result is known ran once.
func TestKilledRunnersInTerminals(t *testing.T) {
	s := newStage(t)
	base := s.work
	again, lost := 0, 0
	for n := range 40 {
		dir, spec := errandOf(base, n, "")
		d := directory(dir)
		spec.Terminal = true
		lock, err := d.prepare(t.Context(), spec)
		check(t, err)
		check(t, d.writeEnviron(spec.Env))
		self, err := os.Executable()
		check(t, err)
		s.session, s.runner = "errand-"+strconv.Itoa(n), "terminal, dies some time"
		check(t, s.launch(t.Context(), []string{self, "errand", "--terminal", dir}))
		check(t, lock.Close())
		s.over()
		if !d.begun() {
			again++
			check(t, startIn(t.Context(), s.Server, base, n, "terminal"))
		}
		r, err := Wait(t.Context(), dir)
		check(t, err)
		got := ran(t, base, n)
		if r.Lost {
			lost++
		}
		if got > 1 || got != 1 && !r.Lost || r.Code != 0 {
			t.Errorf("errand %d ran %d times and ended with %+v", n, got, r)
		}
		if d.has("env") {
			t.Errorf("the environment of errand %d is still on disk", n)
		}
	}
	t.Logf("%d were started again, %d are lost", again, lost)
}
