package member_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

// A machine that the hubs refuse leaves them alone, for longer each time: a try is a line in their logs. With another
// key it tries at once, and a connection makes it forget.
func TestIssue20ARefusedMachineLeavesTheHubsAlone(t *testing.T) {
	dir, quiet := t.TempDir(), slog.New(slog.DiscardHandler)
	founder, machine := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	check(t, hub.Found(founder, member.Identity{Fleet: "test", Name: "a", User: "anna", Hubs: []member.Hub{{Host: "127.0.0.1", Port: hubtest.Port(t)}}}, time.Now()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- hub.Run(ctx, hub.Options{StateDir: founder, Version: "test", Log: quiet, Now: time.Now})
	}()
	token, _, err := hub.Invite(t.Context(), founder, "anna", false, time.Now())
	check(t, err)
	checktest.Succeeds(t, "the machine joins", func() error { _, err := member.Join(t.Context(), machine, token, "b"); return err })

	d := &member.Dialer{StateDir: machine, Log: quiet}
	id, err := member.Load(founder)
	check(t, err)
	nc, err := member.Connect(t.Context(), founder, id)
	check(t, err)
	defer nc.Close()
	leave := func() {
		t.Helper()
		var answer member.LeaveAnswer
		check(t, member.Ask(t.Context(), nc, link.Names{Fleet: "test"}.AskHub("hub-1", member.VerbLeave, "a"), member.LeaveRequest{Member: "b"}, &answer))
		if answer.Error != "" {
			t.Fatal(answer.Error)
		}
	}
	refused := func() {
		t.Helper()
		if _, err := d.Try(t.Context()); !errors.Is(err, nats.ErrAuthorization) {
			t.Fatalf("it is not refused: %v", err)
		}
	}

	d.RefuseAs("an earlier key")
	l, err := d.Try(t.Context())
	check(t, err)
	if l.Conn.Close(); d.Refused() != 0 {
		t.Error("a connection does not make it forget")
	}
	leave()
	checktest.Succeeds(t, "the machine is refused", func() error { // the hub has closed its connections
		l, err := d.Try(t.Context())
		if err == nil {
			l.Conn.Close()
			return errors.New("it is not refused yet")
		}
		return nil
	})
	for want := member.LookEvery; d.Refused() < member.RefusedWait; want = min(2*want, member.RefusedWait) {
		if d.Refused() != want {
			t.Fatalf("it waits for %s, not %s", d.Refused(), want)
		}
		d.Waited()
		refused()
	}
	d.Waited()
	if refused(); d.Refused() != member.RefusedWait {
		t.Errorf("it waits for %s", d.Refused())
	}

	cancel()
	check(t, <-ended)
	refused() // it remembers: a hub that is not there refuses nothing
	d.RefuseAs("an earlier key")
	if _, err := d.Try(t.Context()); err == nil || errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("with another key it does not try: %v", err)
	}
}
