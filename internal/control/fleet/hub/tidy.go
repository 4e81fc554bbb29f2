package hub

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

const (
	// tidyFirst and tidyEvery are when a hub looks for what is old.
	tidyFirst = time.Minute
	tidyEvery = time.Hour
	// leastKeep is for how long everything is kept, whatever a configuration says: members that were away for less
	// find what happened.
	leastKeep = 24 * time.Hour
)

// tidy trims the facts of jobs that ended long ago, until the context ends. The first hub does it: two of them would
// take snapshots one after the other, and trim what is new.
func (h *hub) tidy(ctx context.Context) {
	if h.id.Hub != 1 {
		return
	}
	for wait := tidyFirst; pause.For(ctx, wait) == nil; wait = tidyEvery {
		if err := h.tidyOnce(ctx); err != nil && !errors.Is(err, context.Canceled) {
			h.Log.Warn("cannot trim the fleet's jobs; it is tried again in an hour", "error", err)
		}
	}
}

func (h *hub) tidyOnce(ctx context.Context) error {
	log := h.state.open()
	if log == nil {
		return nil // the hub says why
	}
	t, err := board.Tidy(ctx, log, keep(), member.HubName(h.id.Hub), h.Now, h.Log)
	if t.Events > 0 {
		h.Log.Info("trimmed the facts of jobs that ended long ago", "events", t.Events, "to", t.To)
	}
	return err
}

// keep is how long jobs are kept that have ended: as long as pipelines here.
func keep() time.Duration {
	path, err := paths.GlobalConfig()
	if err != nil {
		return leastKeep // without a home there is no configuration
	}
	global, _ := config.LoadGlobal(path) // what it cannot read is at its default
	return max(global.Retention.Keep, leastKeep)
}
