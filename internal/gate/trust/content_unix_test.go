//go:build unix

package trust

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/enclave"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// contentOf is the approved content of a project with a script that prints "approved", and
// whether the system has enclaves.
func contentOf(t *testing.T, enclaves bool) (c *Content, root string) {
	t.Helper()
	s, root := project(t)
	put(t, root, "scripts/check.sh", "echo approved\n")
	check(t, s.Approve(root, noon))
	c = standing(t, s, root).Content
	if !enclaves {
		c.available = func() error { return enclave.ErrUnavailable }
	} else if err := enclave.Available(); err != nil {
		environtest.Missing(t, "private mount namespace", err)
	}
	return c, root
}

func runIn(c *Content, root, script string) process.Result {
	return c.Run(context.Background(), process.Command{Args: process.Shell(script), Dir: root, Lines: 10})
}

const checkScript = "sh .gauntlet/scripts/check.sh"

// edits are what an agent may do to .gauntlet.
var edits = map[string]func(t *testing.T, root string){
	"edited":           func(t *testing.T, root string) { put(t, root, "scripts/check.sh", "echo edited\n") },
	"something beside": func(t *testing.T, root string) { put(t, root, "scripts/more.sh", "") },
	"a name with a newline": func(t *testing.T, root string) {
		put(t, root, "scripts/a\nb", "")
	},
	"a compiled module": func(t *testing.T, root string) { put(t, root, "json.pyc", "") },
	"deleted file": func(t *testing.T, root string) {
		check(t, os.Remove(filepath.Join(root, ".gauntlet/scripts/check.sh")))
	},
	"deleted": func(t *testing.T, root string) { check(t, os.RemoveAll(filepath.Join(root, ".gauntlet"))) },
	"executable": func(t *testing.T, root string) {
		check(t, os.Chmod(filepath.Join(root, ".gauntlet/scripts/check.sh"), 0o755))
	},
	"a pipe": func(t *testing.T, root string) {
		check(t, syscall.Mkfifo(filepath.Join(root, ".gauntlet/pipe"), 0o600))
	},
	"a link to a directory": func(t *testing.T, root string) {
		check(t, os.RemoveAll(filepath.Join(root, ".gauntlet/scripts")))
		other := t.TempDir()
		check(t, os.WriteFile(filepath.Join(other, "check.sh"), []byte("echo edited\n"), 0o600))
		check(t, os.Symlink(other, filepath.Join(root, ".gauntlet/scripts")))
	},
	"another directory in its place": func(t *testing.T, root string) {
		check(t, os.Rename(filepath.Join(root, ".gauntlet"), filepath.Join(root, "old")))
		check(t, os.Symlink("old", filepath.Join(root, ".gauntlet")))
		check(t, os.WriteFile(filepath.Join(root, "old/scripts/check.sh"), []byte("echo edited\n"), 0o600))
	},
	"through a hard link": func(t *testing.T, root string) {
		check(t, os.Link(filepath.Join(root, ".gauntlet/scripts/check.sh"), filepath.Join(root, "hard")))
		check(t, os.WriteFile(filepath.Join(root, "hard"), []byte("echo edited\n"), 0o600))
	},
}

func TestE6InPlaceWhileItIsAsApproved(t *testing.T) {
	for _, enclaves := range []bool{true, false} {
		c, root := contentOf(t, enclaves)
		asked := 0
		available := c.available
		c.available = func() error { asked++; return available() }
		// Only in place does what is written there stay.
		for range 2 {
			if r := runIn(c, root, checkScript+`; stat -f -c %T .gauntlet 2>/dev/null; touch ran`); !strings.HasPrefix(r.Tail, "approved") || !r.OK() {
				t.Fatalf("%s: %s", r, r.Tail)
			}
		}
		if asked > 0 {
			t.Errorf("looked for namespaces %d times although nothing differs", asked)
		}
	}
}

func TestE6AnEnclaveWhereItDiffers(t *testing.T) {
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			c, root := contentOf(t, true)
			edit(t, root)
			before, err := sign(root)
			check(t, err)
			for range 2 {
				if r := runIn(c, root, checkScript+" && ls -A .gauntlet .gauntlet/scripts"); r.Tail != "approved\n.gauntlet:\nconfig.yml\nscripts\n\n.gauntlet/scripts:\ncheck.sh" {
					t.Errorf("%s: %s", r, r.Tail)
				}
			}
			after, err := sign(root)
			check(t, err)
			for path, was := range before {
				if path != "" && was != after[path] {
					t.Errorf("%s was touched", path)
				}
			}
			if len(before) != len(after) {
				t.Errorf("there were %d files, now %d", len(before), len(after))
			}
		})
	}
}

// Without an enclave what was edited never runs, and says what to do.
func TestE6NothingRunsWhereItDiffersWithoutAnEnclave(t *testing.T) {
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			c, root := contentOf(t, false)
			edit(t, root)
			r := runIn(c, root, "touch ran")
			if !errors.Is(r.Err, ErrWithheld) || r.Ran() || !strings.HasPrefix(r.Err.Error(), "restore with `stopgate trust --restore`, or ask a person to approve") {
				t.Errorf("got %+v", r)
			}
			if _, err := os.Stat(filepath.Join(root, "ran")); err == nil || c.Ready() == nil {
				t.Error("it ran")
			}
		})
	}
}

func TestE6NotADirectoryIsWithheld(t *testing.T) {
	for _, enclaves := range []bool{true, false} {
		c, root := contentOf(t, enclaves)
		check(t, os.RemoveAll(c.live))
		check(t, os.WriteFile(c.live, nil, 0o600))
		if r := runIn(c, root, "touch ran"); !errors.Is(r.Err, ErrWithheld) || !errors.Is(c.Ready(), ErrWithheld) {
			t.Errorf("got %+v", r)
		}
	}
}

// What was swapped while a command ran does not count, although all is as it was when it
// ends.
func TestE6ASwapDuringARun(t *testing.T) {
	swaps := map[string]string{
		"another file":     `mv .gauntlet/scripts/check.sh kept; echo echo edited >.gauntlet/scripts/check.sh; SEE; mv kept .gauntlet/scripts/check.sh`,
		"another content":  `cp -p .gauntlet/scripts/check.sh kept; echo echo edited >.gauntlet/scripts/check.sh; SEE; cat kept >.gauntlet/scripts/check.sh; touch -r kept .gauntlet/scripts/check.sh`,
		"another folder":   `mv .gauntlet/scripts kept; mkdir .gauntlet/scripts; echo echo edited >.gauntlet/scripts/check.sh; SEE; rm -r .gauntlet/scripts; mv kept .gauntlet/scripts`,
		"another gauntlet": `mv .gauntlet kept; mkdir -p .gauntlet/scripts; echo echo edited >.gauntlet/scripts/check.sh; SEE; rm -r .gauntlet; mv kept .gauntlet`,
	}
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			// The second time nothing is swapped.
			script := "if test -e swapped; then SEE; else touch swapped; " + swap + "; fi"
			script = strings.ReplaceAll(script, "SEE", checkScript)
			c, root := contentOf(t, true)
			var log bytes.Buffer
			r := c.Run(t.Context(), process.Command{Args: process.Shell(script), Dir: root, Output: &log, Lines: 10})
			if r.Tail != "approved" || !strings.Contains(log.String(), "does not count") {
				t.Errorf("%s: %s\n%s", r, r.Tail, log.String())
			}
			c, root = contentOf(t, false)
			if r := runIn(c, root, script); !errors.Is(r.Err, ErrWithheld) {
				t.Errorf("without an enclave: %s: %s", r, r.Tail)
			}
		})
	}
}

// What a gate that passed wrote beside the approved files may be what it passed by: that counts only if it passes
// without, too.
func TestE6APassByWhatTheGateWroteBeside(t *testing.T) {
	c, root := contentOf(t, true)
	if r := runIn(c, root, `echo 'echo planted' >.gauntlet/scripts/more.sh; test -e again || { touch again; sh .gauntlet/scripts/more.sh; exit 0; }; exit 3`); r.Code != 3 {
		t.Errorf("%s: %s", r, r.Tail)
	}
}

// An enclave goes where its directory goes, and that goes with the project.
func TestE6AMoveDuringARunInAnEnclave(t *testing.T) {
	for name, which := range map[string]func(c *Content) string{
		"the directory": func(c *Content) string { return c.live },
		"the project":   func(c *Content) string { return filepath.Dir(c.live) },
	} {
		t.Run(name, func(t *testing.T) {
			c, root := contentOf(t, true)
			edits["edited"](t, root)
			dir := which(c)
			// A process outside moves it away while the command waits, and back. The second
			// time nothing is moved.
			moved := make(chan error, 1)
			go func() {
				for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
					if _, err := os.Stat(filepath.Join(root, "started")); err == nil {
						moved <- errors.Join(os.Rename(dir, dir+"2"), os.Mkdir(dir, 0o755), os.Remove(dir), os.Rename(dir+"2", dir),
							os.WriteFile(filepath.Join(root, "moved"), nil, 0o600))
						return
					}
				}
				moved <- errors.New("never started")
			}()
			var log bytes.Buffer
			r := c.Run(t.Context(), process.Command{
				Args: process.Shell("touch started; while ! test -e moved; do sleep 0.01; done; " + checkScript), Dir: root, Output: &log, Lines: 10,
			})
			check(t, <-moved)
			if r.Tail != "approved" || !strings.Contains(log.String(), "was moved while this ran") {
				t.Errorf("%s: %s\n%s", r, r.Tail, log.String())
			}
		})
	}
}

// Where the approved files cannot be put in their place, that says nothing about the work: nothing ran, and an agent is
// held.
func TestE6AnEnclaveThatCannotBeMadeWithholds(t *testing.T) {
	c, root := contentOf(t, true)
	edits["edited"](t, root)
	c.files = append(c.files, file{Path: strings.Repeat("x", 300)})
	if r := runIn(c, root, "touch ran"); !errors.Is(r.Err, ErrWithheld) || r.Ran() {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("it ran")
	}
}

// A person who edits .gauntlet while gates run in an enclave holds no one up.
func TestE6EditsDuringARunInAnEnclaveDoNotMatter(t *testing.T) {
	c, root := contentOf(t, true)
	edits["edited"](t, root)
	var log bytes.Buffer
	r := c.Run(t.Context(), process.Command{Args: process.Shell("readlink /proc/self/cwd; " + checkScript), Dir: root, Output: writer(func(p []byte) (int, error) {
		put(t, root, ".config.yml.swp", "")
		put(t, root, "scripts/check.sh", "echo edited again\n")
		return log.Write(p)
	}), Lines: 10})
	if !strings.HasSuffix(r.Tail, "\napproved") || strings.Contains(log.String(), "does not count") {
		t.Errorf("%s: %s\n%s", r, r.Tail, log.String())
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// What a gate writes beside the approved files harms nothing: not the gate, not the next
// one, not the next stop.
func TestE6WhatAGateWritesBeside(t *testing.T) {
	for name, script := range map[string]string{
		"a cache":           `mkdir -p .gauntlet/scripts/__pycache__ && echo 1 >.gauntlet/scripts/__pycache__/x.cpython-311.pyc`,
		"a report":          `mkdir -p .gauntlet/out && echo 1 >.gauntlet/out/report && cat .gauntlet/out/report >/dev/null`,
		"a temporary file":  `echo 1 >.gauntlet/tmp && rm .gauntlet/tmp`,
		"the finder's file": `echo 1 >.gauntlet/.DS_Store`,
		"an editor's lock":  `ln -sfn nobody@nowhere .gauntlet/.lock`,
	} {
		for _, enclaves := range []bool{true, false} {
			c, root := contentOf(t, enclaves)
			for range 5 {
				if r := runIn(c, root, "ls -A .gauntlet .gauntlet/scripts | grep -v -e : -e '^$' | xargs; "+script+" && "+checkScript); r.Tail != "config.yml scripts check.sh\napproved" && r.Tail != "config.yml out scripts check.sh\napproved" {
					t.Errorf("%s, enclaves %t: %s: %s", name, enclaves, r, r.Tail)
				}
				if r := runIn(c, root, script+" && "+checkScript+" && exit 3"); r.Code != 3 {
					t.Errorf("%s, enclaves %t: a failure: %s: %s", name, enclaves, r, r.Tail)
				}
			}
		}
	}
}

// A failure that something was written beside is not looked at a second time.
func TestE6AFailureRunsOnce(t *testing.T) {
	c, root := contentOf(t, true)
	r := runIn(c, root, "echo ran >>runs; echo 1 >.gauntlet/report; exit 3")
	if runs, err := os.ReadFile(filepath.Join(root, "runs")); err != nil || string(runs) != "ran\n" || r.Code != 3 {
		t.Errorf("%s, after %q, %v", r, runs, err)
	}
}

// onWrite is called with the output of a command.
type onWrite func()

func (f onWrite) Write(text []byte) (int, error) { f(); return len(text), nil }

// What a gate has written stays while that gate runs, whatever begins and ends meanwhile.
func TestE6WhatAGateThatRunsWroteStays(t *testing.T) {
	c, root := contentOf(t, false)
	beside := onWrite(sync.OnceFunc(func() {
		if r := runIn(c, root, "echo >.gauntlet/other"); !r.OK() {
			t.Errorf("the second: %s", r)
		}
		check(t, os.WriteFile(filepath.Join(root, "ended"), nil, 0o600))
	}))
	script := "mkdir .gauntlet/__pycache__; echo >.gauntlet/__pycache__/a.pyc; echo >.gauntlet/report; echo written; while ! test -e ended; do sleep 0.01; done; test -e .gauntlet/__pycache__/a.pyc && test -e .gauntlet/report"
	if r := c.Run(t.Context(), process.Command{Args: process.Shell(script), Dir: root, Output: beside, Timeout: time.Minute}); !r.OK() {
		t.Errorf("the first: %s", r)
	}
}

// Where .gauntlet was deleted it is there until the last command has ended.
func TestE6ADeletedDirectoryIsThereForAll(t *testing.T) {
	c, root := contentOf(t, true)
	live := filepath.Join(root, ".gauntlet")
	check(t, os.RemoveAll(live))
	beside := onWrite(func() {
		if r := runIn(c, root, checkScript+" && touch begun"); !r.OK() {
			t.Errorf("the second: %s", r)
		}
		if _, err := os.Lstat(live); err != nil {
			t.Errorf("after the second: %v", err)
		}
	})
	script := "echo ran >>runs; echo begins; while ! test -e begun; do sleep 0.01; done; " + checkScript + " >approved"
	r := c.Run(t.Context(), process.Command{Args: process.Shell(script), Dir: root, Output: beside, Timeout: time.Minute})
	if runs, err := os.ReadFile(filepath.Join(root, "runs")); !r.OK() || err != nil || string(runs) != "ran\n" {
		t.Errorf("the first: %s, after %q, %v", r, runs, err)
	}
	if _, err := os.Lstat(live); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after both: %v", err)
	}
}

// A command that is ended says so, whatever it has written by then.
func TestE6ACancelledCommandIsNotWithheld(t *testing.T) {
	c, root := contentOf(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := c.Run(ctx, process.Command{Args: process.Shell("echo >.gauntlet/config.yml; echo written; exec sleep 600"), Dir: root, Output: onWrite(cancel)})
	if !r.Canceled || errors.Is(r.Err, ErrWithheld) {
		t.Errorf("got %s", r)
	}
}

// Gates that run beside each other may write, too.
func TestE6GatesBesideEachOther(t *testing.T) {
	c, root := contentOf(t, false)
	done := make(chan process.Result, 2)
	for _, name := range []string{"a", "b"} {
		other := map[string]string{"a": "b", "b": "a"}[name]
		go func() {
			done <- runIn(c, root, "echo >.gauntlet/"+name+"; while ! test -e .gauntlet/"+other+"; do sleep 0.01; done; touch ended-"+name+"; while ! test -e ended-"+other+"; do sleep 0.01; done")
		}()
	}
	for range 2 {
		if r := <-done; !r.OK() {
			t.Errorf("%s: %s", r, r.Tail)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(root, ".gauntlet/?")); len(names) > 0 {
		t.Errorf("%q are still there", names)
	}
	if kept, _ := filepath.Glob(filepath.Join(c.aside, "written/*/.gauntlet/?")); len(kept) != 2 {
		t.Errorf("kept %q", kept)
	}
}

// A gate that writes beside the approved files does it in every run: only the last are kept, and all
// that a person restored over.
func TestWhatGatesWroteIsForgotten(t *testing.T) {
	c, root := contentOf(t, false)
	for range keptWritten + 2 {
		if r := runIn(c, root, "echo >.gauntlet/a"); !r.OK() {
			t.Fatalf("%s: %s", r, r.Tail)
		}
		put(t, root, "config.yml", "edited\n")
		var r Restoration
		check(t, c.restore(&r))
	}
	for pattern, want := range map[string]int{"written/*/.gauntlet/a": keptWritten, "*/.gauntlet/config.yml": keptWritten + 2} {
		if kept, _ := filepath.Glob(filepath.Join(c.aside, pattern)); len(kept) != want {
			t.Errorf("%s: kept %q, want %d", pattern, kept, want)
		}
	}
}

// A cache is not an edit, and no command sees one.
func TestE6CachesAreNotEdits(t *testing.T) {
	s, root := approved(t)
	put(t, root, "__pycache__/check.cpython-311.pyc", "planted")
	put(t, root, "scripts/__pycache__/a/b.pyc", "planted")
	put(t, root, "scripts/.DS_Store", "")
	st := standing(t, s, root)
	if st.State != Approved {
		t.Errorf("got %+v", st)
	}
	for _, enclaves := range []bool{true, false} {
		if !enclaves {
			st.Content.available = func() error { return enclave.ErrUnavailable }
		}
		if r := runIn(st.Content, root, "find .gauntlet -name '*.pyc' -o -name .DS_Store"); r.Tail != "" || !r.OK() {
			t.Errorf("enclaves %t: %s: %s", enclaves, r, r.Tail)
		}
	}
	put(t, root, "__pycache__/check.cpython-311.pyc", "planted")
	check(t, s.Approve(root, noon))
	put(t, root, "__pycache__/check.cpython-311.pyc", "planted again")
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("approved with one: %+v", st)
	}
}

func TestRestore(t *testing.T) {
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			s, root := project(t)
			put(t, root, "scripts/run.sh", "#!/bin/sh\n")
			check(t, os.Chmod(filepath.Join(root, ".gauntlet/scripts/run.sh"), 0o755))
			check(t, s.Approve(root, noon))
			edit(t, root)
			r, err := s.Restore(root)
			check(t, err)
			st := standing(t, s, root)
			if st.State != Approved || !st.Content.look().exact() {
				t.Errorf("got %+v after %+v", st, r)
			}
			info, err := os.Stat(filepath.Join(root, ".gauntlet/scripts/run.sh"))
			check(t, err)
			if info.Mode().Perm() != 0o755 {
				t.Errorf("mode %o", info.Mode().Perm())
			}
			for _, name := range r.Moved {
				if _, err := os.Lstat(filepath.Join(r.Aside, ".gauntlet", name)); err != nil {
					t.Errorf("%s was lost: %v", name, err)
				}
			}
			again, err := s.Restore(root)
			if err != nil || len(again.Restored)+len(again.Moved) > 0 || again.Aside != "" {
				t.Errorf("once more: %+v, %v", again, err)
			}
		})
	}
}

func TestRestoreOverAFileAndADanglingLink(t *testing.T) {
	for _, edit := range []func(live string) error{
		func(live string) error { return os.WriteFile(live, []byte("mine"), 0o600) },
		func(live string) error { return os.Symlink("nowhere", live) },
	} {
		s, root := approved(t)
		live := filepath.Join(root, ".gauntlet")
		check(t, os.RemoveAll(live))
		check(t, edit(live))
		r, err := s.Restore(root)
		check(t, err)
		if st := standing(t, s, root); st.State != Approved || len(r.Moved) != 1 {
			t.Errorf("got %+v after %+v", st, r)
		}
		if _, err := os.Lstat(filepath.Join(r.Aside, ".gauntlet")); err != nil {
			t.Error(err)
		}
	}
}

func TestRestoreWhatWasNeverApproved(t *testing.T) {
	s, root := project(t)
	if _, err := s.Restore(root); err == nil || !strings.Contains(err.Error(), "never approved") {
		t.Errorf("got %v", err)
	}
}

// A .gauntlet that is a link to a folder elsewhere stays one.
func TestRestoreThroughALink(t *testing.T) {
	s, root := project(t)
	elsewhere := filepath.Join(t.TempDir(), "shared")
	check(t, os.Rename(filepath.Join(root, ".gauntlet"), elsewhere))
	check(t, os.Symlink(elsewhere, filepath.Join(root, ".gauntlet")))
	check(t, s.Approve(root, noon))
	c := standing(t, s, root).Content
	if r := runIn(c, root, checkScript); r.Code != 1 {
		t.Errorf("in place: %s, %s", r, r.Tail)
	}
	put(t, root, "scripts/check.sh", "exit 0\n")
	if r := runIn(c, root, checkScript); r.Code != 1 && !errors.Is(r.Err, ErrWithheld) {
		t.Errorf("edited: %s, %s", r, r.Tail)
	}
	_, err := s.Restore(root)
	check(t, err)
	if target, err := os.Readlink(filepath.Join(root, ".gauntlet")); target != elsewhere {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("got %+v", st)
	}
}

func TestMoveToAnotherFileSystem(t *testing.T) {
	if a, b := t.TempDir(), "/dev/shm"; sameDevice(t, a, b) {
		t.Skip("there is only one")
	}
	from := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(from, "d/e"), 0o755))
	check(t, os.WriteFile(filepath.Join(from, "d/e/f"), []byte("kept"), 0o755))
	check(t, os.Symlink("e/f", filepath.Join(from, "d/l")))
	to, err := os.MkdirTemp("/dev/shm", "stopgate-test-")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(to) })
	check(t, move(filepath.Join(from, "d"), filepath.Join(to, "d")))
	if text, err := os.ReadFile(filepath.Join(to, "d/l")); string(text) != "kept" {
		t.Errorf("got %q, %v", text, err)
	}
	if left, _ := os.ReadDir(from); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func sameDevice(t *testing.T, a, b string) bool {
	t.Helper()
	one, _, err := stampOf(a)
	check(t, err)
	two, _, err := stampOf(b)
	return err != nil || one.dev == two.dev
}

// A signature shows every change, also one that is undone.
func TestSignature(t *testing.T) {
	_, root := project(t)
	live := filepath.Join(root, ".gauntlet")
	path := filepath.Join(live, "scripts/check.sh")
	info, err := os.Stat(path)
	check(t, err)
	for name, change := range map[string]func() error{
		"written and set back": func() error {
			return errors.Join(os.WriteFile(path, []byte("exit 0\n"), 0o644), os.WriteFile(path, []byte("exit 1\n"), 0o644), os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"moved and back": func() error { return errors.Join(os.Rename(path, path+"2"), os.Rename(path+"2", path)) },
		"mode and back":  func() error { return errors.Join(os.Chmod(path, 0o755), os.Chmod(path, 0o644)) },
		"beside and gone": func() error {
			return errors.Join(os.WriteFile(path+"2", nil, 0o644), os.Remove(path+"2"))
		},
	} {
		before, err := settled(live)
		check(t, err)
		check(t, change())
		after, err := sign(live)
		check(t, err)
		if slices.Equal([]mark{before["scripts"], before["scripts/check.sh"]}, []mark{after["scripts"], after["scripts/check.sh"]}) {
			t.Errorf("%s: not seen", name)
		}
	}
}

func BenchmarkContent(b *testing.B) {
	root := b.TempDir()
	for _, name := range []string{"config.yml", "checks/a.yml", "checks/b.yml", "scripts/a.sh", "scripts/b.sh"} {
		put(b, root, name, strings.Repeat("# a line of it\n", 100))
	}
	s := NewStore(b.TempDir())
	check(b, s.Approve(root, noon))
	st, err := s.Standing(root)
	check(b, err)
	b.Run("look", func(b *testing.B) {
		for b.Loop() {
			if !st.Content.look().exact() {
				b.Fatal("not exact")
			}
		}
	})
	b.Run("sign", func(b *testing.B) {
		for b.Loop() {
			if _, err := sign(st.Content.live); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Two changes within one step of the kernel's clock look the same, so nobody goes on from files that young.
func TestE6WhatIsSettledIsOlderThanAStep(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	marks, err := settled(dir)
	check(t, err)
	if age := time.Since(time.Unix(0, marks.newest())); age < 20*time.Millisecond {
		t.Errorf("the newest is %s old", age)
	}
}

// What is put into a folder that a link leads to changes neither.
func TestE6ALinkToAFolderStays(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	check(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	check(t, os.Mkdir(filepath.Join(dir, "b"), 0o700))
	check(t, os.Symlink("a", link))
	was, err := markOf(link)
	check(t, err)
	time.Sleep(20 * time.Millisecond) // a step of the kernel's clock
	check(t, os.WriteFile(filepath.Join(dir, "a", "f"), nil, 0o600))
	if now, err := markOf(link); err != nil || !was.stays(now) {
		t.Errorf("a file was put there: %v", err)
	}
	check(t, os.Remove(link))
	check(t, os.Symlink("b", link))
	if now, err := markOf(link); err != nil || was.stays(now) {
		t.Errorf("it leads elsewhere: %v", err)
	}
}

// What cannot be looked at after a command may be anything.
func TestE6WhatNobodyCanLookAtIsAnother(t *testing.T) {
	live := filepath.Join(t.TempDir(), "loop")
	check(t, os.Symlink("loop", live))
	c := &Content{place: place{live: live}, inPlace: 1}
	if got, where := c.end([]view{{&c.place, sight{marks: signature{}}}}); got != other || where.live != live {
		t.Errorf("it is %d, at %q", got, where.live)
	}
}
