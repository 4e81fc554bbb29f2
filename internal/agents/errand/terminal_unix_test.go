//go:build unix

package errand

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["terminal"] = func(args []string) error { return RunInTerminal(args[2]) }
	children["terminal, short"] = func(args []string) error { return inPane(args[2]).run(untilAsked()) }
	children["terminal, dies before it begins"] = func(args []string) error {
		if _, err := inPane(args[2]).stage.hold(directory(args[2])); err != nil {
			return err
		}
		return dieNow()
	}
	children["terminal, dies when it has begun"] = func(args []string) error {
		if _, _, err := inPane(args[2]).begin(); err != nil {
			return err
		}
		return dieNow()
	}
	children["terminal, dies before the result"] = func(args []string) error {
		r := inPane(args[2])
		r.now = func() time.Time { panic(dieNow()) }
		return r.run(context.Background())
	}
	children["terminal, tells whether it settles"] = func(args []string) error {
		r := inPane(args[2])
		r.stage = settling{tty{os.Stdin, os.Environ()}, filepath.Join(args[2], "settled")}
		return r.run(context.Background())
	}
	children["terminal, goes away"] = func(args []string) error {
		r := inPane(args[2])
		r.stage = vanishing{tty{os.Stdin, os.Environ()}}
		return r.run(context.Background())
	}
	children["gives the terminal away"] = givesAway
	children["dies while it launches"] = func(args []string) error {
		s := Spec{Script: "echo >> ran", Dir: args[1], Env: []string{"SECRET=x"}}
		return StartInTerminal(context.Background(), "none", args[0], s, func(context.Context, []string) error { return dieNow() })
	}
}

// inPane is the runner of this process, with little patience.
func inPane(dir string) runner {
	return runner{directory(dir), tty{os.Stdin, os.Environ()}, time.Now, note(filepath.Join(dir, "said")), 100 * time.Millisecond, 0}
}

// settling is a terminal that must answer.
type settling struct {
	tty
	file string
}

func (s settling) ended(*output) {
	said := "settled"
	if err := s.settle(patience); err != nil {
		said = err.Error()
	}
	_ = os.WriteFile(s.file, []byte(said), 0o600)
}

// vanishing is a terminal that is none when the command is to have it.
type vanishing struct{ tty }

func (v vanishing) start(cmd *exec.Cmd, out *output) error {
	file, other, err := os.Pipe()
	if err != nil {
		return err
	}
	defer other.Close()
	v.file = file
	return v.tty.start(cmd, out)
}

// givesAway gives the terminal to another process, and wants to read from it. That stops
// it.
func givesAway([]string) error {
	signal.Ignore(syscall.SIGTTOU)
	other := exec.Command("sleep", "1000")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := other.Start(); err != nil {
		return err
	}
	defer func() { _ = other.Process.Kill() }()
	if err := (tty{file: os.Stdin}).show(other.Process.Pid); err != nil {
		return err
	}
	_, err := os.Stdin.Read(make([]byte, 1))
	return err
}

// stageScene is a scene with a tmux server of its own.
type stageScene struct {
	*scene
	terminal.Server
	session string
}

func newStage(t *testing.T) *stageScene {
	t.Helper()
	tmux := environtest.Need(t, "tmux")
	dir, err := os.MkdirTemp("", "errand") // the path of a socket must be short
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &stageScene{newScene(t), terminal.Server{Socket: filepath.Join(dir, "s")}, "errand-1"}
	s.runner = "terminal"
	s.Environ = []string{
		"PATH=" + filepath.Dir(tmux) + ":/usr/bin:/bin", "HOME=" + dir, "SHELL=/bin/sh", "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0",
		"OF_THE_SERVER=1",
	}
	t.Cleanup(s.close)
	return s
}

// close ends the server, and waits for the runners that end with it: they write until then.
func (s *stageScene) close() {
	list := exec.Command("tmux", "-S", s.Socket, "list-panes", "-a", "-F", "#{pane_pid}")
	list.Env = s.Environ
	panes, _ := list.Output() // none: there is no server
	_ = s.KillServer(context.Background())
	for pid := range strings.FieldsSeq(string(panes)) {
		eventually(s, "the runner "+pid+" has ended", func() bool {
			n, err := strconv.Atoi(pid)
			return err != nil || syscall.Kill(n, 0) != nil
		})
	}
}

// launch runs the test binary as the runner.
func (s *stageScene) launch(ctx context.Context, argv []string) error {
	return launchIn(ctx, s.Server, terminal.NewSession{Name: s.session, Dir: s.work, Argv: argv, Width: 100, Height: 30}, s.runner)
}

// signals has a program take the signals of a terminal as usual, where env knows how: some
// versions of tmux have their programs ignore them.
func signals() []string {
	const usual = "--default-signal=TTIN,TTOU"
	if exec.Command("env", usual, "true").Run() != nil {
		return nil
	}
	return []string{usual}
}

// launchIn makes a session with the test binary in it, in place of one that did not begin.
func launchIn(ctx context.Context, server terminal.Server, n terminal.NewSession, runner string) error {
	n.Argv = slices.Concat([]string{"env"}, signals(), []string{"STOPGATE_TEST_CHILD=" + runner}, n.Argv)
	for {
		err := server.NewSession(ctx, n)
		if !errors.Is(err, terminal.ErrSessionExists) {
			return err
		}
		if err := server.KillSession(ctx, n.Name); err != nil {
			return err
		}
	}
}

func (s *stageScene) startHere(script string) error {
	return s.startWith(s.spec(script), s.launch)
}

func (s *stageScene) startWith(spec Spec, launch func(context.Context, []string) error) error {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	return StartInTerminal(ctx, s.program, s.dir, spec, launch)
}

// keys are pressed in the terminal.
func (s *stageScene) keys(keys ...string) {
	s.Helper()
	args := append([]string{"-S", s.Socket, "send-keys", "-t", "=" + s.session + ":"}, keys...)
	if out, err := exec.CommandContext(s.Context(), "tmux", args...).CombinedOutput(); err != nil {
		s.Fatalf("tmux %q: %v: %s", args, err, out)
	}
}

func (s *stageScene) pane() terminal.Pane {
	s.Helper()
	panes, err := s.Panes(s.Context(), s.session)
	check(s, err)
	return panes[0]
}

// over waits until nothing is left of the session.
func (s *stageScene) over() {
	s.Helper()
	eventually(s, "the session is gone", func() bool {
		found, err := s.HasSession(s.Context(), s.session)
		return err == nil && !found
	})
}

// noSecrets looks whether the environment is gone.
func (s *stageScene) noSecrets() {
	s.Helper()
	if directory(s.dir).has("env") {
		s.Error("the environment is still on disk")
	}
}

func (s *stageScene) line(name string) string {
	s.Helper()
	var line string
	eventually(s, name+" has a line", func() bool {
		text, _ := os.ReadFile(s.path(name))
		var whole bool
		line, _, whole = strings.Cut(string(text), "\n")
		return whole
	})
	return line
}

func TestTerminal(t *testing.T) {
	s := newStage(t)
	spec := s.spec(`echo >> ran; printenv TERM TMUX_PANE OWN; printenv OF_THE_SERVER; tty -s && echo a terminal
		printf '\033[31mred\033[0m\n\n'; stty size; exit 3`)
	spec.Env = append(spec.Env, "OWN=two words;", "TERM=dumb", "TMUX=/elsewhere,1,0")
	check(t, s.startWith(spec, s.launch))
	s.noSecrets()
	want := "tmux-256color\n%0\ntwo words;\na terminal\nred\n\n30 100"
	r := s.wait()
	if r.Code != 3 || r.Lost || r.Ended.IsZero() {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(want, r.Tail); diff != "" {
		t.Errorf("the tail (-want +got):\n%s", diff)
	}
	if got := s.log(); !strings.Contains(got, "[build] red\n") || strings.Contains(got, "\x1b") {
		t.Errorf("the log is %q", got)
	}
	s.wantRan(1)
	s.over()
	if !Terminal(s.dir) {
		t.Error("nobody knows that it ran in a terminal")
	}
	check(t, s.startHere("echo >> ran")) // it has begun before
	s.wantRan(1)
	info, err := os.Stat(filepath.Join(s.dir, "spec.json"))
	check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestNoTerminal(t *testing.T) {
	s := newScene(t)
	check(t, s.start("exit 0"))
	s.wait()
	if Terminal(s.dir) || Terminal(s.path("none")) {
		t.Error("that was no terminal")
	}
}

// What a command prints just before it ends is on record, however soon that is.
func TestTerminalLastWords(t *testing.T) {
	for n := range 10 {
		s := newStage(t)
		check(t, s.startHere(fmt.Sprintf("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; echo 'The last word; is %d'; exit %d", n, n)))
		r := s.wait()
		lines := strings.Split(r.Tail, "\n")
		if got := lines[len(lines)-1]; r.Code != n || got != fmt.Sprintf("The last word; is %d", n) {
			t.Errorf("code %d, last %q", r.Code, got)
		}
	}
}

// The terminal tells when it has drawn everything, whatever the command has left.
func TestTerminalSettles(t *testing.T) {
	for name, script := range map[string]string{
		"as it was": "echo done", "raw": "stty raw -echo", "silent": "stty -echo; echo done", "another screen": `printf '\033[?1049h'`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.runner = "terminal, tells whether it settles"
			check(t, s.startHere(script))
			s.wait()
			if text, err := os.ReadFile(filepath.Join(s.dir, "settled")); err != nil || string(text) != "settled" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// A command that leaves the terminal in disorder, and input unread.
func TestTerminalInDisorder(t *testing.T) {
	s := newStage(t)
	check(t, s.startHere(`stty raw -echo; printf '\033[?1049h\033[?1000h\033[5;5Hhere'; echo > ready; head -c 1 > /dev/null; printf '\033[?1049l'; printf 'out\r\nagain'; kill -9 $$`))
	s.line("ready")
	s.keys("x", "12;5R", "Escape", "[")
	r := s.wait()
	if r.Code != 128+9 || !strings.HasSuffix(r.Tail, "out\nagain") {
		t.Errorf("%+v", r)
	}
}

// The command has the terminal to itself: what is typed reaches it, and what keys do to a
// program they do to it and not to us.
func TestTerminalKeys(t *testing.T) {
	s := newStage(t)
	check(t, s.startHere(`trap 'echo > interrupted' INT; echo > ready; read a; echo "$a" > typed; while [ ! -e interrupted ]; do sleep 0.01; done; exit 5`))
	s.line("ready")
	s.keys("hello", "Enter")
	if got := s.line("typed"); got != "hello" {
		t.Errorf("typed %q", got)
	}
	s.keys("C-c")
	if r := s.wait(); r.Code != 5 {
		t.Errorf("%+v", r)
	}
}

// A command that is stopped goes on: nobody is there to tell it so.
func TestTerminalStopped(t *testing.T) {
	t.Run("by a key", func(t *testing.T) {
		s := newStage(t)
		check(t, s.startHere("echo $$ > shell; exec cat > typed"))
		pid := s.pid("shell")
		s.keys("one", "Enter", "C-z", "two", "Enter", "C-d")
		if r := s.wait(); r.Code != 0 {
			t.Errorf("%+v", r)
		}
		s.wantDead(pid)
		text, err := os.ReadFile(s.path("typed"))
		check(t, err)
		if !strings.HasSuffix(string(text), "two\n") {
			t.Errorf("typed %q", text)
		}
	})
	t.Run("because another has the terminal", func(t *testing.T) {
		if signals() == nil {
			t.Skip("it may be that nothing is stopped")
		}
		s := newStage(t)
		check(t, s.startHere("STOPGATE_TEST_CHILD='gives the terminal away' exec '"+s.program+"'"))
		s.keys("x", "Enter")
		if r := s.wait(); r.Code != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("by itself", func(t *testing.T) {
		s := newStage(t)
		check(t, s.startHere("for s in STOP TSTP TTIN TTOU STOP; do kill -$s $$; echo $s >> went-on; done; exit 4"))
		if r := s.wait(); r.Code != 4 {
			t.Errorf("%+v", r)
		}
		text, err := os.ReadFile(s.path("went-on"))
		check(t, err)
		if got := strings.Fields(string(text)); !slices.Equal(got, []string{"STOP", "TSTP", "TTIN", "TTOU", "STOP"}) {
			t.Errorf("went on after %q", got)
		}
	})
}

func TestTerminalKill(t *testing.T) {
	for name, tt := range map[string]struct {
		script, runner string
		code           int
	}{
		"at once":          {"echo $$ > shell; exec sleep 1000", "terminal", 128 + 15},
		"with a last word": {"trap 'echo bye; exit 3' TERM; echo $$ > shell; while :; do sleep 0.01; done", "terminal", 3},
		"will not listen":  {"trap '' TERM HUP; echo $$ > shell; while :; do sleep 0.01; done", "terminal, short", 128 + 9},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.runner = tt.runner
			check(t, s.startHere(tt.script))
			pid := s.pid("shell")
			check(t, Kill(t.Context(), s.dir))
			s.wantDead(pid)
			s.over()
			r := s.wait()
			if r.Code != tt.code || r.Lost || tt.code == 3 && !strings.HasSuffix(r.Tail, "bye") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// However the terminal goes away, the command ends, with all that it started, and that is
// on record.
func TestTerminalGone(t *testing.T) {
	const script = "setsid sh -c 'echo $$ > away; exec sleep 1000' < /dev/null > /dev/null 2>&1 & echo $$ > shell; trap '' HUP; exec sleep 1000"
	for name, end := range map[string]func(*stageScene) error{
		"session": func(s *stageScene) error { return s.KillSession(s.Context(), s.session) },
		"server":  func(s *stageScene) error { return s.KillServer(s.Context()) },
		"killed":  func(s *stageScene) error { return syscall.Kill(s.pane().PID, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			check(t, s.startHere(script))
			shell, away := s.pid("shell"), s.pid("away")
			check(t, end(s))
			if r := s.wait(); r.Lost || r.Code != 128+15 {
				t.Errorf("%+v", r)
			}
			s.wantDead(shell)
			s.wantDead(away)
		})
	}
}

// A client that is killed has no time to end its tools, which have sessions of their own.
func TestTerminalCommandKilled(t *testing.T) {
	s := newStage(t)
	check(t, s.startHere("setsid sh -c 'echo $$ > away; exec sleep 1000' < /dev/null > /dev/null 2>&1 & echo $$ > shell; exec sleep 1000"))
	shell, away := s.pid("shell"), s.pid("away")
	t.Cleanup(func() { _ = syscall.Kill(away, syscall.SIGKILL) })
	check(t, syscall.Kill(shell, syscall.SIGKILL))
	if r := s.wait(); r.Lost || r.Code != 128+9 {
		t.Errorf("%+v", r)
	}
	if runtime.GOOS == "linux" {
		s.wantDead(away) // it runs nothing any more, but the kernel may not be done with it
	}
}

// One that goes away before the command has it ends the command, too: it could be started
// in another.
func TestTerminalGoneAtOnce(t *testing.T) {
	s := newStage(t)
	s.runner = "terminal, goes away"
	check(t, s.startHere("echo >> ran"))
	if r := s.wait(); r.Lost || r.Failed != "" || r.Code != 128+1 {
		t.Errorf("%+v", r)
	}
	s.wantRan(0)
}

// A runner that is killed leaves nothing behind, and the errand is lost.
func TestTerminalKilledRunner(t *testing.T) {
	const script = "setsid sh -c 'trap \"\" HUP; echo $$ > away; exec sleep 1000' & echo $$ > shell; trap '' HUP TERM; sleep 1000; sleep 1000"
	for name, find := range map[string]func(*stageScene) error{
		"found by who waits": func(s *stageScene) error { s.lost(); return nil },
		"found by who kills": func(s *stageScene) error { return Kill(s.Context(), s.dir) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			check(t, s.startHere(script))
			shell, away := s.pid("shell"), s.pid("away")
			check(t, syscall.Kill(directory(s.dir).runner().PID, syscall.SIGKILL))
			s.over()
			check(t, find(s))
			s.wantDead(shell)
			s.wantDead(away)
			s.noSecrets()
		})
	}
}

func TestTerminalRunnerDies(t *testing.T) {
	for name, tt := range map[string]struct {
		runner string
		lost   bool
		ran    int
	}{
		"before it begins":  {"terminal, dies before it begins", false, 0},
		"when it has begun": {"terminal, dies when it has begun", true, 0},
		"before the result": {"terminal, dies before the result", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.runner = tt.runner
			spec := s.spec("echo >> ran")
			if tt.lost {
				check(t, s.startWith(spec, s.launch))
				s.lost()
				s.wantRan(tt.ran)
				s.noSecrets()
				return
			}
			d := directory(s.dir)
			lock, err := d.prepare(t.Context(), spec)
			check(t, err)
			check(t, errors.Join(d.writeEnviron(spec.Env), s.launch(t.Context(), []string{s.program, "errand", "--terminal", s.dir}), lock.Close()))
			s.over()
			if err := d.listen(t.Context(), 10*time.Millisecond); err == nil {
				t.Error("nobody runs it")
			}
			s.noSecrets()
			s.runner = "terminal"
			check(t, s.startHere("echo >> ran"))
			s.wait()
			s.wantRan(1)
		})
	}
}

// Whoever starts it is killed before there is a runner.
func TestTerminalDaemonDies(t *testing.T) {
	for name, next := range map[string]func(*stageScene){
		"and it is started again": func(s *stageScene) {
			check(s, s.startHere("echo >> ran"))
			s.wait()
			s.wantRan(1)
		},
		"and it is ended": func(s *stageScene) {
			check(s, Kill(s.Context(), s.dir))
			check(s, s.startHere("echo >> ran"))
			if r := s.wait(); r.Code != -1 {
				s.Errorf("%+v", r)
			}
			s.wantRan(0)
		},
		"and it is removed": func(s *stageScene) {
			removed, err := Remove(s.dir)
			check(s, err)
			if !removed {
				s.Error("it stays")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			err := processtest.Child(t, "dies while it launches", s.dir, s.work).Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !directory(s.dir).has("env") {
				t.Fatalf("it did not die while it launched: %v", err)
			}
			next(s)
			s.noSecrets()
		})
	}
}

// Two runners of one errand: one of them runs it.
func TestTerminalLaunchedTwice(t *testing.T) {
	s := newStage(t)
	other := *s
	other.session = "errand-2"
	check(t, s.startWith(s.spec("echo >> ran; while [ ! -e end ]; do sleep 0.01; done"), func(ctx context.Context, argv []string) error {
		return errors.Join(s.launch(ctx, argv), other.launch(ctx, argv))
	}))
	check(t, os.WriteFile(s.path("end"), nil, 0o600))
	if r := s.wait(); r.Code != 0 || r.Lost {
		t.Errorf("%+v", r)
	}
	s.over()
	other.over()
	s.wantRan(1)
}

// Several start it at once, each with the right to end a runner that has not begun.
func TestTerminalStartedByMany(t *testing.T) {
	s := newStage(t)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := s.startHere("echo >> ran; sleep 0.1"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r := s.wait(); r.Code != 0 || r.Lost {
		t.Errorf("%+v", r)
	}
	s.wantRan(1)
}

func TestTerminalNeverBegins(t *testing.T) {
	s := newStage(t)
	d := directory(s.dir)
	spec := s.spec("echo >> ran")
	spec.Terminal = true
	lock, err := d.prepare(t.Context(), spec)
	check(t, err)
	check(t, errors.Join(d.writeEnviron(spec.Env), lock.Close()))
	if err := d.listen(t.Context(), time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("got %v", err)
	}
	s.noSecrets()
	// One that comes too late finds no environment.
	check(t, s.launch(t.Context(), []string{s.program, "errand", "--terminal", s.dir}))
	s.over()
	s.wantRan(0)
	if d.begun() {
		t.Error("it has begun")
	}
	if heard, err := d.word(); !heard || err == nil || !strings.Contains(err.Error(), "env") {
		t.Errorf("it says %v, %v", heard, err)
	}
	check(t, s.startHere("echo >> ran"))
	s.wait()
	s.wantRan(1)
}

// Somebody wants it to end before it has begun.
func TestTerminalNotWanted(t *testing.T) {
	s := newStage(t)
	check(t, s.startWith(s.spec("echo >> ran"), func(ctx context.Context, argv []string) error {
		return errors.Join(directory(s.dir).wantKill(), s.launch(ctx, argv))
	}))
	if r := s.wait(); r.Code != -1 || r.Lost {
		t.Errorf("%+v", r)
	}
	s.wantRan(0)
	s.noSecrets()
}

func TestTerminalFaults(t *testing.T) {
	big := "BIG=" + strings.Repeat("x", 10<<20)
	for name, tt := range map[string]struct {
		change func(*stageScene, *Spec)
		launch error
		final  bool
		want   string
	}{
		"no directory":     {func(s *stageScene, spec *Spec) { spec.Dir = s.path("none") }, nil, true, "does not exist"},
		"not absolute":     {func(_ *stageScene, spec *Spec) { spec.Dir = "x" }, nil, true, "not absolute"},
		"NUL":              {func(_ *stageScene, spec *Spec) { spec.Env = append(spec.Env, "A=\x00") }, nil, true, "NUL"},
		"huge environment": {func(_ *stageScene, spec *Spec) { spec.Env = append(spec.Env, big) }, nil, true, "too large"},
		"huge script":      {func(_ *stageScene, spec *Spec) { spec.Script = ": " + strings.Repeat("x", 1<<20) }, nil, true, "too large"},
		"no terminal now":  {nil, errors.New("no terminal"), false, "no terminal"},
		"never a terminal": {nil, &Failure{"no tmux"}, true, "no tmux"},
		"no such directory": {func(s *stageScene, _ *Spec) {
			check(s, os.MkdirAll(s.dir, 0o700))
			check(s, os.Mkdir(filepath.Join(s.dir, "lock"), 0o700))
		}, nil, false, "lock"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			spec := s.spec("echo >> ran")
			if tt.change != nil {
				tt.change(s, &spec)
			}
			err := s.startWith(spec, func(ctx context.Context, argv []string) error {
				if tt.launch != nil {
					return tt.launch
				}
				return s.launch(ctx, argv)
			})
			var final *Failure
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &final) != tt.final {
				t.Errorf("got %v, for good: %v", err, final != nil)
			}
			s.wantRan(0)
			s.noSecrets()
		})
	}
}

// The context ends while the runner is waited for. What was launched goes on.
func TestTerminalCanceled(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := StartInTerminal(ctx, s.program, s.dir, s.spec("echo >> ran"), func(ctx context.Context, argv []string) error {
		defer cancel()
		return s.launch(ctx, argv)
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	check(t, s.startHere("echo >> ran"))
	s.wait()
	s.wantRan(1)
}

// Without a terminal nothing begins that needs one, and nobody hears of it who waits for
// a runner that has one.
func TestRunnerWithoutTerminal(t *testing.T) {
	s := newStage(t)
	check(t, s.startWith(s.spec("echo >> ran"), func(ctx context.Context, argv []string) error {
		cmd := processtest.Child(t, "terminal", argv[1:]...)
		cmd.Stderr = nil // it panics
		check(t, cmd.Start())
		t.Cleanup(func() {
			if err := cmd.Wait(); err == nil {
				t.Error("it began")
			}
		})
		return s.launch(ctx, argv)
	}))
	s.wait()
	s.wantRan(1)
}

func TestAwaitPosition(t *testing.T) {
	r := strings.NewReader("12;5Rqwertyuiopasdfghjkl\x1b[M !!\x1b[200~\x1b[24;80Rrest")
	check(t, awaitPosition(r))
	if r.Len() != len("rest") {
		t.Errorf("%d bytes are left", r.Len())
	}
	if err := awaitPosition(r); err == nil {
		t.Error("there was no answer")
	}
}

func TestIsPosition(t *testing.T) {
	for text, want := range map[string]bool{
		"\x1b[1;1R": true, "abc\x1b[24;80R": true, "\x1b[R": true,
		"": false, "R": false, "\x1b[1;1": false, "\x1b[1;1Rx": false, "\x1b[<1;1R": false, "12;5R": false, "\x1bOR": false,
	} {
		if got := isPosition([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
