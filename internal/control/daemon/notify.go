package daemon

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/people"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// notifier is how people are told.
func (d *daemon) notifier() effect.Notifier {
	if d.Notifier != nil {
		return d.Notifier
	}
	getenv := func(name string) string { return environ.Get(d.Environ, name) }
	n := people.New(people.Options{
		Config: d.config.notify, StateDir: d.StateDir, Environ: d.Environ, Home: paths.Home(getenv),
		Desktop: people.Screen{Environ: d.Environ},
		Trouble: func(err error) {
			if err == nil {
				d.Log.Info("notifications work again")
			} else {
				d.Log.Error("some notifications cannot be sent", "error", err)
			}
			d.core.trouble.set("notify", err)
		},
	})
	n.Check()
	return messenger{n, d.Now}
}

// messenger tells people what effects say.
type messenger struct {
	people *people.Notifier
	now    func() time.Time
}

// Held is how long the quiet hours of the owner's project last.
func (m messenger) Held(o *engine.Owner) time.Duration {
	return m.people.Held(o.Project, m.now().Local())
}

// Notify tells people what an effect says.
func (m messenger) Notify(ctx context.Context, o *engine.Owner, e engine.Effect) error {
	return m.people.Notify(ctx, people.Message{Title: e.Title, Text: e.Text, Project: o.Project, Decision: e.Decision})
}
