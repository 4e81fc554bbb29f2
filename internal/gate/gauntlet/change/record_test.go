package change

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A record survives its bytes, and tells what is no longer so.
func TestE20ARecordIsComparedByBytes(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1", "b", "1", "c", "1", "d/e", "1")
	w := open(t, r)
	names := []string{"d/e", "a", "b", "c", "a", "none", "d"}
	record, err := w.Record(t.Context(), names)
	check(t, err)
	if diff := cmp.Diff([]string{"d/e", "a", "b", "c", "a", "none", "d"}, names); diff != "" {
		t.Error("the caller's names are others now", diff)
	}
	back, err := DecodeRecord(record.Encode())
	check(t, err)
	if diff := cmp.Diff([]string{"a", "b", "c", "d/e"}, back.Names()); diff != "" {
		t.Error(diff)
	}
	r.Write("a", "2", "new", "1", "c", "1")
	r.Remove("b")
	check(t, os.Chmod(r.Path("d/e"), 0o755))
	got, err := w.Differences(t.Context(), back, []string{"a", "new", "none"})
	check(t, err)
	one := record.State("b")
	want := []Difference{
		{"a", one, got[0].Is},
		{"b", one, State{}},
		{"d/e", one, State{"x", one.Sum}},
		{"new", State{}, one},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := DecodeRecord(record.Encode()[:40]); err == nil {
		t.Error("half a record was taken")
	}
}

// What is too large to be read is known by its stat.
func TestE20ARecordOfALargeFile(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1", "large", "1")
	check(t, os.Truncate(r.Path("large"), maxRead+1))
	w := open(t, r)
	record, err := w.Record(t.Context(), []string{"large", "a"})
	check(t, err)
	got, err := w.Differences(t.Context(), record, nil)
	check(t, err)
	if !slices.Equal(record.Names(), []string{"a", "large"}) || len(got) > 0 {
		t.Errorf("the record of %q differs: %v", record.Names(), got)
	}
	check(t, os.Truncate(r.Path("large"), maxRead+2))
	got, err = w.Differences(t.Context(), record, nil)
	check(t, err)
	if len(got) != 1 || got[0].Path != "large" || got[0].Is.Kind != Unreadable {
		t.Errorf("got %v", got)
	}
}

// What is known from elsewhere takes the place of what was read, if it makes sense.
func TestARecordWithOtherStates(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1", "b", "1")
	record, err := open(t, r).Record(t.Context(), []string{"a", "b"})
	check(t, err)
	sum := record.State("a").Sum
	other, err := record.With(map[string]State{"a": {}, "b": {"x", sum}, "c": {"l", sum}})
	check(t, err)
	if diff := cmp.Diff([]string{"b", "c"}, other.Names()); diff != "" || other.State("b") != (State{"x", sum}) || other.State("c") != (State{"l", sum}) {
		t.Errorf("%v %v %s", other.State("b"), other.State("c"), diff)
	}
	for _, odd := range []State{{"f", sum[:62]}, {"f", "x" + sum[1:]}, {Unreadable, sum}} {
		if _, err := record.With(map[string]State{"a": odd}); err == nil {
			t.Errorf("%v was taken", odd)
		}
	}
}

// What was written within a tick of the clock is read again: its stat vouches for nothing.
func TestE20AFileThatIsStillWarmIsReadAgain(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1")
	for settled, now := range map[bool]func() time.Time{false: time.Now, true: later} {
		record, err := Open(r.Dir, logDir, "", r.Env, now).Record(t.Context(), []string{"a"})
		check(t, err)
		if got := record.entries[0].stat.mtime != unsettled; got != settled {
			t.Errorf("its stat vouches for it: %t, want %t", got, settled)
		}
	}
}

func TestHeadAt(t *testing.T) {
	r := gittest.New(t)
	first := r.Commit("one")
	long := int64(len(r.Git("log", "-1", "--format=%H"))) // the reflog has more than an id
	r.Env = append(r.Env, "GIT_COMMITTER_DATE=1800000000 +0000")
	second := r.Commit("two")
	size := ReflogOf(r.Dir).Size
	r.Env = append(r.Env, "GIT_COMMITTER_DATE=1600000000 +0000") // it claims to be older
	r.Commit("three")
	for at, want := range map[int64]string{1750000000: first, 1500000000: first} {
		if got, reflog := HeadAt(r.Dir, time.Unix(at, 0)); got != want || reflog.Size < long || reflog.Size >= size {
			t.Errorf("at %d: %s, %d", at, got, reflog.Size)
		}
	}
	if got, _ := HeadAt(r.Dir, time.Unix(1900000000, 0)); got == second {
		t.Error("the last entry counts")
	}
	if got, _ := HeadAt(gittest.Dir(t), time.Now()); got != "" {
		t.Errorf("got %s", got)
	}
}
