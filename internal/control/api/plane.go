// Package api is the daemon's HTTP API: JSON over a unix socket, under /v1.
package api

import (
	"context"
	"io"
	"iter"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// Plane is the control plane behind the API. Its errors are *Error where the client is
// to see more than "internal".
type Plane interface {
	Version() daemonapi.Version
	Status(ctx context.Context) daemonapi.Status
	Commands(ctx context.Context, project string) ([]daemonapi.Command, error)

	Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error)
	// Schedules are those of a project or, with "", of all whose schedules are on.
	Schedules(ctx context.Context, project string) ([]daemonapi.Schedule, error)
	SwitchSchedules(ctx context.Context, s daemonapi.ScheduleSwitch) ([]daemonapi.Schedule, error)
	// Work are the items of a project's queue; "" is all projects, or all queues.
	Work(ctx context.Context, project, queue string) []daemonapi.WorkItem
	WorkItem(ctx context.Context, id string) (daemonapi.WorkItem, error)
	AddWork(ctx context.Context, w daemonapi.AddWork) ([]daemonapi.WorkItem, error)
	RetryWork(ctx context.Context, id string) (daemonapi.WorkItem, error)
	DropWork(ctx context.Context, id string) (daemonapi.WorkItem, error)
	// Workers are those of a project or, with "", of all with some that were started.
	Workers(ctx context.Context, project string) ([]daemonapi.Worker, error)
	SwitchWorker(ctx context.Context, s daemonapi.WorkerSwitch) (daemonapi.Worker, error)
	Owners(ctx context.Context) []daemonapi.Owner // without steps and variables, the newest first
	Owner(ctx context.Context, id string) (daemonapi.Owner, error)
	Cancel(ctx context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error)
	Resume(ctx context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error)
	// Log writes the owner's log; with follow it goes on until the owner is at its end
	// or the context ends.
	Log(ctx context.Context, id string, follow bool, to io.Writer) error

	Agents(ctx context.Context) []daemonapi.Agent
	Agent(ctx context.Context, id string) (daemonapi.Agent, error)
	// Signal answers after the journal was ingested through the position.
	Signal(ctx context.Context, agent string, through journal.Position) (daemonapi.Signal, error)

	// Reply is what a person answered to what an agent asks, after the journal was ingested
	// through the position. It waits a while for an answer.
	Reply(ctx context.Context, agent, ref string, through journal.Position) (daemonapi.Reply, error)
	Send(ctx context.Context, agent string, s daemonapi.Send) (daemonapi.Agent, error)
	Kill(ctx context.Context, agent string, k daemonapi.Kill) (daemonapi.Agent, error)

	Decisions(ctx context.Context, settled bool) []daemonapi.Decision
	Decision(ctx context.Context, id string) (daemonapi.Decision, error)
	Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error)

	// Events are those after a position, of one owner or, with "", of all, until the
	// context ends.
	Events(ctx context.Context, owner string, after uint64) iter.Seq2[daemonapi.Event, error]

	Backup(ctx context.Context, path string) error
	// Prune removes what has ended.
	Prune(ctx context.Context, p daemonapi.Prune) (daemonapi.Pruned, error)
	// Stop ends the daemon; with kill, what it started first. It ends also when the error
	// says that not all of that did.
	Stop(ctx context.Context, kill bool) error
}

// Error is a failure that the client is told of. Without a status it gets that of its
// code.
type Error = daemonapi.Error
