package plane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// reconnectPatience is how long somebody who watches waits for a daemon that is gone:
// it may be restarted just now.
const reconnectPatience = 15 * time.Second

// errGone says that the daemon ended while somebody watched.
var errGone = errors.New("the daemon has ended meanwhile")

// isLost reports whether the daemon was there and is no more: it ended, or was killed in
// the middle of an answer.
func isLost(err error) bool {
	return errors.Is(err, errGone) || errors.Is(err, client.ErrCut) || IsDown(err)
}

func gone() error {
	return term.WithCode(term.WithHint(errGone, "what it started goes on; start it again with: stopgate daemon start"), term.ExitCouldNotRun)
}

// watch shows something again each time the daemon has news of an owner, or with "" of
// any, until it is over or ctx is done: in place on a screen, else in lines of what is
// new. It asks the daemon only when there is news.
func (p *Plane) Watch(ctx context.Context, owner string, asJSON bool, look func(context.Context) (term.Glimpse, error)) error {
	v := newViewer(p, asJSON)
	defer v.close()
	lost := time.Time{}
	for {
		err := p.attend(ctx, owner, look, v)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return term.WithCode(nil, term.ExitInterrupted)
		case !isLost(err):
			return err
		case !IsDown(err):
			lost = time.Now() // it was there until now
			v.renew()
			fmt.Fprintf(p.errOut, "stopgate: the daemon has ended; waiting %s for it to run again\n", term.Brief(reconnectPatience))
		case lost.IsZero():
			return err
		}
		if time.Since(lost) > reconnectPatience {
			return gone()
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// attend watches as long as the daemon stays; then it returns errGone.
func (p *Plane) attend(ctx context.Context, owner string, look func(context.Context) (term.Glimpse, error), v *viewer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// What happens between this and the first look is news, so that nothing is missed.
	status, err := p.Status(ctx)
	if err != nil {
		return err
	}
	news, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		for _, err := range p.Events(ctx, owner, status.Events) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case news <- struct{}{}:
			default: // somebody is going to look anyway
			}
		}
		ended <- errGone
	}()
	for {
		seen, err := look(ctx)
		if err != nil {
			return err
		}
		if err := v.show(seen); err != nil || seen.Over() {
			return err
		}
		if err := v.until(ctx, seen, news, ended); err != nil {
			return err
		}
	}
}

// viewer shows glimpses, and moves what moves by itself on a screen.
type viewer struct {
	show  func(term.Glimpse) error
	close func()
	renew func() // has it drawn below what others print
	frame <-chan time.Time
}

func newViewer(p *Plane, asJSON bool) *viewer {
	v := &viewer{show: term.Teller(p.out), close: func() {}, renew: func() {}}
	switch file, ok := term.IsScreen(p.out); {
	case asJSON:
		v.show = term.JSONTeller(p.out)
	case ok:
		s := term.NewScreen(file)
		v.show = s.Drawer(term.PaintFor(p.out))
		v.renew = func() { s.Drawn = nil }
		tick := time.NewTicker(term.FrameTime)
		v.frame, v.close = tick.C, tick.Stop
	}
	return v
}

// until draws what was seen again and again, until there is news. On a screen news is
// shown at most once a frame.
func (v *viewer) until(ctx context.Context, seen term.Glimpse, news <-chan struct{}, ended <-chan error) error {
	fresh := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			if isLost(err) {
				return errGone
			}
			return err
		case <-news:
			if v.frame == nil {
				return nil
			}
			fresh = true
		case <-v.frame:
			if fresh {
				return nil
			}
			if err := v.show(seen); err != nil {
				return err
			}
		}
	}
}
