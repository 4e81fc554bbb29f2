package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agents/client"
)

// reconnectPatience is how long somebody who watches waits for a daemon that is gone:
// it may be restarted just now.
const reconnectPatience = 15 * time.Second

// errGone says that the daemon ended while somebody watched.
var errGone = errors.New("the daemon has ended meanwhile")

// isLost reports whether the daemon was there and is no more: it ended, or was killed in
// the middle of an answer.
func isLost(err error) bool {
	return errors.Is(err, errGone) || errors.Is(err, client.ErrCut) || isDown(err)
}

func gone() error {
	return withCode(withHint(errGone, "what it started goes on; start it again with: stopgate daemon start"), exitCouldNotRun)
}

// watch shows something again each time the daemon has news of an owner, or with "" of
// any, until it is over or ctx is done: in place on a screen, else in lines of what is
// new. It asks the daemon only when there is news.
func (p *plane) watch(ctx context.Context, owner string, asJSON bool, look func(context.Context) (glimpse, error)) error {
	v := newViewer(p, asJSON)
	defer v.close()
	lost := time.Time{}
	for {
		err := p.attend(ctx, owner, look, v)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return withCode(nil, exitInterrupted)
		case !isLost(err):
			return err
		case !isDown(err):
			lost = time.Now() // it was there until now
			v.renew()
			fmt.Fprintf(p.errOut, "stopgate: the daemon has ended; waiting %s for it to run again\n", brief(reconnectPatience))
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
func (p *plane) attend(ctx context.Context, owner string, look func(context.Context) (glimpse, error), v *viewer) error {
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
		if err := v.show(seen); err != nil || seen.over() {
			return err
		}
		if err := v.until(ctx, seen, news, ended); err != nil {
			return err
		}
	}
}

// viewer shows glimpses, and moves what moves by itself on a screen.
type viewer struct {
	show  func(glimpse) error
	close func()
	renew func() // has it drawn below what others print
	frame <-chan time.Time
}

func newViewer(p *plane, asJSON bool) *viewer {
	v := &viewer{show: teller(p.out), close: func() {}, renew: func() {}}
	switch file, ok := isScreen(p.out); {
	case asJSON:
		v.show = jsonTeller(p.out)
	case ok:
		s := newScreen(file)
		v.show = s.drawer(paintFor(p.out))
		v.renew = func() { s.drawn = nil }
		tick := time.NewTicker(frameTime)
		v.frame, v.close = tick.C, tick.Stop
	}
	return v
}

// until draws what was seen again and again, until there is news. On a screen news is
// shown at most once a frame.
func (v *viewer) until(ctx context.Context, seen glimpse, news <-chan struct{}, ended <-chan error) error {
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
