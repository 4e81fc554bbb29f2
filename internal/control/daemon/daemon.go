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
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/agent"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/workspace"
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

	// DespiteDamage says that a person wants it to start without what is damaged.
	DespiteDamage bool

	// OpenStore opens the store at a path.
	OpenStore func(ctx context.Context, path string) (store.Store, error)

	// logLimit is how much of a log a command may fill. Run sets it.
	logLimit func() int64

	// What the effects act on; nil for errands, clients and the ways of the configuration.
	Shells   effect.Shells
	Agents   effect.Agents
	Notifier effect.Notifier
	// Workspaces are those in the state directory where it is nil.
	Workspaces effect.Workspaces

	// Ended reports whether it is sure that an agent's process has ended. Without it nobody
	// knows before they wait for it.
	Ended func(agent string) bool
	// Look is what the terminal of an agent's client shows: trust, login, api_key,
	// onboarding, dialog or nothing special, and its text. Without it nobody looks.
	Look func(ctx context.Context, agent string) (screen, text string, err error)

	// Capture is that terminal's whole screen, with escape sequences.
	Capture func(ctx context.Context, agent string) (string, error)
}

// errands are how commands and agents are run.
func (o Options) errands() effect.Errands {
	return effect.Errands{
		StateDir: o.StateDir, Program: o.Stopgate, Environ: o.Environ,
		Log:      func(owner string) string { return logPath(o.StateDir, owner) },
		LogLimit: o.logLimit,
	}
}

// terminals are how those agents are run that are Claude Code.
func (o Options) terminals() agent.Terminals {
	return agent.Terminals{
		Errands: o.errands(), Config: o.Config, Now: o.Now,
		Log: func(format string, args ...any) { o.Log.Warn(fmt.Sprintf(format, args...)) },
	}
}

// complete fills in what was left open.
func (o Options) complete() Options {
	if o.Shells == nil {
		o.Shells = o.errands().Shells()
	}
	if o.Agents == nil {
		o.Agents = o.errands().Route(o.terminals(), o.errands().Agents())
		o.Ended = func(agent string) bool {
			dir, err := o.errands().Dir(agent)
			return err == nil && !errand.Runs(dir)
		}
		o.Look = func(ctx context.Context, agent string) (screen, text string, err error) {
			s, err := o.terminals().Look(ctx, agent)
			return s.Kind, s.Text, err
		}
		o.Capture = o.terminals().Capture
	}
	if o.Workspaces == nil {
		o.Workspaces = workspace.New(o.StateDir, o.Environ)
	}
	return o
}

// configDir is where an agent's client keeps its settings and its transcripts; empty where
// nobody can tell.
func (o Options) configDir(a engine.AgentStart) string {
	env, err := o.errands().AgentEnv(a)
	if err != nil {
		return ""
	}
	return agent.ConfigDir(a.Run, a.Cwd, env)
}

func (o Options) database() string   { return filepath.Join(o.StateDir, "stopgate.db") }
func (o Options) socket() string     { return filepath.Join(o.StateDir, "daemon.sock") }
func (o Options) journalDir() string { return filepath.Join(o.StateDir, "journal") }
