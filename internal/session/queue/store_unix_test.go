//go:build unix

package queue

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

func init() {
	children["count"] = childCount
	children["write"] = childWrite
	children["end"] = childEnd
	children["die"] = childDie
	children["fill"] = childFill
	children["nobody"] = childNobody
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", "b")
	change(t, s, "s", Begun{1})
	for path, want := range map[string]os.FileMode{s.dir: os.ModeDir | 0o700, s.Path("s"): 0o600, s.name("s") + ".lock": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestASpecialFileIsSetAsideUnread(t *testing.T) {
	t.Run("fifo", func(t *testing.T) {
		checkSetAside(t, func(path string) error { return syscall.Mkfifo(path, 0o600) })
	})
	t.Run("symlink", func(t *testing.T) {
		target := filepath.Join(t.TempDir(), "target.json")
		check(t, writing(seedQueue)(target))
		checkSetAside(t, func(path string) error { return os.Symlink(target, path) })
		if now, err := os.ReadFile(target); err != nil || string(now) != seedQueue {
			t.Errorf("the file that it points to is changed: %v", err)
		}
	})
	t.Run("dangling symlink", func(t *testing.T) {
		checkSetAside(t, func(path string) error { return os.Symlink("nowhere", path) })
	})
}

// childCount counts in a queue as soon as all are there.
func childCount(args []string) error {
	_, _ = io.Copy(io.Discard, os.Stdin)
	for range 20 {
		if err := countOne(Store{args[0]}, "s"); err != nil {
			return err
		}
	}
	return nil
}

func TestRuling35ChangesByManyProcessesAreNotLost(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", "b")
	start, gate, err := os.Pipe()
	check(t, err)
	cmds := make([]*exec.Cmd, 24)
	for i := range cmds {
		cmds[i] = processtest.Child(t, "count", s.dir)
		cmds[i].Stdin = start
		check(t, cmds[i].Start())
	}
	check(t, start.Close())
	check(t, gate.Close())
	for _, cmd := range cmds {
		check(t, cmd.Wait())
	}
	if q, err := s.Load("s"); err != nil || q.Commands[0].Stopgate.Tries != 24*20 {
		t.Errorf("%v, %d of %d changes", err, q.Commands[0].Stopgate.Tries, 24*20)
	}
}

// childWrite counts for ever in a queue of a size that takes a while to write, and
// says after each that it is written.
func childWrite(args []string) error {
	for {
		o, err := (Store{args[0]}).Change("s", counting, nil)
		if err != nil {
			return err
		}
		fmt.Println(o.Queue.Commands[0].Stopgate.Tries)
	}
}

func TestKilledWritersLeaveAWholeQueue(t *testing.T) {
	racetest.Skip(t)
	s := newStore(t)
	create(t, s, "s", "a", strings.Repeat("long ", 40_000))
	for round := range 40 {
		said := processtest.Kill(t, round, 4*time.Millisecond, "write", s.dir)
		last, err := strconv.Atoi(said[len(said)-1])
		check(t, err)
		q, err := s.Load("s")
		// One more may be written than could be told.
		if err != nil || q.Commands[0].Stopgate.Tries-last > 1 || q.Commands[0].Stopgate.Tries < last {
			t.Fatalf("round %d: %v, %d changes, %d were told", round, err, q.Commands[0].Stopgate.Tries, last)
		}
	}
	change(t, s, "s", Begun{1}) // the lock went with its owner
}

// childEnd makes queues and ends them for ever, and says which are at their end.
func childEnd(args []string) error {
	from, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := from; ; i++ {
		if err := endQueue(Store{args[0]}, "s", strconv.Itoa(i), Withdrawn{"x"}); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func TestKilledWhileFilesGetTheirLastNames(t *testing.T) {
	s := newStore(t)
	next := 0
	for round := range 40 {
		said := processtest.Kill(t, round, 4*time.Millisecond, "end", s.dir, strconv.Itoa(next))
		last, err := strconv.Atoi(said[len(said)-1])
		check(t, err)
		switch _, err := s.Change("s", applying(Withdrawn{"x"}), func(Transition, string) error { return nil }); {
		case err == nil:
			next = last + 2
		case errors.Is(err, ErrNone):
			next = last + 1
			if slices.Contains(oldQueues(t, s), strconv.Itoa(next)) {
				next++ // at its end, but not told
			}
		default:
			t.Fatal(err)
		}
		there := oldQueues(t, s)
		for i := max(0, next-4); i < next; i++ {
			if !slices.Contains(there, strconv.Itoa(i)) {
				t.Fatalf("round %d: queue %d of %d is lost: %q", round, i, next, there)
			}
		}
	}
}

// oldQueues are the ids of the queues that did not come to a good end.
func oldQueues(t *testing.T, s Store) (ids []string) {
	t.Helper()
	for _, file := range files(t, s) {
		if strings.HasPrefix(file, ".stopgate-") {
			continue // of a writer that was killed
		}
		q, err := load(filepath.Join(s.dir, file))
		check(t, err)
		ids = append(ids, q.Stopgate.ID)
	}
	return ids
}

// childDie ends a queue, and dies before or after it has told.
func childDie(args []string) error {
	_, err := (Store{args[0]}).Change("s", applying(StopFailure{"p1", "API Error"}), func(_ Transition, path string) error {
		if args[1] == "after" {
			fmt.Println(path)
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
	return errors.Join(err, errors.New("still alive"))
}

func TestWhoDiesBetweenSaveTellAndRenameIsFinishedByTheNext(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		s := newStore(t)
		create(t, s, "s", "a", "b")
		for _, e := range sent(1, "p1", "a") {
			change(t, s, "s", e)
		}
		for range 3 { // and who comes next dies too
			out, _ := processtest.Child(t, "die", s.dir, when).Output()
			if told := string(out); (told == s.path("s", "stale")+"\n") != (when == "after") {
				t.Errorf("%s: told %q", when, told)
			}
			wantFiles(t, s, "queue-s.json")
		}
		if err := s.Create("s", fresh("c")); !errors.Is(err, ErrExists) {
			t.Errorf("its end is not told, and yet there is room for another: %v", err)
		}
		finish(t, s, "s", Ending{Broken, "command 1 failed: the model's API failed", "API Error"})
		wantFiles(t, s, "queue-s.stale.json")
		create(t, s, "s", "c")
	}
}

// A limit on the size of files fails like a full disk.
func TestAFullDiskIsAnErrorAndLosesNothing(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", strings.Repeat("x", 4000))
	before, err := os.ReadFile(s.Path("s"))
	check(t, err)
	out, err := processtest.Child(t, "fill", s.dir).Output()
	check(t, err)
	if strings.Count(string(out), "file too large") != 2 {
		t.Errorf("said %s", out)
	}
	if now, err := os.ReadFile(s.Path("s")); err != nil || string(now) != string(before) {
		t.Errorf("%v: the queue is now\n%s", err, now)
	}
	wantFiles(t, s, "queue-s.json")
	change(t, s, "s", Begun{1})
}

func childFill(args []string) error {
	if err := processtest.LimitFiles(2000); err != nil {
		return err
	}
	s := Store{args[0]}
	_, changed := s.Change("s", applying(Begun{1}), nil)
	created := s.Create("new", fresh(strings.Repeat("x", 4000)))
	if changed == nil || created == nil {
		return errors.New("it was written")
	}
	fmt.Println(changed, created)
	return nil
}

func TestAReadOnlyDirectoryIsAnErrorAndLosesNothing(t *testing.T) {
	s := newStore(t)
	create(t, s, "s", "a", "b")
	for _, file := range []string{s.Path("s"), s.name("s") + ".lock"} {
		check(t, os.Chmod(file, 0o644)) // nobody shall read them
	}
	before, err := os.ReadFile(s.Path("s"))
	check(t, err)
	check(t, os.Chmod(s.dir, 0o555))
	t.Cleanup(func() { check(t, os.Chmod(s.dir, 0o700)) })
	out, err := processtest.Child(t, "nobody", s.dir).Output()
	check(t, err)
	if text := string(out); strings.Count(text, "permission denied") != 3 || !strings.Contains(text, "told of queue-s.stale.json") {
		t.Errorf("said %s", text)
	}
	if now, err := os.ReadFile(s.Path("s")); err != nil || string(now) != string(before) {
		t.Errorf("%v: the queue is now\n%s", err, now)
	}
	wantFiles(t, s, "queue-s.json")
}

// childNobody tries everything as a user who may write nothing: root may write
// everywhere.
func childNobody(args []string) error {
	if err := processtest.BecomeNobody(args[0]); err != nil {
		return err
	}
	s := Store{args[0]}
	_, changed := s.Change("s", applying(Begun{1}), nil)
	fmt.Println(changed)
	fmt.Println(s.Create("new", fresh("a")))
	ended := func(q Queue) Transition { o := Apply(q, Withdrawn{"x"}, noon); o.Changed = false; return o }
	_, renamed := s.Change("s", ended, func(_ Transition, path string) error {
		fmt.Println("told of", filepath.Base(path))
		return nil
	})
	fmt.Println(renamed)
	return nil
}
