package beat

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Heart publishes the beats of this machine.
type Heart struct {
	// Say is what the machine says about itself now. Life, Count, Boot and Slept are filled in.
	Say func() Beat

	life  string
	boot  string
	begun time.Time
	sleep sleepMeter

	sending sync.Mutex // held while a beat is sent: they leave in their order

	mu       sync.Mutex
	sleeping bool // the machine is about to be suspended
	stopped  bool // the daemon ends
	count    uint64
	acked    time.Duration // since begun; when a beat was acknowledged last
	ever     bool
}

// NewHeart is the heart of this life of a daemon.
func NewHeart(say func() Beat) *Heart {
	return &Heart{Say: say, life: daemonapi.NewID(), boot: process.BootID(), begun: time.Now()}
}

// Run beats until the context ends. The first beat comes at once. tell is called with what became of each.
func (h *Heart) Run(ctx context.Context, l *link.Link, tell func(error)) {
	for range pause.Every(ctx, Every) {
		err := h.beat(ctx, l)
		if ctx.Err() != nil {
			return
		}
		tell(err)
	}
}

// Sleep tells the others that the machine is about to be suspended, or has woken up.
func (h *Heart) Sleep(ctx context.Context, l *link.Link, sleeps bool) error {
	h.mu.Lock()
	h.sleeping = sleeps
	h.mu.Unlock()
	return h.beat(ctx, l)
}

// Stop tells the others that the daemon ends because it was told to. There is no beat after it.
func (h *Heart) Stop(ctx context.Context, l *link.Link) error {
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	return h.beat(ctx, l)
}

// beat publishes one beat. It is over when the next one is due: an old one is of no use.
func (h *Heart) beat(ctx context.Context, l *link.Link) error {
	h.sending.Lock()
	defer h.sending.Unlock()
	text, err := h.next().Encode()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Every)
	defer cancel()
	if _, err := l.JS.Publish(ctx, l.Beat(l.Member), text); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.acked, h.ever = time.Since(h.begun), true
	return nil
}

func (h *Heart) next() Beat {
	b := h.Say()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	b.Life, b.Count, b.Boot, b.Slept = h.life, h.count, h.boot, h.sleep.slept().Seconds()
	b.Sleeping, b.Stopped = h.sleeping, h.stopped
	return b
}

// Unheard is for how long no beat of ours was acknowledged: so long the others may take us for lost.
func (h *Heart) Unheard() (d time.Duration, ever bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.begun) - h.acked, h.ever
}
