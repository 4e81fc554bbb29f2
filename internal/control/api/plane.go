// Package api is the daemon's HTTP API: JSON over a unix socket, under /v1.
package api

import (
	"context"
	"io"
	"iter"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// Plane is the control plane behind the API. Its errors are *Error where the client is
// to see more than "internal".
type Plane interface {
	Version() client.Version
	Status(ctx context.Context) client.Status
	Commands(ctx context.Context, project string) ([]client.Command, error)

	Start(ctx context.Context, s client.Start) (client.Owner, error)
	Owners(ctx context.Context) []client.Owner // without steps and variables, the newest first
	Owner(ctx context.Context, id string) (client.Owner, error)
	Cancel(ctx context.Context, id string, c client.Cancel) (client.Owner, error)
	Resume(ctx context.Context, id string, r client.Resume) (client.Owner, error)
	// Log writes the owner's log; with follow it goes on until the owner is at its end
	// or the context ends.
	Log(ctx context.Context, id string, follow bool, to io.Writer) error

	Agents(ctx context.Context) []client.Agent
	Agent(ctx context.Context, id string) (client.Agent, error)
	// Signal answers after the journal was ingested through the position.
	Signal(ctx context.Context, agent string, through journal.Position) (client.Signal, error)

	// Reply is what a person answered to what an agent asks, after the journal was ingested
	// through the position. It waits a while for an answer.
	Reply(ctx context.Context, agent, ref string, through journal.Position) (client.Reply, error)
	Send(ctx context.Context, agent string, s client.Send) (client.Agent, error)
	Kill(ctx context.Context, agent string, k client.Kill) (client.Agent, error)

	Decisions(ctx context.Context, settled bool) []client.Decision
	Decision(ctx context.Context, id string) (client.Decision, error)
	Answer(ctx context.Context, id string, a client.Answer) (client.Decision, error)

	// Events are those after a position, of one owner or, with "", of all, until the
	// context ends.
	Events(ctx context.Context, owner string, after uint64) iter.Seq2[client.Event, error]

	Backup(ctx context.Context, path string) error
	// Stop ends the daemon; with kill, what it started first. It ends also when the error
	// says that not all of that did.
	Stop(ctx context.Context, kill bool) error
}

// Error is a failure that the client is told of. Without a status it gets that of its
// code.
type Error = client.Error
