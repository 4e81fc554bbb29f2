// Package web is the page that people look at in a browser: what the daemon knows, drawn on the server
// and kept current, and the answers to what agents ask.
//
// # How to add a page
//
// A page is one Go file and one template of the same name:
//
//   - gates.go has a function that reads what the page shows and returns it as a struct:
//
//     func readGates(r *Request) (any, error)
//
//   - templates/gates.html defines "main", which draws that struct. It is the part of the page that is
//     kept current: whenever the work or the journal changes, the page is read and drawn again on the
//     server, and browsers that show it are sent what came of it, if that is something new. Elements that
//     the browser must know again have an id.
//
//   - the table in pages.go names both, with the path and the place in the navigation.
//
// There is nothing else to do: sign-in, headers, live updates, errors and the tests that walk over all
// pages come with the table. Rules for what a page does:
//
//   - It is bounded: lists are read by Request.List, which has a limit and leads to the next page.
//   - Everything in it may have been written by an agent. Templates escape HTML; print texts of one line
//     with {{line .X}} and longer ones with {{words .X}}, which leave out control characters, and cut
//     what is long with {{clip 200 .X}}.
//   - Times are printed with {{age .T}} and {{clock .T}}: the browser keeps ages current by itself.
//   - It can be read without JavaScript. What changes something is a form with method="post" that has
//     {{csrf}} in it, and an entry in the table of actions in pages.go.
//   - No inline script or style: the browser would refuse both. Styles are in assets/page.css, behaviour
//     is in assets/page.js, which finds its elements by data- attributes.
//   - An empty list says what to do to fill it: {{template "empty" …}}.
package web

import (
	"context"
	"log/slog"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/gate/doctor"
)

// Plane is the control plane as the pages see it.
type Plane interface {
	api.Plane
	Machine
}

// Machine is what pages show of this machine alone.
type Machine interface {
	// Changes are channels that are closed when what the daemon works on has changed, and when more of
	// the journal was read. To miss nothing, take them before looking.
	Changes() (work, journal <-chan struct{})
	// Diff is what was changed in the working tree that a decision is about.
	Diff(ctx context.Context, decision string) (Diff, error)
	// Projects are the roots of those that pipelines ran in, those of the newest pipelines at least.
	Projects() []string
	// Workspaced are the projects that workspaces were made for, by the paths of those.
	Workspaced() map[string]string
	// Glance is what files tell of whether a project is enforced. Nothing is run for it.
	Glance(root string, now time.Time) doctor.Glance
	// SessionAgent is the agent of a pipeline or a run that is in a session, or was.
	SessionAgent(ctx context.Context, session string) (a daemonapi.Agent, found bool)
	// SessionConversation is some of what was said and done in a session, from its transcript. It is
	// empty where there is none.
	SessionConversation(ctx context.Context, session string, r api.Range) (daemonapi.Conversation, error)
	// SessionSpending is what a session had spent at some times, by its transcript, the oldest first.
	SessionSpending(ctx context.Context, session string) ([]Spent, error)
	// VerifyStore reads everything that the daemon's store holds.
	VerifyStore(ctx context.Context) (Soundness, error)
}

// Spent is what was spent up to a time.
type Spent struct {
	Time   time.Time
	USD    float64
	Tokens int64
}

// Options are what a site needs.
type Options struct {
	Plane    Plane
	StateDir string
	Version  string
	Log      *slog.Logger
	Now      func() time.Time
}
