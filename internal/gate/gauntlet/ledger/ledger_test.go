package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

func newLedger(t *testing.T) *Ledger {
	t.Helper()
	dir := t.TempDir()
	return Open(filepath.Join(dir, "state"), dir)
}

func readState(t testing.TB, l *Ledger) State {
	t.Helper()
	s, err := l.Read()
	check(t, err)
	return s
}

func update(t *testing.T, l *Ledger, change func(*State)) {
	t.Helper()
	check(t, l.Update(t.Context(), func(s *State) error { change(s); return nil }))
}

// fail adds an open failure.
func fail(job string) func(*State) {
	return func(s *State) { s.Record(partial("A", gate(job, Failed))) }
}

func TestLedgerIsReadBack(t *testing.T) {
	l := newLedger(t)
	if s := readState(t, l); s.Damaged || len(s.Open) > 0 {
		t.Errorf("an absent ledger gives %+v", s)
	}
	if _, err := os.Stat(l.dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("reading made something")
	}
	var want State
	update(t, l, func(s *State) {
		v := violation("1", review.New)
		v.Line, v.Issue = "12", "<b> & \u2028 \"x\"\n"
		s.Record(whole("A", gate(quality, Failed, v, violation("2", review.Skipped)), proved("key", noon).Gates[0]))
		s.Look = &Look{Key: "k", Jobs: []string{lint}, Changed: 2, Note: "n"}
		want = *s
	})
	if diff := cmp.Diff(want, readState(t, l), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-written +read)\n%s", diff)
	}
	info, err := os.Stat(l.path())
	check(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
}

func TestOneLedgerPerWorktree(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	environtest.Symlink(t, root, link)
	a, b, c := Open(state, root), Open(state, link), Open(state, t.TempDir())
	if a.path() != b.path() || a.path() == c.path() || a.IndexFile() != b.IndexFile() || a.IndexFile() == c.IndexFile() {
		t.Errorf("%s, %s, %s", a.path(), b.path(), c.path())
	}
	if filepath.Dir(a.IndexFile()) != filepath.Dir(a.path()) || !strings.HasPrefix(a.path(), filepath.Join(state, "ledger")) {
		t.Errorf("%s, %s", a.path(), a.IndexFile())
	}
}

func TestOnlyChangesAreWritten(t *testing.T) {
	l := newLedger(t)
	update(t, l, func(*State) {})
	if _, err := os.Stat(l.path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing changed and it was written: %v", err)
	}
	update(t, l, fail(lint))
	before, err := os.Stat(l.path())
	check(t, err)
	update(t, l, func(s *State) { s.Look = nil })
	refused := errors.New("refused")
	if err := l.Update(t.Context(), func(s *State) error { s.Open = nil; return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	after, err := os.Stat(l.path())
	check(t, err)
	if !os.SameFile(before, after) || len(readState(t, l).Open) != 1 {
		t.Error("it was written again")
	}
}

// damages are ways in which a file stops being one of ours.
func damages(text []byte) map[string][]byte {
	return map[string][]byte{
		"empty":         {},
		"half":          text[:len(text)/2],
		"garbage":       []byte("\x00\xff{"),
		"other version": bytes.Replace(text, []byte(`"v":1`), []byte(`"v":2`), 1),
		"edited":        bytes.Replace(text, []byte(lint), []byte(test), 1),
		"emptied":       []byte(`{"v":1}`),
		"no object":     []byte("[]"),
		"null":          []byte("null"),
		"twice":         append(bytes.Clone(text), text...),
		"over the size": append(bytes.Clone(text), bytes.Repeat([]byte(" "), maxSize)...),
	}
}

func TestDamageIsNoticedAndKept(t *testing.T) {
	l := newLedger(t)
	update(t, l, fail(lint))
	text, err := os.ReadFile(l.path())
	check(t, err)
	for name, damaged := range damages(text) {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			check(t, os.MkdirAll(l.dir, 0o700))
			check(t, os.WriteFile(l.path(), damaged, 0o600))
			if s := readState(t, l); !s.Damaged || len(s.Open) > 0 {
				t.Fatalf("read as %+v", s)
			}
			update(t, l, func(s *State) { s.Look = &Look{Key: "k"} })
			if s := readState(t, l); !s.Damaged || s.Look == nil {
				t.Errorf("after a change that is no run: %+v", s)
			}
			kept, err := os.ReadFile(l.path() + ".damaged-1")
			if err != nil || !bytes.Equal(kept, damaged) {
				t.Errorf("kept %d bytes, %v", len(kept), err)
			}
			update(t, l, func(s *State) { s.Record(whole("A", gate(lint, Passed))) })
			if s := readState(t, l); s.Damaged {
				t.Error("still damaged after a whole run")
			}
			if more, _ := filepath.Glob(l.path() + ".damaged-*"); len(more) != 1 {
				t.Errorf("set aside %q", more)
			}
		})
	}
}

// What is too large to be read is not written.
func TestALedgerThatWouldBeTooLargeStaysAsItWas(t *testing.T) {
	l := newLedger(t)
	update(t, l, fail(lint))
	err := l.Update(t.Context(), func(s *State) error {
		s.Open[0].Message = strings.Repeat("x", maxSize)
		return nil
	})
	if s := readState(t, l); err == nil || s.Damaged || len(s.Open) != 1 || s.Open[0].Message != "m" {
		t.Errorf("%v, and %d are open, damaged: %t", err, len(s.Open), s.Damaged)
	}
}

func TestDamagedFilesAreBounded(t *testing.T) {
	l := newLedger(t)
	check(t, os.MkdirAll(l.dir, 0o700))
	for i := range maxDamaged + 3 {
		check(t, os.WriteFile(l.path(), fmt.Appendf(nil, "damage %d", i), 0o600))
		update(t, l, fail(lint))
	}
	kept, err := filepath.Glob(l.path() + ".damaged-*")
	check(t, err)
	if len(kept) != maxDamaged {
		t.Errorf("kept %q", kept)
	}
}

func TestWhatIsNoFileIsAnError(t *testing.T) {
	l := newLedger(t)
	check(t, os.MkdirAll(l.path(), 0o700))
	if _, err := l.Read(); err == nil || !strings.Contains(err.Error(), l.path()) {
		t.Errorf("Read says %v", err)
	}
	if err := l.Update(t.Context(), func(*State) error { return nil }); err == nil {
		t.Error("Update says nothing")
	}
}

func TestWaitingForTheLockEnds(t *testing.T) {
	l := newLedger(t)
	unlock, err := lockfile.Acquire(t.Context(), filepath.Join(l.dir, "lock"), 0)
	check(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = l.Update(ctx, func(*State) error { t.Error("changed without the lock"); return nil })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), l.dir) {
		t.Errorf("got %v", err)
	}
	readState(t, l) // needs no lock
}

func TestCrowdLosesNothing(t *testing.T) {
	l := newLedger(t)
	const writers = 40
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			own := &Ledger{l.dir, l.root} // as another process has it
			err := own.Update(t.Context(), func(s *State) error { fail(fmt.Sprintf("check:.:%02d", i))(s); return nil })
			if err != nil {
				t.Error(err)
			}
			if s, err := own.Read(); err != nil || s.Damaged || len(s.Open) == 0 {
				t.Errorf("a reader sees %d open, damaged %t, %v", len(s.Open), s.Damaged, err)
			}
		})
	}
	group.Wait()
	s := readState(t, l)
	if len(s.Open) != writers || s.Series.Failures == 0 {
		t.Errorf("%d of %d are open", len(s.Open), writers)
	}
}

func FuzzDecode(f *testing.F) {
	var s State
	fail(lint)(&s)
	text, err := encode(s)
	check(f, err)
	for _, seed := range damages(text) {
		if len(seed) < 1<<16 {
			f.Add(seed)
		}
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, ok := decode(text)
		if !ok {
			return
		}
		again, err := encode(s)
		check(t, err)
		same, ok := decode(again)
		if diff := cmp.Diff(s, same, cmpopts.EquateEmpty()); !ok || diff != "" {
			t.Errorf("read back %t\n%s", ok, diff)
		}
	})
}
