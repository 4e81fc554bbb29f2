package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/people"
	"github.com/stopgate/stopgate/internal/control/web"
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
	return messenger{n, d.Now, d.site.Load, func(err error) { d.core.trouble.set("push", err) }}
}

// messenger tells people what effects say.
type messenger struct {
	people *people.Notifier
	now    func() time.Time
	site   func() *web.Site
	// trouble is told how it went with browsers.
	trouble func(error)
}

// Held is how long the quiet hours of the owner's project last.
func (m messenger) Held(o *engine.Owner) time.Duration {
	return m.people.Held(o.Project, m.now().Local())
}

// Notify tells people what an effect says.
func (m messenger) Notify(ctx context.Context, o *engine.Owner, e engine.Effect) error {
	message := people.Message{Title: e.Title, Text: e.Text, Project: o.Project, Decision: e.Decision}
	if muted, err := m.people.Muted(o.Project); muted || err != nil {
		return m.people.Notify(ctx, message) // which sends nothing, or tells what is wrong
	}
	m.link(&message, o)
	var pushing sync.WaitGroup
	defer pushing.Wait()
	pushing.Go(func() { m.push(ctx, message) })
	return m.people.Notify(ctx, message)
}

// push tells browsers that asked for it about a decision.
func (m messenger) push(ctx context.Context, message people.Message) {
	site := m.site()
	if site == nil || message.Decision == "" {
		return
	}
	m.trouble(site.Push(ctx, message))
}

// link adds where the message can be answered, or else what it is about can be seen.
func (m messenger) link(message *people.Message, o *engine.Owner) {
	site := m.site()
	if site == nil {
		return
	}
	if o.Decision == nil || o.Decision.ID != message.Decision {
		message.Link = site.PageOf("/pipelines/" + o.ID)
		return
	}
	var options []string
	for _, option := range o.Decision.Options {
		options = append(options, option.Name)
	}
	links := site.LinksTo(o.Decision.ID, options, o.Decision.Expires)
	message.Link, message.Answers = links.Page, links.Answers
}
