package jetstream

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
)

// Events of several subjects are appended together, or none is.
func TestABatchIsAppendedWholeOrNotAtAll(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d servers", n), func(t *testing.T) {
			s := newCluster(t, n).open(t).(*Store)
			defer s.Close()
			first, err := s.AppendAll(t.Context(), store.NewEvent{Subject: "job.1", ID: "a"}, store.NewEvent{Subject: "cap.x", ID: "b", Data: []byte("1")})
			check(t, err)
			if head, err := s.Head(t.Context(), "cap.x"); err != nil || head.Position != first[1] || first[0] >= first[1] {
				t.Errorf("%v, %v, %v", first, head, err)
			}
			_, err = s.AppendAll(t.Context(), store.NewEvent{Subject: "job.2", ID: "c"}, store.NewEvent{Subject: "cap.x", ID: "d"})
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("an old version of the second: %v", err)
			}
			if head, err := s.Head(t.Context(), "job.2"); err != nil || head.Position != 0 {
				t.Errorf("the first was appended alone: %v, %v", head, err)
			}
			read := 0
			for e, err := range s.ReadAll(t.Context(), 0) {
				check(t, err)
				if e.Position != first[read] {
					t.Errorf("%d is at %d", e.Position, first[read])
				}
				read++
			}
			if read != 2 {
				t.Errorf("%d events", read)
			}
		})
	}
}

// Many claim jobs at once under one cap: each job is claimed once, and the cap has as many events.
func TestManyClaimAtOnce(t *testing.T) {
	const jobs, members = 12, 4
	c := newCluster(t, 3)
	won := make([]int, jobs)
	var mu sync.Mutex
	var all sync.WaitGroup
	for m := range members {
		s := c.open(t).(*Store)
		defer s.Close()
		all.Go(func() {
			for j := 0; j < jobs; {
				head, err := s.Head(t.Context(), "cap.all")
				if err == nil {
					_, err = s.AppendAll(t.Context(),
						store.NewEvent{Subject: fmt.Sprintf("job.%d", j), ID: fmt.Sprintf("%d-%d", j, m)},
						store.NewEvent{Subject: "cap.all", ID: fmt.Sprintf("cap-%d-%d", j, m), Expected: head.Position})
				}
				switch {
				case err == nil:
					mu.Lock()
					won[j]++
					mu.Unlock()
				case !errors.Is(err, store.ErrConflict):
					t.Error(err)
					return
				}
				if job, err := s.Head(t.Context(), fmt.Sprintf("job.%d", j)); err == nil && job.Position > 0 {
					j++
				}
			}
		})
	}
	all.Wait()
	for j, n := range won {
		if n != 1 {
			t.Errorf("job %d was claimed %d times", j, n)
		}
	}
	s := c.open(t)
	defer s.Close()
	if n := len(gather(t, s, "cap.all")); n != jobs {
		t.Errorf("the cap has %d events", n)
	}
}

func gather(t *testing.T, s store.Store, subject string) (all []store.Event) {
	t.Helper()
	for e, err := range s.Read(t.Context(), subject, 0) {
		check(t, err)
		all = append(all, e)
	}
	return all
}
