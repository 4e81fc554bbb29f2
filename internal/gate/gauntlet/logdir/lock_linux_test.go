package logdir

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["hold"] = childHold
	children["count"] = childCount
	children["nobody"] = childNobody
	children["bequeath"] = childBequeath
}

// childHold takes the lock, says so and keeps it until it is killed.
func childHold(args []string) error {
	if _, err := At(args[0]).Acquire(time.Now()); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// holder is a process that has the lock.
func holder(t *testing.T, d Dir) *exec.Cmd {
	t.Helper()
	cmd := processtest.Child(t, "hold", d.Path())
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestKilledHolderIsGone(t *testing.T) {
	d := tempDir(t)
	cmd := holder(t, d)
	wantHeld(t, d, cmd.Process.Pid)
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if !disk.Exists(d.file(lockName)) {
		t.Fatal("the lock went with its owner")
	}
	wantFree(t, d)
}

// Its parent may never wait for it.
func TestDeadHolderThatNobodyWaitedForIsGone(t *testing.T) {
	d := tempDir(t)
	cmd := holder(t, d)
	check(t, cmd.Process.Kill())
	check(t, unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	wantFree(t, d)
}

// childBequeath takes the lock and starts a process that has the lock's file open until its
// standard input ends, as every child has between fork and exec.
func childBequeath(args []string) error {
	d := At(args[0])
	if err := d.make(); err != nil {
		return err
	}
	lock, err := d.lockAside(self(time.Now()))
	if err != nil {
		return err
	}
	if _, err := d.install(lock.Name()); err != nil {
		return err
	}

	cmd := exec.Command("cat")
	cmd.Stdin, cmd.ExtraFiles = os.Stdin, []*os.File{lock}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println("held")
	return cmd.Wait()
}

// bequeathed is a directory whose lock's owner was killed, and is held by its child until
// release is called.
func bequeathed(t *testing.T) (d Dir, release func()) {
	t.Helper()
	d = tempDir(t)
	cmd := processtest.Child(t, "bequeath", d.Path())
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	check(t, cmd.Process.Kill())
	check(t, unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	return d, func() { check(t, in.Close()) }
}

// A child of a killed run has the lock until it calls exec. That does not count as a run.
func TestChildOfAKilledRunDoesNotHoldTheLock(t *testing.T) {
	for _, take := range []func(d Dir){
		func(d Dir) {
			if owner, held, err := d.Held(); held || err != nil {
				t.Errorf("held by %v, %v", owner, err)
			}
		},
		func(d Dir) { check(t, acquire(t, d).Release()) },
	} {
		d, release := bequeathed(t)
		var once sync.Once
		pause = func(time.Duration) { once.Do(release); time.Sleep(childPace) }
		take(d)
		pause = time.Sleep
		once.Do(func() { t.Error("nobody waited for the child"); release() })
	}
}

func TestWaitingForAChildOfAKilledRunEnds(t *testing.T) {
	d, release := bequeathed(t)
	defer release()
	pause = func(time.Duration) {}
	defer func() { pause = time.Sleep }()
	if _, held, err := d.Held(); !held || err != nil {
		t.Errorf("held %t, %v", held, err)
	}
}

func TestStoppedHolderHolds(t *testing.T) {
	d := tempDir(t)
	cmd := holder(t, d)
	check(t, cmd.Process.Signal(syscall.SIGSTOP))
	wantHeld(t, d, cmd.Process.Pid)
}

// The file is there but the kernel holds no lock on it, as on a file system whose
// locks do not reach us.
func TestRuling112OwnerWithoutAnAdvisoryLock(t *testing.T) {
	other := holder(t, tempDir(t)) // any process that lives
	alive := self(noon)
	alive.PID, alive.Start = other.Process.Pid, process.StartTime(other.Process.Pid)
	tests := []struct {
		name   string
		change func(*Owner)
		held   bool
	}{
		{"lives", func(*Owner) {}, true},
		{"its number was used again", func(o *Owner) { o.Start += "0" }, false},
		{"before the machine started", func(o *Owner) { o.Boot = "b" }, false},
		{"on another machine", func(o *Owner) { o.Host = "h" }, false},
		{"start not known", func(o *Owner) { o.Start = "" }, false},
		{"no such process", func(o *Owner) { o.PID = 1 << 30 }, false},
		{"ourselves", func(o *Owner) { *o = self(noon) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, owner := tempDir(t), alive
			tt.change(&owner)
			text, err := owner.encode()
			check(t, err)
			write(t, d.file(lockName), string(text))
			if !tt.held {
				wantFree(t, d)
			} else if err := wantLooksHeld(t, d); err != nil {
				t.Errorf("the kernel holds nothing, but: %v", err)
			}
		})
	}
}

func TestPipeInPlaceOfTheLockIsHeld(t *testing.T) {
	d := tempDir(t)
	check(t, os.MkdirAll(d.Path(), 0o755))
	check(t, syscall.Mkfifo(d.file(lockName), 0o600))
	if err := wantLooksHeld(t, d); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("taking it: %v; want an error that is about the directory", err)
	}
}

// Processes count under the lock, with a gap between reading and writing in
// which another one would show. Some are killed.
func TestKilledCrowdCountsExactly(t *testing.T) {
	d := tempDir(t)
	check(t, d.make())
	counter := d.file("counter")
	write(t, counter, "0")
	const processes, turns = 6, 20
	var counting []*exec.Cmd
	for i := range processes {
		cmd := processtest.Child(t, "count", d.Path(), counter, strconv.Itoa(turns))
		check(t, cmd.Start())
		counting = append(counting, cmd)
		victim := holderOrNot(t, d, i)
		victim.Process.Kill()
		victim.Wait()
	}
	for _, cmd := range counting {
		check(t, cmd.Wait())
	}
	if got := read(t, counter); got != strconv.Itoa(processes*turns) {
		t.Errorf("counted %s, want %d", got, processes*turns)
	}
	wantFree(t, d)
}

// holderOrNot is a process that takes the lock, and is anywhere on its way.
func holderOrNot(t *testing.T, d Dir, i int) *exec.Cmd {
	t.Helper()
	cmd := processtest.Child(t, "hold", d.Path())
	cmd.Stderr = nil // it may lose
	check(t, cmd.Start())
	time.Sleep(time.Duration(i*i) * time.Millisecond)
	return cmd
}

func childCount(args []string) error {
	d, path := At(args[0]), args[1]
	turns, err := strconv.Atoi(args[2])
	for turns > 0 && err == nil {
		lock, held := d.Acquire(time.Now())
		if held != nil {
			continue
		}
		turns--
		err = increment(path)
		if e := lock.Release(); err == nil {
			err = e
		}
	}
	return err
}

func increment(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
}

func TestAsAUserWhoMayNot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	unreadable := tempDir(t)
	text, err := self(noon).encode()
	check(t, err)
	write(t, unreadable.file(lockName), string(text))
	unwritable := tempDir(t)
	check(t, os.MkdirAll(unwritable.Path(), 0o755))
	for _, d := range []Dir{unreadable, unwritable} {
		for _, parent := range []string{d.Path(), d.file(".."), d.file("../..")} {
			check(t, os.Chmod(parent, 0o755))
		}
	}
	out, err := processtest.Child(t, "nobody", unreadable.Path(), unwritable.Path()).Output()
	check(t, err)
	if got := string(out); !strings.HasPrefix(got, "true <nil>\n") || !strings.HasSuffix(got, "permission denied\n") {
		t.Errorf("got %s", got)
	}
}

// childNobody looks at a lock that it may not read and takes one where it may
// not write.
func childNobody(args []string) error {
	if err := syscall.Setuid(65534); err != nil {
		return err
	}
	_, held, err := At(args[0]).Held()
	fmt.Println(held, err)
	_, err = At(args[1]).Acquire(time.Now())
	fmt.Println(err)
	return nil
}
