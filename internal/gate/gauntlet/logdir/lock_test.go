package logdir

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

func TestLock(t *testing.T) {
	d := tempDir(t)
	if _, held, err := d.Held(); held || err != nil {
		t.Errorf("no directory: held %t, %v", held, err)
	}
	if disk.Exists(d.Path()) {
		t.Error("looking made the directory")
	}
	lock := acquire(t, d)
	var owner Owner
	check(t, json.Unmarshal([]byte(read(t, d.file(lockName))), &owner))
	if owner != self(noon) || owner.PID != os.Getpid() || owner.Host == "" {
		t.Errorf("the file says %+v", owner)
	}
	wantHeld(t, d, os.Getpid())
	check(t, lock.Release())
	check(t, lock.Release())
	wantFree(t, d)
	if got, _ := filepath.Glob(d.file(".gauntlet*")); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
}

func TestReleaseTwiceTakesNothingFromTheNext(t *testing.T) {
	d := tempDir(t)
	first := acquire(t, d)
	check(t, first.Release())
	second := acquire(t, d)
	check(t, first.Release())
	wantHeld(t, d, os.Getpid())
	check(t, second.Release())
}

// A gate may run "git clean -fdx".
func TestReleaseLeavesALockThatIsNotOurs(t *testing.T) {
	d := tempDir(t)
	first := acquire(t, d)
	check(t, os.RemoveAll(d.Path()))
	second := acquire(t, d)
	check(t, first.Release())
	wantHeld(t, d, os.Getpid())
	check(t, second.Release())
	wantFree(t, d)
}

func TestRuling112WhatWeCannotReadAsOursIsHeld(t *testing.T) {
	ours, err := self(noon).encode()
	check(t, err)
	for name, text := range map[string]string{
		"empty":           "",
		"older tool":      "12345",
		"half":            string(ours[:len(ours)/2]),
		"other version":   strings.Replace(string(ours), `"v":1`, `"v":2`, 1),
		"no pid":          `{"v":1,"host":"h"}`,
		"more fields":     strings.Replace(string(ours), `{`, `{"x":1,`, 1),
		"something after": string(ours) + "x",
		"10 MB":           strings.Repeat(" ", 10<<20) + string(ours),
		"invalid UTF-8":   "\xff\xfe",
		"null":            "null",
	} {
		t.Run(name, func(t *testing.T) {
			d := tempDir(t)
			write(t, d.file(lockName), text)
			if _, held, err := d.Held(); !held || err != nil || read(t, d.file(lockName)) != text {
				t.Errorf("looking: held %t, %v; the lock is now %q", held, err, read(t, d.file(lockName)))
			}
			if err := wantLooksHeld(t, d); err != nil {
				t.Errorf("the kernel holds nothing, but: %v", err)
			}
		})
	}
}

func TestRuling112ALockThatIsNoFileIsHeld(t *testing.T) {
	ours, err := self(noon).encode()
	check(t, err)
	for name, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"link": func(path string) error {
			if err := os.WriteFile(path+".target", ours, 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".target", path)
		},
		"dangling link": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			d := tempDir(t)
			check(t, os.MkdirAll(d.Path(), 0o755))
			if err := make(d.file(lockName)); err != nil {
				t.Skip(err)
			}
			if err := wantLooksHeld(t, d); err == nil || errors.Is(err, ErrHeld) {
				t.Errorf("taking it: %v; want an error that is about the directory", err)
			}
		})
	}
}

func TestAbandonedLockIsTakenOver(t *testing.T) {
	d := tempDir(t)
	gone := self(noon.Add(-time.Hour)) // an earlier run of this very process that lost its lock
	text, err := gone.encode()
	check(t, err)
	write(t, d.file(lockName), string(text))
	if _, held, err := d.Held(); held || err != nil {
		t.Errorf("held %t, %v", held, err)
	}
	if read(t, d.file(lockName)) != string(text) {
		t.Error("looking changed the lock")
	}
	lock := acquire(t, d)
	wantHeld(t, d, os.Getpid())
	check(t, lock.Release())
	wantFree(t, d)
}

// Between opening the file and locking it, its owner may release it and another
// one take it.
func TestLookingAtALockThatIsNoLongerThere(t *testing.T) {
	text, err := self(noon).encode()
	check(t, err)
	for _, successor := range []bool{false, true} {
		d := tempDir(t)
		write(t, d.file(lockName), string(text))
		file, err := openFile(d.file(lockName), true)
		check(t, err)
		check(t, os.Remove(d.file(lockName)))
		if successor {
			write(t, d.file(lockName), string(text))
		}
		if err := d.examine(file, true); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("successor %t: got %v", successor, err)
		}
		check(t, file.Close())
	}
}

func TestTwoWhoLookDoNotSeeEachOther(t *testing.T) {
	d := tempDir(t)
	text, err := self(noon).encode()
	check(t, err)
	write(t, d.file(lockName), string(text))
	looking, err := d.abandoned(false)
	check(t, err)
	if owner, held, err := d.Held(); held || err != nil {
		t.Errorf("held by %v, %v", owner, err)
	}
	check(t, looking.Close())
}

func TestKilledBeforeTheLockHadItsName(t *testing.T) {
	d := tempDir(t)
	aside, err := d.lockAsideIn(t)
	check(t, err)
	check(t, aside.Close())
	write(t, d.file(lockName+".mine"), "foreign")
	check(t, acquire(t, d).Release())
	if disk.Exists(aside.Name()) {
		t.Error("what was left aside is still there")
	}
	if !disk.Exists(d.file(lockName + ".mine")) {
		t.Error("a foreign file was removed")
	}
}

func (d Dir) lockAsideIn(t *testing.T) (*os.File, error) {
	check(t, d.make())
	return d.lockAside(self(noon))
}

// Whoever was swept away by the winner has lost, and says so.
func TestSweptAwayIsHeld(t *testing.T) {
	d := tempDir(t)
	aside, err := d.lockAsideIn(t)
	check(t, err)
	defer aside.Close()
	check(t, acquire(t, d).Release())
	if _, err := d.install(aside.Name()); !errors.Is(err, ErrHeld) {
		t.Errorf("got %v, want ErrHeld", err)
	}
}

func TestCrowdHasOneAtATimeAndNobodyIsStuck(t *testing.T) {
	d := tempDir(t)
	var inside, turns atomic.Int32
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			for {
				lock, err := d.Acquire(noon)
				if errors.Is(err, ErrHeld) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d at once", n)
				}
				turns.Add(1)
				inside.Add(-1)
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	group.Wait()
	if turns.Load() != 50 {
		t.Errorf("%d had a turn", turns.Load())
	}
	wantFree(t, d)
}

// All find the same abandoned lock at once.
func TestCrowdAtAnAbandonedLock(t *testing.T) {
	for range 20 {
		d := tempDir(t)
		text, err := self(noon).encode()
		check(t, err)
		write(t, d.file(lockName), string(text))
		var won atomic.Int32
		locks := make(chan *Lock, 16)
		var group sync.WaitGroup
		for range cap(locks) {
			group.Go(func() {
				switch lock, err := d.Acquire(noon); {
				case err == nil:
					won.Add(1)
					locks <- lock
				case !errors.Is(err, ErrHeld):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d took it over", won.Load())
		}
		check(t, (<-locks).Release())
	}
}

func TestDirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, d := range []Dir{At(file), At(filepath.Join(file, "below"))} {
		if _, err := d.Acquire(noon); err == nil || errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: Acquire says %v", d.Path(), err)
		}
		if _, held, err := d.Held(); held || err == nil {
			t.Errorf("%s: held %t, %v", d.Path(), held, err)
		}
	}
}

func FuzzOwner(f *testing.F) {
	ours, err := self(noon).encode()
	check(f, err)
	f.Add(ours)
	f.Add([]byte("123"))
	f.Fuzz(func(t *testing.T, text []byte) {
		owner, ok := parseOwner(text)
		if !ok {
			if owner != (Owner{}) {
				t.Errorf("refused, but %+v", owner)
			}
			return
		}
		again, err := owner.encode()
		check(t, err)
		if same, ok := parseOwner(again); !ok || !same.Since.Equal(owner.Since) || same.PID != owner.PID || same.Host != owner.Host {
			t.Errorf("%+v is read back as %+v", owner, same)
		}
	})
}
