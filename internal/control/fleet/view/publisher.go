package view

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

const (
	// together is how long changes are collected: of one owner only the newest counts.
	together = 200 * time.Millisecond
	// between is the least time between two messages, which bounds what a member costs the servers.
	between = 10 * time.Millisecond
	// refresh is how often everything is compared: what ended a day ago goes without having changed.
	refresh = 10 * time.Minute
	// gone is how long the servers keep the word that a view was removed.
	gone = 24 * time.Hour
)

// Source is what this machine shows of itself.
type Source interface {
	// Shown are all owners that others see: those that are live, and those that ended lately.
	Shown(ctx context.Context) ([]daemonapi.Owner, error)
	// Show is one of them as it is now. Without shown it is not, or not any more.
	Show(ctx context.Context, id string) (o daemonapi.Owner, shown bool, err error)
	// Words reports whether all members may see what owners say.
	Words() bool
}

// Publisher publishes the views of this machine. What the servers hold of it follows what the machine shows:
// a change is published when it comes, and after each reading from the beginning everything is compared.
type Publisher struct {
	source Source

	mu      sync.Mutex
	changed map[string]bool // owners that may have another view now
	all     bool            // everything is to be compared
	caught  bool            // held is what the servers have
	held    map[string]held // by owner
	wake    chan struct{}   // there is something to do
	words   bool            // the last views had words
}

// held is a view that the servers have.
type held struct {
	sequence uint64
	sum      [sha256.Size]byte
	empty    bool
}

// NewPublisher has published nothing yet.
func NewPublisher(s Source) *Publisher {
	return &Publisher{source: s, changed: map[string]bool{}, held: map[string]held{}, wake: make(chan struct{}, 1)}
}

// Changed says that an owner has changed. It does not block, and costs nothing while there is no link.
func (p *Publisher) Changed(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.caught { // everything is compared anyway when there is a link
		return
	}
	p.changed[id] = true
	p.nudge()
}

func (p *Publisher) nudge() {
	nudge.Reader(p.wake)
}

// Begin is called before what the servers have is read from the beginning.
func (p *Publisher) Begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.caught, p.held = false, map[string]held{}
	clear(p.changed)
}

// Take takes a view of this machine that the servers have.
func (p *Publisher) Take(id string, m link.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold(id, m.Sequence, m.Data)
}

func (p *Publisher) hold(id string, sequence uint64, text []byte) {
	if sequence >= p.held[id].sequence {
		p.held[id] = held{sequence, sha256.Sum256(text), len(text) == 0}
	}
}

// Caught is called when all of that was read.
func (p *Publisher) Caught() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.caught, p.all = true, true
	p.nudge()
}

// Run publishes until the context ends. tell is called with what became of each round.
func (p *Publisher) Run(ctx context.Context, l *link.Link, tell func(error)) {
	again := time.NewTicker(refresh)
	defer again.Stop()

	for {
		select {
		case <-p.wake:
		case <-again.C:
			p.mu.Lock()
			p.all = true
			p.mu.Unlock()
		case <-ctx.Done():
			return
		}

		if pause.For(ctx, together) != nil {
			return
		}
		err := p.round(ctx, l)
		if ctx.Err() != nil {
			return
		}
		tell(err)
		if err != nil && pause.For(ctx, time.Second) == nil {
			p.nudge()
		}
	}
}

// round publishes what has changed. What it could not publish stays to be done.
func (p *Publisher) round(ctx context.Context, l *link.Link) error {
	p.mu.Lock()
	caught, all, words := p.caught, p.all, p.source.Words()
	ids := slices.Sorted(maps.Keys(p.changed))
	if words != p.words {
		all, p.words = true, words
	}
	if caught {
		p.all = false
		clear(p.changed)
	}
	p.mu.Unlock()

	switch {
	case !caught:
		return nil // Caught comes, and compares everything
	case all:
		if err := p.compare(ctx, l, words); err != nil {
			p.mu.Lock()
			p.all = true
			p.mu.Unlock()
			return err
		}
		return nil
	}

	for i, id := range ids {
		if err := p.renew(ctx, l, id, words); err != nil {
			p.mu.Lock()
			for _, id := range ids[i:] {
				p.changed[id] = true
			}
			p.mu.Unlock()
			return err
		}
	}
	return nil
}

// compare publishes everything that the servers have not, and removes what they have too much.
func (p *Publisher) compare(ctx context.Context, l *link.Link, words bool) error {
	shown, err := p.source.Shown(ctx)
	if err != nil {
		return err
	}

	is := map[string]bool{}
	for _, o := range shown {
		is[o.ID] = true
		text, err := Encode(o, words)
		if err == nil {
			err = p.publish(ctx, l, o.ID, text)
		}
		if err != nil {
			return err
		}
	}

	p.mu.Lock()
	var surplus []string
	for id, h := range p.held {
		switch {
		case is[id]:
		case h.empty: // it was removed, and that need not be remembered
			delete(p.held, id)
		default:
			surplus = append(surplus, id)
		}
	}
	p.mu.Unlock()

	slices.Sort(surplus)
	for _, id := range surplus {
		if err := p.publish(ctx, l, id, nil); err != nil {
			return err
		}
	}
	return nil
}

// renew publishes one view, or removes it.
func (p *Publisher) renew(ctx context.Context, l *link.Link, id string, words bool) error {
	o, shown, err := p.source.Show(ctx, id)
	if err != nil {
		return err
	}
	var text []byte
	if shown {
		if text, err = Encode(o, words); err != nil {
			return err
		}
	}
	return p.publish(ctx, l, id, text)
}

// publish publishes a text unless the servers have it. The word that a view was removed goes by itself after a
// while: a member that did not hear it by then reads everything from the beginning.
func (p *Publisher) publish(ctx context.Context, l *link.Link, id string, text []byte) error {
	p.mu.Lock()
	h, has := p.held[id]
	p.mu.Unlock()
	if has && h.sum == sha256.Sum256(text) || !has && len(text) == 0 {
		return nil
	}
	msg := &nats.Msg{Subject: l.View(l.Member, id), Data: bytes.Clone(text)}
	var opts []jetstream.PublishOpt
	if len(text) == 0 {
		opts = append(opts, jetstream.WithMsgTTL(gone))
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ack, err := l.JS.PublishMsg(ctx, msg, opts...)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.hold(id, ack.Sequence, text)
	p.mu.Unlock()
	return pause.For(context.WithoutCancel(ctx), between)
}
