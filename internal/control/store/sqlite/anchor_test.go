package sqlite

import (
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
)

// An anchor of a store is found again as long as the store goes on, also after events were trimmed; not in a
// copy that is older, that was cut and went on, or that was rewritten.
func TestIssue20AnchorsFindAHistoryThatWasCut(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 30, "run.a", "run.b", "run.c")
	early, err := s.Anchor(t.Context())
	check(t, err)
	backup := tempPath(t)
	check(t, s.Backup(t.Context(), backup))
	appendTo(t, s, 30, "run.a", "run.d")
	late, err := s.Anchor(t.Context())
	check(t, err)
	if early.Position >= late.Position || early.Hash == late.Hash {
		t.Fatalf("%v, %v", early, late)
	}
	is := func(s *Store, anchor store.Head, want Standing) {
		t.Helper()
		if got, err := s.Compare(t.Context(), anchor); err != nil || got != want {
			t.Errorf("%s, not %s: %v", got, want, err)
		}
	}
	is(s, early, Anchored)
	is(s, late, Anchored)
	appendTo(t, s, 20, "run.b", "run.e")
	is(s, early, Anchored)
	is(s, late, Anchored)
	check(t, s.Close())

	found, err := CompareAt(t.Context(), path, early, late)
	check(t, err)
	if found[0] != Anchored || found[1] != Anchored {
		t.Errorf("%v", found)
	}

	found, err = CompareAt(t.Context(), backup, early, late)
	check(t, err)
	if found[0] != Anchored || found[1] != Cut {
		t.Errorf("the backup: %v", found)
	}
	older := mustOpen(t, backup)
	appendTo(t, older, 60, "run.x", "run.d")
	is(older, early, Anchored)
	is(older, late, Replaced)
	check(t, older.Close())

	check(t, os.Remove(sidePath(path)))
	tamper(t, path, "UPDATE events SET hash = zeroblob(32) WHERE position = 31")
	tamper(t, path, "UPDATE heads SET hash = zeroblob(32) WHERE subject = 'run.c'")
	found, err = CompareAt(t.Context(), path, early, late)
	check(t, err)
	if found[0] != Replaced || found[1] != Replaced {
		t.Errorf("rewritten: %v", found)
	}
}

// The same events of each subject in another order are another history.
func TestIssue20AnAnchorHasTheOrder(t *testing.T) {
	anchors := map[store.Head]bool{}
	for _, order := range [][]string{{"run.a", "run.b", "run.c"}, {"run.b", "run.a", "run.c"}} {
		s := mustOpen(t, tempPath(t))
		for _, subject := range order {
			_, err := s.Append(t.Context(), store.NewEvent{Subject: subject, ID: strings.Repeat(subject[4:], 16), Data: []byte("{}")})
			check(t, err)
		}
		anchor, err := s.Anchor(t.Context())
		check(t, err)
		anchors[anchor] = true
		check(t, s.Close())
	}
	if len(anchors) != 2 {
		t.Errorf("%v", anchors)
	}
}

func TestAnchorsAndTrims(t *testing.T) {
	path := tempPath(t)
	s := mustOpen(t, path)
	appendTo(t, s, 30, "run.a", "run.b", "run.c")
	early, err := s.Anchor(t.Context())
	check(t, err)
	appendTo(t, s, 10, "run.a")
	check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: all(t, s)[39].Position, Data: []byte("1")}))
	late, err := s.Anchor(t.Context())
	check(t, err)
	appendTo(t, s, 10, "run.a", "run.b")
	check(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: all(t, s)[49].Position, Data: []byte("2")}))
	trimmed, err := s.Trim(t.Context(), "test")
	check(t, err)
	if trimmed.Events == 0 {
		t.Fatal("nothing was trimmed")
	}
	for anchor, want := range map[store.Head]Standing{early: Forgot, late: Anchored} {
		if got, err := s.Compare(t.Context(), anchor); err != nil || got != want {
			t.Errorf("%s, not %s: %v", got, want, err)
		}
	}
	check(t, s.Close())
}

func TestTheAnchorOfAnEmptyStore(t *testing.T) {
	s := mustOpen(t, tempPath(t))
	defer s.Close()
	anchor, err := s.Anchor(t.Context())
	check(t, err)
	if got, err := s.Compare(t.Context(), anchor); err != nil || got != Anchored {
		t.Errorf("%v, %v", got, err)
	}
}
