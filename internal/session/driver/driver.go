// Package driver sees to the interactive clients in tmux: by their hooks it moves
// queues on, types what is next, and wakes the agents that look after them.
package driver

import (
	"time"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// Driver sees to the sessions of one person.
type Driver struct {
	StateDir  string
	ConfigDir string // of the registry and of prompts
	Environ   []string
	Now       func() time.Time
	// Drive starts a process that delivers the session's active command, as soon as
	// this one has ended. Send starts one that empties the outbox, and StartWatch one that
	// watches over the queues. The driver waits for none of them.
	Drive      func(session string) error
	Send       func() error
	StartWatch func() error
	// Watcher is the command line of what StartWatch starts; empty: tmux starts none.
	Watcher []string
	Log     func(format string, args ...any)
	// Screen is how a client's screen is read, where a person has words of their own
	// for that.
	Screen config.Terminal
	// Pace is how long things take; zero means as measured.
	Pace Pace
}

func (d *Driver) queues() queue.Store { return queue.NewStore(d.StateDir) }
func (d *Driver) book() presence.Book { return presence.NewBook(d.StateDir) }
func (d *Driver) outbox() wake.Outbox { return wake.NewOutbox(d.StateDir) }

// registry reads the registry at every call. What is wrong with it does not keep the
// entries that are fine from being used.
func (d *Driver) registry() *registry.Registry {
	reg, err := registry.Load(registry.Path(d.ConfigDir))
	if err != nil {
		d.Log("%v", err)
	}
	return reg
}

func (d *Driver) patterns() (terminal.Patterns, error) {
	return terminal.NewPatterns(d.Screen.Prompt, d.Screen.Dialog)
}

// placeOf is where a queue finds a pane again.
func placeOf(p terminal.Pane) queue.Place {
	return queue.Place{Socket: p.Server.Socket, PID: p.PID, Pane: p.ID}
}

// paneAt is the pane at a place.
func (d *Driver) paneAt(p queue.Place) terminal.Pane {
	return terminal.Pane{Server: terminal.Server{Socket: p.Socket, Environ: d.Environ}, PID: p.PID, ID: p.Pane}
}
