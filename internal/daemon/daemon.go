// Package daemon is the control plane at work: it reads the journal, decides with package
// engine, keeps what was decided in the store, has the effects carried out, and answers
// over its socket.
//
//	journal ─▶ ingest ─┐                        ┌─▶ effects ─┐
//	people ──▶ API ────┼─▶ core.do ─▶ store ─▶ state         │
//	clock ───▶ timers ─┘    ▲                   └─▶ timers   │
//	                        └────── started, done, exited ───┘
//
// It may be killed at any moment. What do has answered is in the store; what it has not
// is told again: the journal is read again from the last place on record, an effect's
// open start is found in its owner, and a person whose request got no answer sends it
// again under the same id.
package daemon

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/effect"
	"github.com/stopgate/stopgate/internal/store"
)

// Options are what a daemon needs to know.
type Options struct {
	StateDir string
	Config   string   // the path of the global configuration
	Environ  []string // of what it starts
	Version  string
	Stopgate string // the program that runs errands
	Log      *slog.Logger
	Now      func() time.Time

	// Ready is called once: when the daemon answers, or with why it cannot.
	Ready func(error)

	// OpenStore opens the store at a path.
	OpenStore func(ctx context.Context, path string) (store.Store, error)

	// What the effects act on; nil for errands and the person's own command.
	Shells   effect.Shells
	Agents   effect.Agents
	Notifier effect.Notifier
}

// errands are how commands and agents are run.
func (o Options) errands() effect.Errands {
	return effect.Errands{
		StateDir: o.StateDir, Program: o.Stopgate, Environ: o.Environ,
		Log: func(owner string) string { return logPath(o.StateDir, owner) },
	}
}

// complete fills in what was left open.
func (o Options) complete() Options {
	if o.Shells == nil {
		o.Shells = o.errands().Shells()
	}
	if o.Agents == nil {
		o.Agents = o.errands().Agents()
	}
	if o.Notifier == nil {
		o.Notifier = effect.Command{StateDir: o.StateDir, Environ: o.Environ, Command: func() string { return o.global().Notify.Command }}
	}
	return o
}

// global is the person's configuration as it is now. Of a file with faults that holds
// which is safe.
func (o Options) global() *config.Global {
	global, err := config.LoadGlobal(o.Config)
	if err != nil {
		o.Log.Warn("the global configuration has faults", "error", err)
	}
	return global
}

func (o Options) database() string   { return filepath.Join(o.StateDir, "stopgate.db") }
func (o Options) socket() string     { return filepath.Join(o.StateDir, "daemon.sock") }
func (o Options) journalDir() string { return filepath.Join(o.StateDir, "journal") }
