package member

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

const (
	// lookEvery is how often a daemon looks whether its machine has joined or left a fleet.
	lookEvery = 2 * time.Second
	// reconnectWait is how long a member waits between two rounds through the hubs.
	reconnectWait = time.Second
	// refusedWait is how long, at most, a machine that was refused leaves the hubs alone: it was taken out, and each try
	// is a line in their logs.
	refusedWait = 30 * time.Second
	// connectPatience is for one hub to answer, with TLS.
	connectPatience = 5 * time.Second
)

// Dialer connects a daemon to its fleet.
type Dialer struct {
	StateDir string
	Log      *slog.Logger

	mu      sync.Mutex
	trouble error

	refused refusal // the last one
}

// refusal is when hubs refused a machine, and as whom.
type refusal struct {
	key  string
	at   time.Time
	wait time.Duration // before the next try
	err  error
}

// again is another refusal: the pauses grow. A machine that has just joined may be refused by a hub that does
// not know yet.
func (r refusal) again(key string, err error) refusal {
	wait := lookEvery
	if r.key == key {
		wait = min(2*r.wait, refusedWait)
	}
	return refusal{key, time.Now(), wait, err}
}

// Trouble is why there is no connection; nil where there is one.
func (d *Dialer) Trouble() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.trouble
}

// Dial waits until this machine is in a fleet and one of its hubs answers, or the context ends. The link
// ends when the machine leaves the fleet; when the context ends, the caller closes it, and may say something before.
func (d *Dialer) Dial(ctx context.Context) (*link.Link, error) {
	for {
		l, err := d.try(ctx)
		if ctx.Err() != nil {
			if l != nil {
				l.Conn.Close()
			}
			return nil, ctx.Err()
		}
		d.note(err)
		if err == nil {
			return l, nil
		}
		if err := pause.For(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// note keeps what is wrong, and logs it when it changes: Dial tries again and again.
func (d *Dialer) note(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	same := d.trouble != nil && err != nil && d.trouble.Error() == err.Error()
	d.trouble = err
	if err != nil && !same && !errors.Is(err, ErrNone) {
		d.Log.Warn("no connection to the fleet", "error", err)
	}
}

func (d *Dialer) try(ctx context.Context) (*link.Link, error) {
	id, err := Load(d.StateDir)
	if err != nil {
		return nil, err
	}
	if d.refused.key == id.Key && time.Since(d.refused.at) < d.refused.wait {
		return nil, d.refused.err
	}
	nc, err := Connect(ctx, d.StateDir, id, d.options()...)
	if errors.Is(err, nats.ErrAuthorization) {
		d.refused = d.refused.again(id.Key, err)
	}
	if err != nil {
		return nil, err
	}
	d.refused = refusal{}
	l, err := link.Open(ctx, nc, id.Fleet, id.Name)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("%w%s", err, waitsForHubs(id))
	}
	d.Log.Info("connected to the fleet", "fleet", id.Fleet, "member", id.Name, "hub", nc.ConnectedAddr())
	go d.stay(ctx, id, l)
	return l, nil
}

// waitsForHubs says what may be missing where a fleet cannot be used yet.
func waitsForHubs(id Identity) string {
	if len(id.Hubs) < 2 {
		return ""
	}
	return "; its hubs may not all have joined yet: run stopgate fleet status"
}

// options are those of a connection that lasts: what comes up in it is logged.
func (d *Dialer) options() []nats.Option {
	return []nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(reconnectWait/2, reconnectWait/2),
		nats.ReconnectBufSize(-1), // what is said without a connection is not sent later
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				d.Log.Warn("the connection to the fleet is lost", "error", err)
			}
			d.set(errors.Join(errors.New("no hub answers"), err))
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			d.Log.Info("connected to the fleet again", "hub", nc.ConnectedAddr())
			d.set(nil)
		}),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) { d.logError(sub, err) }),
	}
}

func (d *Dialer) set(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble = err
}

// logError logs what the servers say besides answers. What they refuse has no answer: the request that was
// refused ends with a timeout.
func (d *Dialer) logError(sub *nats.Subscription, err error) {
	switch {
	case errors.Is(err, nats.ErrAuthorization): // the connection ends, and Dial says why there is none
	case errors.Is(err, nats.ErrPermissionViolation):
		d.Log.Error("the fleet refuses what this machine asks for: its stopgate and the hub's may be of different versions; run stopgate fleet doctor", "error", err)
	case sub != nil:
		d.Log.Warn("connection to the fleet", "subject", sub.Subject, "error", err)
	default:
		d.Log.Warn("connection to the fleet", "error", err)
	}
}

// stay ends the link when the machine is no longer the member that it was opened for, until the context ends.
func (d *Dialer) stay(ctx context.Context, was Identity, l *link.Link) {
	for {
		select {
		case <-l.Ended():
			return
		default:
		}
		if pause.For(ctx, lookEvery) != nil {
			return
		}
		now, err := Load(d.StateDir)
		if errors.Is(err, ErrNone) || err == nil && (now.Fleet != was.Fleet || now.Name != was.Name || now.Key != was.Key) {
			d.Log.Info("this machine has left the fleet", "fleet", was.Fleet)
			l.Conn.Close()
			return
		}
	}
}

// Connect connects to a hub as the member that this machine is. It tries each hub once.
func Connect(ctx context.Context, stateDir string, id Identity, more ...nats.Option) (*nats.Conn, error) {
	options, err := id.options(stateDir)
	if err != nil {
		return nil, err
	}
	nc, err := connect(ctx, id.URLs(), append(options, more...))
	if err != nil && ctx.Err() == nil && id.refusedByOne(ctx, options) {
		err = nats.ErrAuthorization
	}
	if err != nil {
		return nil, explain(id, err)
	}
	return nc, nil
}

// refusedByOne reports whether a hub refuses this machine. The client of NATS tells how the last of several
// hubs failed: one that is away hides that the others refuse.
func (id Identity) refusedByOne(ctx context.Context, options []nats.Option) bool {
	urls := id.URLs()
	if len(urls) == 1 {
		return false
	}
	refused := make([]bool, len(urls))
	var all sync.WaitGroup
	for i, url := range urls {
		all.Go(func() {
			nc, err := connect(ctx, []string{url}, append(slices.Clone(options), nats.NoReconnect(), nats.IgnoreDiscoveredServers()))
			if err == nil {
				nc.Close()
			}
			refused[i] = errors.Is(err, nats.ErrAuthorization)
		})
	}
	all.Wait()
	return slices.Contains(refused, true)
}

// ConnectTo is Connect for the hub of a number alone.
func ConnectTo(ctx context.Context, stateDir string, id Identity, number int, more ...nats.Option) (*nats.Conn, error) {
	hub := id.Hubs[number-1]
	id.Hubs, id.Hub = []Hub{hub}, 0
	return Connect(ctx, stateDir, id, append(more, nats.IgnoreDiscoveredServers())...)
}

// connect is nats.Connect that ends with the context.
func connect(ctx context.Context, urls []string, options []nats.Option) (*nats.Conn, error) {
	type result struct {
		nc  *nats.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		nc, err := nats.Connect(strings.Join(urls, ","), append(options, nats.Timeout(connectPatience), nats.DontRandomize())...)
		done <- result{nc, err}
	}()
	select {
	case r := <-done:
		return r.nc, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.nc != nil {
				r.nc.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// options are those of the member's identity.
func (id Identity) options(stateDir string) ([]nats.Option, error) {
	options := []nats.Option{nats.Name(id.Name), nats.CustomInboxPrefix(link.Inbox(id.Name))}
	if id.NATS != "" {
		auth, err := credentials(stateDir)
		return append(options, auth), err
	}
	pool, err := id.Pool()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(Dir(stateDir), seedFile)
	if _, err := readKey(path); err != nil {
		return nil, fmt.Errorf("the key of this machine: %w", err)
	}
	auth, err := nats.NkeyOptionFromSeed(path)
	return append(options, auth, nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})), err
}

// explain says what a failed connection means.
func explain(id Identity, err error) error {
	var unknown *tls.CertificateVerificationError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("the fleet %s refuses this machine: %s has left it or was taken out (%w)", id.Fleet, id.Name, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("the hub is not one of the fleet %s: %w", id.Fleet, err)
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("no hub of the fleet %s answers at %s: %w", id.Fleet, addresses(id), err)
	}
	return fmt.Errorf("connect to the fleet %s: %w", id.Fleet, err)
}

func addresses(id Identity) string {
	if id.NATS != "" {
		return id.NATS
	}
	all := make([]string, 0, len(id.Hubs))
	for _, hub := range id.Hubs {
		all = append(all, hub.Address())
	}
	return strings.Join(all, ", ")
}
