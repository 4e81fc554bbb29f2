package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/store"
	sleep "github.com/stopgate/stopgate/internal/sys/pause"
)

// A bit that was flipped on one server's disk is found there, also while another one leads.
func TestIssue20EachCopyIsChecked(t *testing.T) {
	c := newCluster(t, 3)
	s := c.open(t).(*Store)
	at := store.Position(0)
	for n := range 20 {
		var err error
		at, err = s.Append(t.Context(), store.NewEvent{Subject: "job.1", ID: fmt.Sprint(n), Expected: at, Data: fmt.Appendf(nil, "event-%02d", n)})
		check(t, err)
	}
	servers := []string{"s0", "s1", "s2"}
	damaged := func(s *Store) (all map[string]error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var err error
		for range sleep.Doubling(ctx, 50*time.Millisecond, time.Second) {
			all, err = s.CheckCopies(ctx, servers)
			if err == nil && !slices.ContainsFunc(servers, func(s string) bool { return all[s] != nil && !errors.Is(all[s], store.ErrDamaged) }) {
				break // all servers have caught up
			}
		}
		check(t, err)
		return all
	}
	if all := damaged(s); len(all) > 0 {
		t.Errorf("before: %v", all)
	}
	for end := time.Now().Add(time.Minute); ; { // a slow machine may need some tries
		began := time.Now()
		all, err := s.CheckCopies(t.Context(), servers)
		check(t, err)
		took := time.Since(began)
		if len(all) == 0 && took < stalled {
			break
		}
		if time.Now().After(end) {
			t.Errorf("reading sound copies took %s, as if something was missing: %v", took, all)
			break
		}
	}

	check(t, s.Close())
	c.damage(t, 1, "event-07")
	c.start(t)
	s = c.open(t).(*Store)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	busy.Go(func() { // a store in use
		for ctx.Err() == nil {
			if _, err := s.Barrier(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	all := damaged(s)
	cancel()
	busy.Wait()
	if len(all) != 1 || !errors.Is(all["s1"], store.ErrDamaged) || !strings.Contains(all["s1"].Error(), "cannot read 1 message of SG_test") {
		t.Errorf("after: %v", all)
	}
}
