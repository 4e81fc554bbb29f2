package queue

import (
	"fmt"
	"testing"
	"time"
)

// A message is found by its key also when other queues have ended since.
func TestFind(t *testing.T) {
	s := NewStore(t.TempDir())
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for n := range 6 {
		q := New("s", fmt.Sprint("id", n), []string{"text"}, now)
		q.Stopgate.Key = fmt.Sprint("key", n)
		check(t, s.Create("s", q))
		if n == 5 {
			break // it is still there
		}
		end := func(q Queue) Transition { return Apply(q, Withdrawn{Why: "test"}, now) }
		if n%2 == 0 {
			end = func(q Queue) Transition { return q.end(Complete, "") }
		}
		if _, err := s.Change("s", end, func(Transition, string) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 6 {
		if q, found := s.Find("s", fmt.Sprint("key", n)); !found || q.ID() != fmt.Sprint("id", n) {
			t.Errorf("key%d: %v, %q", n, found, q.ID())
		}
	}
	if _, found := s.Find("s", "key6"); found || s.HasKey("another", "key1") {
		t.Error("something is found that is not there")
	}
}

// As long as its file is kept.
func TestFindLooksIntoAllThatIsKept(t *testing.T) {
	s := NewStore(t.TempDir())
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for n := range kept + 2 {
		q := New("s", fmt.Sprint("id", n), []string{"text"}, now)
		q.Stopgate.Key = fmt.Sprint("key", n)
		check(t, s.Create("s", q))
		_, err := s.Change("s", func(q Queue) Transition { return q.end(Complete, "") }, func(Transition, string) error { return nil })
		check(t, err)
	}
	for n := range kept + 2 {
		if found := s.HasKey("s", fmt.Sprint("key", n)); found != (n > 0) {
			t.Errorf("key%d: found is %t", n, found)
		}
	}
}
