package queue

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLast(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := NewStore(t.TempDir())
	end := func(session string, e Event) {
		t.Helper()
		check(t, s.Create(session, New(session, "id", []string{"x"}, now)))
		apply := func(q Queue) Transition { return Apply(q, e, now) }
		if _, err := s.Change(session, apply, func(Transition, string) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	last := func(session string) (string, EndKind) {
		t.Helper()
		l, err := s.Last(session)
		if err != nil || l.Err != nil || l.Session != session {
			t.Fatalf("%+v, %v", l, err)
		}
		return l.Path, l.Queue.Stopgate.Ending.Kind
	}
	if _, err := s.Last("a"); !errors.Is(err, ErrNone) {
		t.Errorf("no session ever had one: %v", err)
	}
	end("a", Withdrawn{"me"})
	if path, kind := last("a"); path != s.path("a", "stale") || kind != Cancel {
		t.Errorf("%s %s", path, kind)
	}
	done := New("a", "id", []string{"x"}, now)
	done.Commands[0].Status = Done
	done.Stopgate.Ending = &Ending{Kind: Complete}
	check(t, s.save("a", done, os.WriteFile))
	check(t, rotate(s.Path("a"), s.path("a", "done")))
	for _, newer := range []string{"stale", "done"} {
		older := map[string]string{"stale": "done", "done": "stale"}[newer]
		check(t, errors.Join(os.Chtimes(s.path("a", newer), now, now), os.Chtimes(s.path("a", older), now, now.Add(-time.Second))))
		if path, _ := last("a"); path != s.path("a", newer) {
			t.Errorf("%s is newer than %s", newer, path)
		}
	}
	check(t, os.WriteFile(s.path("a", "done"), nil, 0o600))
	if l, err := s.Last("a"); err != nil || l.Err == nil {
		t.Errorf("%+v, %v: the newest is damaged", l, err)
	}
}

func TestSessions(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := NewStore(t.TempDir())
	if all := s.Sessions(); all != nil {
		t.Errorf("%q", all)
	}
	for _, session := range []string{"b c", "a/é", "done"} {
		check(t, s.Create(session, New(session, "id", []string{"x"}, now)))
	}
	check(t, rotate(s.Path("done"), s.path("done", "done")))
	if diff := cmp.Diff([]string{"a/é", "b c", "done"}, s.Sessions()); diff != "" {
		t.Error(diff)
	}
}
