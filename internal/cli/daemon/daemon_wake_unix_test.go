//go:build unix

package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// A daemon that is ending already is waited for. What it started nobody ended.
func TestHaltOfOneThatEnds(t *testing.T) {
	for _, kill := range []bool{false, true} {
		state := t.TempDir()
		p := &Daemon{Client: daemonapi.At(state), stateDir: state, out: io.Discard, errOut: io.Discard}
		if stopped, err := p.Halt(t.Context(), kill); stopped || err != nil {
			t.Errorf("kill %t, none: %t, %v", kill, stopped, err)
		}
		release, err := lockfile.Acquire(t.Context(), filepath.Join(state, "daemon.lock"), 0)
		check(t, err)
		synctest.Test(t, func(t *testing.T) {
			go func() {
				synctest.Wait() // it has seen the lock
				release()
			}()
			stopped, err := p.Halt(t.Context(), kill)
			var coded term.CodeError
			if !stopped || errors.As(err, &coded) != kill || kill && coded.Code != term.ExitCouldNotRun {
				t.Errorf("kill %t: %t, %v", kill, stopped, err)
			}
		})
	}
}

// A daemon has ended when another process answers, even if that one already holds the lock.
func TestAwaitEndOfOneThatWasReplaced(t *testing.T) {
	state := t.TempDir()
	release, err := lockfile.Acquire(t.Context(), filepath.Join(state, "daemon.lock"), 0)
	check(t, err)
	defer release()
	listener, err := net.Listen("unix", daemonapi.Socket(state))
	if err != nil {
		t.Fatal(err)
	}
	next := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"version":"v1","pid":2}`)
	})}
	go next.Serve(listener)
	defer next.Close()

	p := &Daemon{Client: daemonapi.At(state), stateDir: state, out: io.Discard, errOut: io.Discard}
	if err := p.awaitEnd(t.Context(), 1); err != nil {
		t.Errorf("the next daemon answers: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.awaitEnd(ended, 2); err == nil {
		t.Error("the daemon that was to end still answers, and counts as ended")
	}
}

// Who asked for everything to end is told what did not, or may not have.
func TestLeft(t *testing.T) {
	p := &Daemon{Client: daemonapi.At(t.TempDir())}
	refusal := &daemonapi.Error{Failure: daemonapi.Failure{Code: "conflict", Error: "1 command may go on"}}
	for _, test := range []struct {
		told error
		kill bool
		want string
	}{
		{nil, true, ""},
		{daemonapi.ErrCut, false, ""},
		{daemonapi.ErrCut, true, "the daemon stopped before it reported whether its commands and agents have ended"},
		{refusal, true, "1 command may go on"},
	} {
		err := p.left(test.told, test.kill)
		var coded term.CodeError
		if (err != nil) != (test.want != "") || err != nil && (!errors.As(err, &coded) || coded.Code != term.ExitCouldNotRun || err.Error() != test.want) {
			t.Errorf("%v, kill %t: %v", test.told, test.kill, err)
		}
	}
}

// A daemon that is killed while it is asked is waited for until it is gone, and then there is none.
func TestSettleAfterAKill(t *testing.T) {
	state := t.TempDir()
	release, err := lockfile.Acquire(t.Context(), filepath.Join(state, "daemon.lock"), 0)
	check(t, err)
	listener, err := net.Listen("unix", daemonapi.Socket(state))
	check(t, err)
	go func() {
		if c, err := listener.Accept(); err == nil {
			c.Close() // the answer is cut off
		}
		listener.Close()
		release()
	}()
	p := &Daemon{Client: daemonapi.At(state), stateDir: state}
	if running, _, err := p.settle(t.Context(), time.Minute); running != nil || err != nil {
		t.Errorf("%v, %v", running, err)
	}
}

func TestSettleGivesUp(t *testing.T) {
	state := t.TempDir()
	p := &Daemon{Client: daemonapi.At(state), stateDir: state}
	release, err := lockfile.Acquire(t.Context(), filepath.Join(state, "daemon.lock"), 0)
	check(t, err)
	defer release()
	running, was, err := p.settle(t.Context(), 20*time.Millisecond)
	var coded term.CodeError
	if running != nil || !was || !errors.As(err, &coded) || coded.Code != term.ExitCouldNotRun {
		t.Errorf("%v, %t, %v", running, was, err)
	}
}
