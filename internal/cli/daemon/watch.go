package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// reconnectPatience is how long --watch waits for a daemon that is gone:
// it may be restarted just now.
const reconnectPatience = 15 * time.Second

// errGone says that the daemon ended during --watch.
var errGone = errors.New("the daemon has stopped")

// isLost reports whether the daemon was there and is no more: it ended, or was killed in
// the middle of an answer.
func isLost(err error) bool {
	return errors.Is(err, errGone) || errors.Is(err, daemonapi.ErrCut) || IsDown(err)
}

func gone() error {
	return term.CannotRun(errGone, "what it started keeps running; start it again with: stopgate daemon start")
}

// Watch shows something again each time the daemon has news of an owner, or with "" of
// any, until it is over or ctx is done: in place on a screen, else in lines of what is
// new. It asks the daemon only when there is news.
func (p *Daemon) Watch(ctx context.Context, owner string, look func(context.Context) (term.Glimpse, error)) error {
	v := term.NewViewer(p.out, p.asJSON)
	defer v.Close()

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
			v.Renew()
			fmt.Fprintf(p.errOut, "stopgate: the daemon has stopped; waiting up to %s for it to start again\n", plain.Duration(reconnectPatience))
		case lost.IsZero():
			return err
		}

		if time.Since(lost) > reconnectPatience {
			return gone()
		}
		_ = pause.For(ctx, 200*time.Millisecond) // the next look says why
	}
}

// attend watches as long as the daemon stays; then it returns errGone, whatever noticed it first.
func (p *Daemon) attend(ctx context.Context, owner string, look func(context.Context) (term.Glimpse, error), v *term.Viewer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// What happens between this and the first look is news, so that nothing is missed.
	status, err := p.Status(ctx)
	if err != nil {
		return err
	}
	news, ended := p.news(ctx, owner, status.Events)
	afar, stop := p.fromAfar(ctx)
	defer stop()
	err = v.Watch(
		func() (term.Glimpse, error) {
			seen, err := look(ctx)
			return steady{seen}, err
		},
		func(seen term.Glimpse) error { return awaitNews(ctx, v, seen, news, afar, ended) },
	)
	if isLost(err) {
		return errGone
	}
	return err
}

// news tells when there is some of an owner, or with "" of any, and why there will be no more:
// errGone where the daemon ended the stream.
func (p *Daemon) news(ctx context.Context, owner string, after uint64) (<-chan struct{}, <-chan error) {
	news, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		for _, err := range p.Events(ctx, owner, after) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case news <- struct{}{}:
			default: // it is going to be looked at anyway
			}
		}
		ended <- errGone
	}()
	return news, ended
}

// awaitNews draws what was seen again and again, until there is news, or it is time to look at other machines. On a
// screen news is shown at most once a frame.
func awaitNews(ctx context.Context, v *term.Viewer, seen term.Glimpse, news <-chan struct{}, afar <-chan time.Time, ended <-chan error) error {
	fresh := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case <-afar:
			return nil
		case <-news:
			if v.Frame == nil {
				return nil
			}
			fresh = true
		case <-v.Frame:
			if fresh {
				return nil
			}
			if err := v.Show(seen); err != nil {
				return err
			}
		}
	}
}
