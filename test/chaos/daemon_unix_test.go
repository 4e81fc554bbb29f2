//go:build unix

package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// keeper keeps a daemon alive, and kills it.
type keeper struct {
	place
	client *daemonapi.Client
	rng    *rand.Rand
	acts   chan struct{} // an effect has just been started

	mu    sync.Mutex
	now   *life
	next  chan struct{} // closed when there is another life
	kills []kill
}

// life is one life of the daemon.
type life struct {
	cmd   *exec.Cmd
	ready chan struct{} // closed when it is
	ended chan struct{} // closed when it has
	err   error         // why it could not be ready, or how it ended
}

// kill is the end of a life.
type kill struct {
	at    time.Time
	ready bool
}

func newKeeper(p place, rng *rand.Rand) *keeper {
	return &keeper{
		place: p, rng: rng, client: daemonapi.New(filepath.Join(p.state, "daemon.sock"), "test"),
		acts: make(chan struct{}), next: make(chan struct{}),
	}
}

// start starts the next life.
func (k *keeper) start() (*life, error) {
	ear, mouth, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(k.bin, "stopgated"), "daemon")
	cmd.Env = append(k.env, "STOPGATED_READY_FD=3")
	cmd.ExtraFiles = []*os.File{mouth}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ear.Close(), mouth.Close())
	}
	l := &life{cmd: cmd, ready: make(chan struct{}), ended: make(chan struct{})}
	go l.live(ear)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = l
	close(k.next)
	k.next = make(chan struct{})
	return l, mouth.Close()
}

// live hears what the daemon says, and waits for its end.
func (l *life) live(ear io.ReadCloser) {
	defer close(l.ended)
	defer ear.Close()
	var word struct {
		Ready bool
		Error string
	}
	text, err := bufio.NewReader(ear).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &word)
	}
	switch {
	case err == nil && word.Ready:
		close(l.ready)
		err = nil
	case err == nil:
		err = fmt.Errorf("the daemon could not start: %s", word.Error)
	case err == io.EOF: // it was killed
		err = nil
	}
	l.err = errors.Join(err, l.cmd.Wait())
}

// killAll kills the daemon so often, at random moments, and starts it again at once.
func (k *keeper) killAll(ctx context.Context, times int) error {
	for range times {
		if err := k.killOnce(ctx); err != nil {
			return err
		}
		if _, err := k.start(); err != nil {
			return err
		}
	}
	return nil
}

const (
	// longestStart is about how long a daemon takes to be ready: some are killed before.
	longestStart = 60 * time.Millisecond
	longestLife  = 700 * time.Millisecond
)

// killOnce kills the daemon in its first moments, some time after it was ready, or when it
// carries out an effect.
func (k *keeper) killOnce(ctx context.Context) error {
	l := k.now
	how, delay, start := k.rng.IntN(4), k.upTo(longestLife), k.upTo(longestStart)
	if how == 0 {
		return k.killAt(ctx, l, time.After(start))
	}
	if err := l.awaitReady(ctx); err != nil {
		return err
	}
	if how == 1 {
		if err := k.awaitAct(ctx, delay); err != nil {
			return err
		}
		delay = 0
	}
	return k.killAt(ctx, l, time.After(delay))
}

func (k *keeper) upTo(longest time.Duration) time.Duration {
	return time.Duration(k.rng.Int64N(int64(longest)))
}

// awaitAct waits for a while, and then for the start of an effect, but not for ever.
func (k *keeper) awaitAct(ctx context.Context, delay time.Duration) error {
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-k.acts:
	case <-time.After(longestLife):
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (k *keeper) killAt(ctx context.Context, l *life, moment <-chan time.Time) error {
	select {
	case <-moment:
	case <-l.ended:
		return fmt.Errorf("the daemon ended by itself: %w", l.err)
	case <-ctx.Done():
		return ctx.Err()
	}
	now := kill{at: time.Now()}
	select {
	case <-l.ready:
		now.ready = true
	default:
	}
	if err := l.cmd.Process.Kill(); err != nil {
		return err
	}
	<-l.ended
	k.kills = append(k.kills, now)
	return nil
}

func (l *life) awaitReady(ctx context.Context) error {
	select {
	case <-l.ready:
		return nil
	case <-l.ended:
		return fmt.Errorf("the daemon ended before it was ready: %w", l.err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// alive waits for a daemon that is ready.
func (k *keeper) alive(ctx context.Context) (*life, error) {
	for {
		k.mu.Lock()
		l, next := k.now, k.next
		k.mu.Unlock()
		select {
		case <-l.ready:
			select {
			case <-l.ended:
			default:
				return l, nil
			}
		case <-l.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case <-l.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ask asks until the daemon has answered. Not to answer is only for one that is killed.
func (k *keeper) ask(ctx context.Context, ask func() error) error {
	for {
		l, err := k.alive(ctx)
		if err != nil {
			return err
		}
		err = ask()
		var answer *daemonapi.Error
		if err == nil || errors.As(err, &answer) {
			return err
		}
		if missing := l.awaitEnd(ctx); missing != nil {
			return fmt.Errorf("%w, and %w", err, missing)
		}
	}
}

// awaitEnd waits for the end of a daemon that has hung up.
func (l *life) awaitEnd(ctx context.Context) error {
	select {
	case <-l.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(3 * time.Minute):
		return errors.New("the daemon lives")
	}
}

// stop ends the last life in good order.
func (k *keeper) stop(ctx context.Context) error {
	l, err := k.alive(ctx)
	if err != nil {
		return err
	}
	if err := k.client.Stop(ctx, false); err != nil {
		return err
	}
	select {
	case <-l.ended:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end ends whatever life there is.
func (k *keeper) end() {
	k.mu.Lock()
	l := k.now
	k.mu.Unlock()
	if l != nil {
		_ = l.cmd.Process.Kill() // it may have ended
		<-l.ended
	}
}
