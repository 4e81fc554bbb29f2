// Package fleet is a daemon's part in a fleet. Each machine decides about its own pipelines and agents; the
// fleet shows them to all, carries requests, and hands out jobs. Nothing local waits for it.
package fleet

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/project/config"
)

// Options are what a daemon gives to its part in the fleet.
type Options struct {
	StateDir string
	Version  string
	Plane    api.Plane    // what is this machine's own
	Handler  http.Handler // the API of Plane, for requests of others
	Config   func() *config.Global
	Log      *slog.Logger
	Now      func() time.Time
	// Dial connects to the fleet that this machine is in, and waits until it is in one.
	Dial func(ctx context.Context) (*link.Link, error)
}

// Fleet is one machine's part in its fleet.
type Fleet struct {
	Options

	mu   sync.Mutex
	link *link.Link // nil while there is none
}

// New is a machine's part in a fleet that it is or may come to be in.
func New(o Options) *Fleet { return &Fleet{Options: o} }

// Run is a member of the fleet until the context ends. It lasts also where there is no fleet yet.
func (f *Fleet) Run(ctx context.Context) {
	for ctx.Err() == nil {
		l, err := f.Dial(ctx)
		if err != nil {
			f.Log.Warn("no connection to the fleet", "error", err)
			continue
		}
		f.set(l)
		f.work(ctx, l)
		f.set(nil)
		_ = l.Close() // what it has is in the fleet
		l.Conn.Close()
	}
}

// work does everything that a member does, at once, until the link ends.
func (f *Fleet) work(ctx context.Context, l *link.Link) {
	select {
	case <-ctx.Done():
	case <-l.Ended():
	}
}

func (f *Fleet) set(l *link.Link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link = l
}
