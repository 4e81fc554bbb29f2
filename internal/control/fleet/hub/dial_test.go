package hub

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// said is a log that a test reads.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) has(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(s.text.String(), text) {
		return errors.New("the log is " + s.text.String())
	}
	return nil
}

// dial is a daemon's dialer for a machine.
func (f *fleet) dial(name string) (*member.Dialer, *said) {
	log := &said{}
	return &member.Dialer{StateDir: f.state(name), Log: slog.New(slog.NewTextHandler(log, nil))}, log
}

// A daemon waits until its machine is in a fleet, and its link ends when that leaves.
func TestDialWaitsForAFleetAndEndsWithIt(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	dialer, _ := f.dial("b")
	links := make(chan *link.Link)
	go func() {
		for {
			l, err := dialer.Dial(t.Context())
			if err != nil {
				close(links)
				return
			}
			links <- l
		}
	}()
	checktest.Succeeds(t, "it looks for a fleet", func() error {
		if !errors.Is(dialer.Trouble(), member.ErrNone) {
			return errors.New("it has not looked yet")
		}
		return nil
	})
	f.join("b")
	l := <-links
	if err := dialer.Trouble(); err != nil {
		t.Errorf("connected, and %v", err)
	}
	_, err := l.Log.Append(t.Context(), store.NewEvent{Subject: link.Job("1"), ID: "1"})
	check(t, err)
	check(t, member.Forget(f.state("b")))
	select {
	case <-l.Ended():
	case <-time.After(patience):
		t.Fatal("the link goes on without a fleet")
	}
}

// A hub that ends and comes back does not end the link; being taken out does.
func TestTheLinkOutlivesAHub(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	f.join("b")
	dialer, log := f.dial("b")
	l, err := dialer.Dial(t.Context())
	check(t, err)
	f.stop["a"]()
	checktest.Succeeds(t, "it is noticed that the hub is away", func() error {
		if dialer.Trouble() == nil {
			return errors.New("no trouble")
		}
		return log.has("the connection to the fleet is lost")
	})
	f.run("a")
	checktest.Succeeds(t, "the link is up again", func() error {
		_, err := l.Log.Barrier(t.Context())
		return err
	})
	f.usable("a")
	select {
	case <-l.Ended():
		t.Fatal("the link has ended with the hub")
	default:
	}

	nc, _ := f.connect("a")
	var answer member.LeaveAnswer
	check(t, member.Ask(t.Context(), nc, names.AskHub("hub-1", member.VerbLeave, "a"), member.LeaveRequest{Member: "b"}, &answer))
	select {
	case <-l.Ended():
	case <-time.After(patience):
		t.Fatal("the link goes on without being a member")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := dialer.Dial(ctx); ended <- err }()
	checktest.Succeeds(t, "it says why", func() error { return log.has("refuses this machine: b has left it or was taken out") })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Dial ends with %v", err)
	}
}

// What the hubs refuse is in the log: the request itself only ends with a timeout.
func TestRefusalsAreLogged(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	dialer, log := f.dial("a")
	l, err := dialer.Dial(t.Context())
	check(t, err)
	check(t, l.Conn.Publish(names.Beat("other"), nil))
	checktest.Succeeds(t, "it is logged", func() error { return log.has("the fleet refuses what this machine asks for") })
	check(t, log.has(names.Beat("other")))
}
