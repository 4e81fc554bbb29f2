package hub

import (
	"context"
	"log/slog"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process"
)

const (
	// keepEvery is how often a daemon looks whether its hub runs.
	keepEvery = 2 * time.Second
	// keepLongest is the pause between two starts of a hub that ends again and again.
	keepLongest = time.Minute
)

// Keeper keeps the hub of this machine running, where it has one.
type Keeper struct {
	StateDir string
	Program  func() (string, error) // stopgated
	Environ  []string
	Log      *slog.Logger
}

// Run starts the hub whenever it does not run, until the context ends. The hub goes on then.
func (k Keeper) Run(ctx context.Context) {
	wait := keepEvery
	for ctx.Err() == nil {
		started := k.look()
		if started {
			wait = min(2*wait, keepLongest)
		} else if Runs(k.StateDir) {
			wait = keepEvery
		}
		_ = pause.For(ctx, wait)
	}
}

// look starts the hub if it should run and does not.
func (k Keeper) look() (started bool) {
	id, err := member.Load(k.StateDir)
	if err != nil || id.Hub == 0 || Runs(k.StateDir) {
		return false
	}
	if err := k.Start(); err != nil {
		k.Log.Error("cannot start the hub", "error", err)
		return true
	}
	k.Log.Info("started the hub", "fleet", id.Fleet)
	return true
}

// Start starts the hub in the background. Where it runs already, the second one ends by itself.
func (k Keeper) Start() error {
	program, err := k.Program()
	if err != nil {
		return err
	}
	const place = "STOPGATE_STATE_DIR"
	env := append(environ.Without(k.Environ, func(name string) bool { return name == place }), place+"="+k.StateDir)
	return process.Detach([]string{program, "hub", "--background"}, env, nil)
}
