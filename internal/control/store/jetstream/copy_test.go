package jetstream

import (
	"context"
	"errors"
	"fmt"
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
	damaged := func() (all []string) {
		js, err := jetstream.New(c.connect(t))
		check(t, err)
		for _, server := range []string{"s0", "s1", "s2"} {
			if err := checkOnce(t, js, c.name, server); err != nil {
				all = append(all, err.Error())
			}
		}
		return all
	}
	if all := damaged(); len(all) > 0 {
		t.Errorf("before: %q", all)
	}

	c.damage(t, 1, "event-07")
	c.start(t)
	check(t, c.open(t).Close()) // once there is a leader
	if all := damaged(); len(all) != 1 || !strings.Contains(all[0], "s1 cannot read 1 of its messages") {
		t.Errorf("after: %q", all)
	}
}

// checkOnce checks a copy, once its server has caught up.
func checkOnce(t *testing.T, js jetstream.JetStream, stream, server string) (err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range sleep.Doubling(ctx, 50*time.Millisecond, time.Second) {
		if err = CheckCopy(ctx, js, stream, server); err == nil || errors.Is(err, store.ErrDamaged) {
			return err
		}
	}
	t.Fatal(err)
	return nil
}
