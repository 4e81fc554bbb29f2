package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/effect"
	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/environ"
	"github.com/stopgate/stopgate/internal/notify/people"
)

// notifier is how people are told.
func (d *daemon) notifier() effect.Notifier {
	if d.Notifier != nil {
		return d.Notifier
	}
	ways := notifyConfig{path: d.Config}
	n := people.New(people.Options{
		Config: ways.load, StateDir: d.StateDir, Environ: d.Environ, Home: home(d.Environ),
		Desktop: people.Screen{Environ: d.Environ},
		Trouble: func(err error) {
			if err == nil {
				d.Log.Info("people are told again")
				d.core.trouble.over("notify")
				return
			}
			d.Log.Error("people are not told in every way", "error", err)
			d.core.trouble.is("notify", err.Error())
		},
	})
	n.Check()
	return messenger{n, d.Now}
}

// home is what ~ stands for.
func home(env []string) string {
	if dir := environ.Get(env, "HOME"); dir != "" {
		return dir
	}
	return environ.Get(env, "USERPROFILE")
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

// notifyConfig is how people are told by the global configuration. While that has faults,
// it is as it was without them: a slip of the pen is no reason to tell nobody.
type notifyConfig struct {
	path string

	mu   sync.Mutex
	last *config.Notify
}

func (c *notifyConfig) load() (config.Notify, error) {
	global, err := config.LoadGlobal(c.path)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.last = &global.Notify
	case c.last == nil:
		return config.Notify{}, err
	}
	return *c.last, nil
}
