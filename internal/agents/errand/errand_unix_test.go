//go:build unix

package errand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// patience only bounds a test that fails; nothing waits this long.
const patience = 3 * time.Minute

func init() {
	children["errand"] = func(args []string) error { return Run(args[1]) }
	children["short"] = func(args []string) error { return here(args[1], 100*time.Millisecond).run(untilAsked()) }
	children["dies before it begins"] = diesEarly
	children["dies when it has begun"] = diesBegun
	children["dies before the result"] = diesLate
	children["full disk"] = fullDisk
}

// here is the runner of this process.
func here(dir string, grace time.Duration) runner {
	return runner{directory(dir), pipes{os.Environ(), os.Stderr}, time.Now, os.Stdout, grace, 0}
}

// untilAsked ends when the process is asked to end, like that of Run.
func untilAsked() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

func dieNow() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }

func diesEarly(args []string) error {
	if _, err := directory(args[1]).hold(os.Stderr); err != nil {
		return err
	}
	return dieNow()
}

func diesBegun(args []string) error {
	if _, _, err := here(args[1], grace).begin(); err != nil {
		return err
	}
	return dieNow()
}

// diesLate has a clock that is first asked when the command has ended, which prints
// nothing.
func diesLate(args []string) error {
	r := here(args[1], grace)
	r.now = func() time.Time { panic(dieNow()) }
	return r.run(context.Background())
}

// fullDisk lets no file grow over a size that all but the result have.
func fullDisk(args []string) error {
	if err := processtest.LimitFiles(1000); err != nil {
		return err
	}
	return here(args[1], grace).run(untilAsked())
}

// scene is an errand and a directory that its command works in.
type scene struct {
	*testing.T
	dir, work string
	runner    string // the child that runs it
	program   string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	base := t.TempDir()
	s := &scene{t, filepath.Join(base, "errands", "key-1"), filepath.Join(base, "work"), "errand", self}
	check(t, os.Mkdir(s.work, 0o700))
	t.Cleanup(func() { _ = Kill(context.Background(), s.dir) })
	return s
}

func (s *scene) path(name string) string { return filepath.Join(s.work, name) }

func (s *scene) spec(script string) Spec {
	return Spec{
		Owner: "0123456789abcdef", Script: script, Dir: s.work, Log: s.path("log"), Label: "build",
		Env: append(os.Environ(), "STOPGATE_TEST_CHILD="+s.runner, "ERRAND="+s.dir, "GORACE=atexit_sleep_ms=0"),
	}
}

func (s *scene) start(script string) error {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	return Start(ctx, s.program, s.dir, s.spec(script))
}

func (s *scene) wait() Result {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	r, err := Wait(ctx, s.dir)
	check(s, err)
	return r
}

func (s *scene) lost() {
	s.Helper()
	if r := s.wait(); !r.Lost {
		s.Errorf("it is not lost: %+v", r)
	}
}

// ran is how often the command ran. It adds a line to the file ran.
func (s *scene) ran() int {
	s.Helper()
	text, err := os.ReadFile(s.path("ran"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func (s *scene) wantRan(want int) {
	s.Helper()
	if got := s.ran(); got != want {
		s.Errorf("the command ran %d times, want %d", got, want)
	}
}

var eventually = checktest.Eventually

// pid waits for a process to write its number into a file.
func (s *scene) pid(name string) (n int) {
	s.Helper()
	eventually(s, name+" holds a number", func() bool {
		text, _ := os.ReadFile(s.path(name))
		line, _, whole := strings.Cut(string(text), "\n")
		n, _ = strconv.Atoi(line)
		return whole && n > 0
	})
	return n
}

func (s *scene) wantDead(pid int) {
	s.Helper()
	eventually(s, fmt.Sprintf("process %d is dead", pid), func() bool { return !alive(pid) })
}

// alive reports whether a process runs. One that is dead and not waited for still takes
// signals, where the system does not tell more.
func alive(pid int) bool {
	if runtime.GOOS == "linux" {
		return process.StartTime(pid) != ""
	}
	return syscall.Kill(pid, 0) == nil
}

func (s *scene) log() string {
	s.Helper()
	text, err := os.ReadFile(s.path("log"))
	check(s, err)
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		at, rest, _ := strings.Cut(line, " ")
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			s.Errorf("%q: %v", line, err)
		}
		b.WriteString(rest)
	}
	return b.String()
}

func TestErrand(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   int
		tail   string
	}{
		"success":            {"echo out; echo err >&2", 0, "out\nerr"},
		"failure":            {"echo no; exit 3", 3, "no"},
		"ended by a signal":  {"kill -9 $$", 128 + 9, ""},
		"not found":          {"no-such-program 2>/dev/null", 127, ""},
		"where it runs":      {`test "$PWD" = "$(dirname "$ERRAND" | xargs dirname)/work" || exit 1`, 0, ""},
		"empty input":        {"cat", 0, ""},
		"a broken pipe ends": {"yes | head -n 1", 0, "y"},
		"no own variables":   {`test -z "$STOPGATE_COMMAND"`, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			check(t, s.start(c.script))
			got := s.wait()
			if got.Ended.IsZero() || got.Ended.Location() != time.UTC {
				t.Errorf("it ended %v", got.Ended)
			}
			got.Ended = time.Time{}
			if diff := cmp.Diff(Result{Code: c.code, Tail: c.tail}, got); diff != "" {
				t.Error(diff)
			}
			if c.tail == "" {
				return
			}
			if want := "[build] " + strings.ReplaceAll(c.tail, "\n", "\n[build] ") + "\n"; s.log() != want {
				t.Errorf("the log is %q", s.log())
			}
		})
	}
}

// What a command writes to $STOPGATE_OUTPUT is a part of its result.
func TestOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   map[string]string
		fault  string
	}{
		"nothing":          {"true", nil, ""},
		"values":           {`printf 'a=1\nb_B-2=x = "y" $z\r\n\n  \na=2\nempty=\n' > "$STOPGATE_OUTPUT"`, map[string]string{"a": "2", "b_B-2": `x = "y" $z`, "empty": ""}, ""},
		"added bit by bit": {`echo a=1 >> "$STOPGATE_OUTPUT"; echo b=2 >> "$STOPGATE_OUTPUT"`, map[string]string{"a": "1", "b": "2"}, ""},
		"no new line":      {`printf a=1 > "$STOPGATE_OUTPUT"`, map[string]string{"a": "1"}, ""},
		"not UTF-8":        {`printf 'a=\377' > "$STOPGATE_OUTPUT"`, map[string]string{"a": "\uFFFD"}, ""},
		"words":            {`echo ok > "$STOPGATE_OUTPUT"`, nil, "line 1 is not NAME=VALUE"},
		"a bad name":       {`printf 'a=1\na b=2\n' > "$STOPGATE_OUTPUT"`, nil, "line 2 is not NAME=VALUE"},
		"too much":         {`head -c 40000 /dev/zero | tr '\0' x > "$STOPGATE_OUTPUT"`, nil, "more than 32 KiB"},
		"a NUL":            {`printf 'a=\0b' > "$STOPGATE_OUTPUT"`, nil, "line 1 contains a NUL byte"},
		"a directory":      {`mkdir "$STOPGATE_OUTPUT"`, nil, "is not a regular file"},
		"a pipe":           {`mkfifo "$STOPGATE_OUTPUT"`, nil, "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			check(t, s.start(c.script))
			got := s.wait()
			if diff := cmp.Diff(c.want, got.Output, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(got.Fault, c.fault) || (got.Fault == "") != (c.fault == "") {
				t.Errorf("%q, want %q", got.Fault, c.fault)
			}
		})
	}
}

func FuzzOutputs(f *testing.F) {
	f.Add([]byte("a=1\nb=2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseOutputs(data)
		for name, value := range values {
			if err != nil || name == "" || strings.ContainsAny(value, "\n\x00") {
				t.Errorf("%q: %q=%q, %v", data, name, value, err)
			}
		}
	})
}

func TestOnlyTheOwnerMayReadIt(t *testing.T) {
	s := newScene(t)
	check(t, s.start("echo out"))
	s.wait()
	check(t, filepath.WalkDir(filepath.Dir(s.dir), func(path string, e fs.DirEntry, err error) error {
		check(t, err)
		info, err := e.Info()
		check(t, err)
		want := os.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return nil
	}))
	text, err := os.ReadFile(filepath.Join(s.dir, "spec.json"))
	check(t, err)
	if strings.Contains(string(text), "ERRAND=") {
		t.Error("the environment is on disk")
	}
	if owner, err := Owner(s.dir); owner != "0123456789abcdef" || err != nil {
		t.Error(owner, err)
	}
}

// However many start it, at once and later, it runs once.
func TestRunsOnce(t *testing.T) {
	s := newScene(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := s.start("echo x >> ran; read line < go; exit 4"); err != nil {
				t.Error(err)
			}
		})
	}
	check(t, syscall.Mkfifo(s.path("go"), 0o600))
	all.Wait()
	if !Runs(s.dir) {
		t.Error("it does not run")
	}
	check(t, os.WriteFile(s.path("go"), []byte("go\n"), 0))
	if r := s.wait(); r.Code != 4 {
		t.Errorf("it ended with %+v", r)
	}
	check(t, s.start("echo x >> ran"))
	if r := s.wait(); r.Code != 4 {
		t.Errorf("it ended with %+v", r)
	}
	if Runs(s.dir) {
		t.Error("it still runs")
	}
	s.wantRan(1)
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"directory gone":        {func(s *Spec) { s.Dir += "/gone" }, "/gone does not exist"},
		"directory not told":    {func(s *Spec) { s.Dir = "" }, "is not absolute"},
		"relative directory":    {func(s *Spec) { s.Dir = "work" }, "is not absolute"},
		"NUL in the script":     {func(s *Spec) { s.Script += "\x00" }, "contains a NUL byte"},
		"NUL in the variables":  {func(s *Spec) { s.Env = append(s.Env, "A=\x00") }, "contains a NUL byte"},
		"very long script":      {func(s *Spec) { s.Script = strings.Repeat("#", 10<<20) }, "too long"},
		"very large variables":  {func(s *Spec) { s.Env = append(s.Env, "A="+strings.Repeat("x", 10<<20)) }, "too large"},
		"no shell to be found":  {func(s *Spec) { s.Env = append(s.Env, "PATH=/nowhere") }, `"sh": executable file not found`},
		"directory is no such":  {func(s *Spec) { s.Dir += "/file" }, "not a directory"},
		"directory with a line": {func(s *Spec) { s.Dir += "/a\nb" }, "a\nb does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			check(t, os.WriteFile(s.path("file"), nil, 0o600))
			spec := s.spec("echo x >> ran")
			c.change(&spec)
			for range 2 { // whoever asks again hears it again
				err := Start(t.Context(), s.program, s.dir, spec)
				var failure *Failure
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("it says %v", err)
				}
			}
			s.wantRan(0)
		})
	}
}

func TestNoRunner(t *testing.T) {
	s := newScene(t)
	s.program += "-gone"
	err := s.start("echo x >> ran")
	var failure *Failure
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &failure) {
		t.Errorf("it says %v", err)
	}
	s.program, err = os.Executable()
	check(t, err)
	check(t, s.start("echo x >> ran"))
	s.wait()
	s.wantRan(1)
}

func TestKilledBeforeItBegan(t *testing.T) {
	s := newScene(t)
	s.runner = "dies before it begins"
	if err := s.start("echo x >> ran"); err == nil || !strings.Contains(err.Error(), "before its command started") {
		t.Errorf("it says %v", err)
	}
	s.runner = "errand"
	check(t, s.start("echo x >> ran"))
	if r := s.wait(); r.Code != 0 || r.Lost {
		t.Errorf("it ended with %+v", r)
	}
	s.wantRan(1)
}

func TestKilledWhenItHadBegun(t *testing.T) {
	for runner, ran := range map[string]int{"dies when it has begun": 0, "dies before the result": 1} {
		t.Run(runner, func(t *testing.T) {
			s := newScene(t)
			s.runner = runner
			check(t, s.start("echo x >> ran"))
			s.lost()
			s.runner = "errand"
			check(t, s.start("echo x >> ran"))
			s.lost()
			s.wantRan(ran)
		})
	}
}

// What a runner that was killed leaves behind is ended by whoever finds that out.
func TestKilledWhileItRan(t *testing.T) {
	s := newScene(t)
	check(t, s.start(`echo x >> ran
echo $$ > shell
sleep 1000 & echo $! > group
setsid sh -c 'echo $$ > left; sleep 1000' &
env -i sh -c 'echo $$ > bare; sleep 1000' &
wait`))
	pids := []int{s.pid("shell"), s.pid("group"), s.pid("left"), s.pid("bare")}
	check(t, syscall.Kill(directory(s.dir).runner().PID, syscall.SIGKILL))
	s.lost()
	for _, pid := range pids {
		s.wantDead(pid)
	}
	check(t, s.start("echo x >> ran"))
	s.wantRan(1)
}

func TestFullDisk(t *testing.T) {
	s := newScene(t)
	s.runner = "full disk"
	check(t, s.start(`echo x >> ran; i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo "a line that makes the result too long for the disk, as it is"; done; touch over`))
	eventually(t, "it is over", func() bool { _, err := os.Stat(s.path("over")); return err == nil })
	if r := directory(s.dir).runner(); !r.Lives() {
		t.Error("the runner has given up")
	}
	check(t, syscall.Kill(directory(s.dir).runner().PID, syscall.SIGTERM))
	s.lost()
	s.wantRan(1)
	if entries, _ := filepath.Glob(filepath.Join(s.dir, ".stopgate-*")); len(entries) > 0 {
		t.Errorf("left behind: %q", entries)
	}
}

// A disk that is full may not stay so.
func TestResultThatCannotBeWrittenAtFirst(t *testing.T) {
	s := newScene(t)
	check(t, s.start(`while ! test -e "$ERRAND/group"; do :; done; mkdir "$ERRAND/exit.json"; touch stamp; exit 5`))
	eventually(t, "it was tried", func() bool {
		stamp, err := os.Stat(s.path("stamp"))
		tried, _ := os.Stat(s.dir)
		trying, _ := filepath.Glob(filepath.Join(s.dir, ".stopgate-*"))
		return err == nil && tried.ModTime().After(stamp.ModTime()) && len(trying) == 0
	})
	check(t, os.Remove(filepath.Join(s.dir, "exit.json")))
	if r := s.wait(); r.Code != 5 {
		t.Errorf("it ended with %+v", r)
	}
}

// A runner goes on as long as nobody asks it to end.
func TestResultThatCannotBeWrittenForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		inTheWay := filepath.Join(dir, "exit.json")
		check(t, os.Mkdir(inTheWay, 0o700))
		ctx, ask := context.WithCancel(t.Context())
		defer ask()
		r := here(dir, grace)
		r.patience = 5 * time.Minute
		ended := make(chan error, 1)
		go func() { ended <- r.finish(ctx, nil, Result{Code: 5}) }()
		time.Sleep(time.Hour) // of the bubble
		select {
		case err := <-ended:
			t.Fatalf("it gave up: %v", err)
		default:
		}
		ask()
		start := time.Now()
		if err := <-ended; err == nil || time.Since(start) < r.patience || time.Since(start) > 2*r.patience {
			t.Errorf("%v, after %v", err, time.Since(start))
		}
	})
}

func TestDamagedResult(t *testing.T) {
	s := newScene(t)
	check(t, s.start("true"))
	s.wait()
	for _, text := range []string{"", "{", "\x00\x00", `[1]`} {
		check(t, os.WriteFile(filepath.Join(s.dir, "exit.json"), []byte(text), 0o600))
		s.lost()
	}
	check(t, os.RemoveAll(s.dir))
	s.lost()
}

// What goes on in the background and holds the output open does not hold the errand.
func TestBackground(t *testing.T) {
	s := newScene(t)
	check(t, s.start("sleep 1000 & echo $! > background; echo done"))
	if r := s.wait(); r.Code != 0 || r.Tail != "done" {
		t.Errorf("it ended with %+v", r)
	}
	s.wantDead(s.pid("background"))
}

// A command that makes itself a session of its own wants to go on.
func TestLeftOnPurpose(t *testing.T) {
	s := newScene(t)
	check(t, s.start(`setsid sh -c 'echo $$ > left; exec sleep 1000' > /dev/null 2>&1 & while ! test -s left; do :; done`))
	left := s.pid("left")
	defer func() { check(t, syscall.Kill(left, syscall.SIGKILL)) }()
	if r := s.wait(); r.Code != 0 {
		t.Errorf("it ended with %+v", r)
	}
	if syscall.Kill(left, 0) != nil {
		t.Error("it was ended")
	}
}

// leavers leave the command's group, and more.
const leavers = `setsid sh -c 'echo $$ > left; sleep 1000' &
setsid env -i sh -c 'echo $$ > bare; sleep 1000' &
(setsid sh -c 'echo $$ > orphan; sleep 1000' &)
`

func TestKill(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		runner string
		code   int
	}{
		"at once":          {"echo $$ > shell; sleep 1000", "errand", 128 + 15},
		"with a last word": {"trap 'echo bye > word; exit 3' TERM; echo $$ > shell; while :; do sleep 0.01; done", "errand", 3},
		"never":            {"trap '' TERM; echo $$ > shell; while :; do sleep 0.01; done", "short", 128 + 9},
		"a child cleans up": {
			"sh -c 'trap \"sleep 0.2; echo bye > word; exit\" TERM; echo $$ > shell; while :; do sleep 0.01; done'; true", "errand", 128 + 15,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.runner = c.runner
			check(t, s.start(leavers+c.script))
			pids := []int{s.pid("shell"), s.pid("left"), s.pid("bare"), s.pid("orphan")}
			check(t, Kill(t.Context(), s.dir))
			for _, pid := range pids {
				if runtime.GOOS == "linux" && alive(pid) {
					t.Errorf("process %d lives", pid)
				}
			}
			r := s.wait()
			if r.Code != c.code || r.Lost {
				t.Errorf("it ended with %+v", r)
			}
			if _, err := os.Stat(s.path("word")); (err == nil) != strings.Contains(c.script, "word") {
				t.Errorf("its last word: %v", err)
			}
			check(t, Kill(t.Context(), s.dir))
			check(t, s.start("echo x >> ran"))
			s.wantRan(0)
		})
	}
}

// One that stands still is not asked for ever.
func TestKillStoppedRunner(t *testing.T) {
	s := newScene(t)
	check(t, s.start("setsid sh -c 'echo $$ > left; sleep 1000' & echo $$ > shell; sleep 1000"))
	shell, left := s.pid("shell"), s.pid("left")
	check(t, syscall.Kill(directory(s.dir).runner().PID, syscall.SIGSTOP))
	check(t, directory(s.dir).kill(t.Context(), 50*time.Millisecond))
	s.wantDead(shell)
	s.wantDead(left)
	if r := s.wait(); r.Code != -1 || r.Lost {
		t.Errorf("it ended with %+v", r)
	}
}

// A disk that takes no more files is no reason to let it run.
func TestKillThatCannotBeWrittenDown(t *testing.T) {
	s := newScene(t)
	check(t, s.start("echo $$ > shell; sleep 1000"))
	shell := s.pid("shell")
	check(t, os.Mkdir(filepath.Join(s.dir, "kill"), 0o700)) // in the way
	check(t, Kill(t.Context(), s.dir))
	s.wantDead(shell)
	if r := s.wait(); r.Code != 128+15 {
		t.Errorf("it ended with %+v", r)
	}
}

// Where nobody knows when a process has started, its group may be a stranger's.
func TestWhoseGroup(t *testing.T) {
	self := process.Self()
	leader := exec.Command("true")
	check(t, leader.Run())
	gone := leader.Process.Pid
	for name, c := range map[string]struct {
		group process.Identity
		want  bool
	}{
		"ours":            {self, true},
		"its leader gone": {process.Identity{PID: gone, Boot: self.Boot, Start: "1"}, true},
		"of unknown age":  {process.Identity{PID: gone, Boot: self.Boot}, false},
		"another's":       {process.Identity{PID: self.PID, Boot: self.Boot, Start: "1"}, false},
		"before the boot": {process.Identity{PID: self.PID, Boot: "another", Start: self.Start}, false},
		"nobody's":        {process.Identity{Boot: self.Boot, Start: self.Start}, false},
	} {
		if got := ours(c.group); got != c.want && (runtime.GOOS == "linux" || got) {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestKillBeforeStart(t *testing.T) {
	s := newScene(t)
	check(t, Kill(t.Context(), s.dir)) // there is nothing
	check(t, os.MkdirAll(s.dir, 0o700))
	check(t, Kill(t.Context(), s.dir))
	check(t, s.start("echo x >> ran"))
	if r := s.wait(); r.Code != -1 || r.Lost {
		t.Errorf("it ended with %+v", r)
	}
	s.wantRan(0)
}

// Whoever wanted it to end may be killed before it does.
func TestKillThatWasKilled(t *testing.T) {
	s := newScene(t)
	check(t, os.MkdirAll(s.dir, 0o700))
	check(t, directory(s.dir).wantKill())
	check(t, s.start("echo x >> ran"))
	if r := s.wait(); r.Code != -1 || r.Lost {
		t.Errorf("it ended with %+v", r)
	}
	s.wantRan(0)
}

// A runner that was started before somebody wanted it to end looks for that.
func TestKillBeforeTheRunnerBegins(t *testing.T) {
	s := newScene(t)
	check(t, os.MkdirAll(s.dir, 0o700))
	check(t, directory(s.dir).write("spec.json", s.spec("echo x >> ran")))
	check(t, directory(s.dir).wantKill())
	r := here(s.dir, grace)
	r.mouth = nowhere{io.Discard}
	check(t, r.run(t.Context()))
	if r := s.wait(); r.Code != -1 || r.Lost {
		t.Errorf("it ended with %+v", r)
	}
	s.wantRan(0)
}

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

func TestWaitEndsWithItsContext(t *testing.T) {
	s := newScene(t)
	check(t, s.start("sleep 1000"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Wait(ctx, s.dir); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check(t, Kill(t.Context(), s.dir))
}

func TestRunnerRefusesWhatHasBegun(t *testing.T) {
	s := newScene(t)
	check(t, s.start("echo x >> ran"))
	s.wait()
	r := here(s.dir, grace)
	r.mouth = nowhere{io.Discard}
	if err := r.run(t.Context()); err == nil || !strings.Contains(err.Error(), "has already started") {
		t.Error(err)
	}
	s.wantRan(1)
}

func TestBeginsOnce(t *testing.T) {
	d := directory(t.TempDir())
	check(t, d.begin(process.Self()))
	if err := d.begin(process.Self()); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if d.runner() != process.Self() {
		t.Errorf("it is %+v", d.runner())
	}
}

// What a removal that was killed has left is found whatever the directory is called.
func TestRemoveRest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[state]")
	for _, name := range []string{goneMark + "one", "two"} {
		check(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	check(t, RemoveRest(dir))
	left, err := os.ReadDir(dir)
	check(t, err)
	if len(left) != 1 || left[0].Name() != "two" {
		t.Errorf("left %v", left)
	}
}

func TestRemove(t *testing.T) {
	s := newScene(t)
	check(t, s.start("sleep 1000"))
	if removed, err := Remove(s.dir); removed || err != nil {
		t.Error(removed, err)
	}
	check(t, Kill(t.Context(), s.dir))
	if removed, err := Remove(s.dir); !removed || err != nil {
		t.Error(removed, err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestOutside(t *testing.T) {
	inside := []string{"A=1", "STOPGATE_ERRAND=/x", "STOPGATE_COMMAND=y", "STOPGATE_STATE_DIR=/s"}
	if diff := cmp.Diff([]string{"A=1", "STOPGATE_STATE_DIR=/s"}, Outside(inside)); diff != "" {
		t.Error(diff)
	}
	if inside[1] != "STOPGATE_ERRAND=/x" {
		t.Error("the caller's was changed")
	}
}
