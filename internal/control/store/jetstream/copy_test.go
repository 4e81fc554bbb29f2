package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/store"
	sleep "github.com/stopgate/stopgate/internal/sys/pause"
)

// A bit that was flipped on one server's disk is found there, also while another one leads.
func TestIssue20EachCopyIsChecked(t *testing.T) {
	c := newCluster(t, 3)
	s := c.open(t)
	at := store.Position(0)
	for n := range 20 {
		var err error
		at, err = s.Append(t.Context(), store.NewEvent{Subject: "job.1", ID: fmt.Sprint(n), Expected: at, Data: fmt.Appendf(nil, "event-%02d", n)})
		check(t, err)
	}
	check(t, s.Close())
	servers := []string{"s0", "s1", "s2"}
	damaged := func() (all map[string]error) {
		js, err := jetstream.New(c.connect(t))
		check(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range sleep.Doubling(ctx, 50*time.Millisecond, time.Second) {
			all, err = CheckCopies(ctx, js, c.name, servers)
			if err == nil && !slices.ContainsFunc(servers, func(s string) bool { return all[s] != nil && !errors.Is(all[s], store.ErrDamaged) }) {
				break // all servers have caught up
			}
		}
		check(t, err)
		return all
	}
	if all := damaged(); len(all) > 0 {
		t.Errorf("before: %v", all)
	}

	c.damage(t, 1, "event-07")
	c.start(t)
	check(t, c.open(t).Close()) // once there is a leader
	if all := damaged(); len(all) != 1 || !errors.Is(all["s1"], store.ErrDamaged) || !strings.Contains(all["s1"].Error(), "cannot read 1 message of SG_test") {
		t.Errorf("after: %v", all)
	}
}
