// Package api is the daemon's HTTP API: JSON over a unix socket, under /v1.
package api

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// Plane is the control plane behind the API. Its errors are *Error where the client is
// to see more than "internal".
type Plane interface {
	Version() daemonapi.Version
	Status(ctx context.Context) daemonapi.Status
	// Fleet is the fleet that this machine is in. It waits for no other machine.
	Fleet(ctx context.Context) daemonapi.Fleet
	Commands(ctx context.Context, project string) ([]daemonapi.Command, error)

	Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error)
	// Schedules are those of a project or, with "", of all whose schedules are on.
	Schedules(ctx context.Context, project string) ([]daemonapi.Schedule, error)
	SwitchSchedules(ctx context.Context, s daemonapi.ScheduleSwitch) ([]daemonapi.Schedule, error)
	// Work are the items of queues.
	Work(ctx context.Context, q *Query) (Page[daemonapi.WorkItem], error)
	WorkItem(ctx context.Context, id string) (daemonapi.WorkItem, error)
	AddWork(ctx context.Context, w daemonapi.AddWork) ([]daemonapi.WorkItem, error)
	RetryWork(ctx context.Context, id string) (daemonapi.WorkItem, error)
	DropWork(ctx context.Context, id string) (daemonapi.WorkItem, error)
	// Workers are those of a project or, with "", of all with some that were started.
	Workers(ctx context.Context, project string) ([]daemonapi.Worker, error)
	SwitchWorker(ctx context.Context, s daemonapi.WorkerSwitch) (daemonapi.Worker, error)
	// Owners are listed without steps and variables.
	Owners(ctx context.Context, q *Query) (Page[daemonapi.Owner], error)
	Owner(ctx context.Context, id string) (daemonapi.Owner, error)
	Cancel(ctx context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error)
	Resume(ctx context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error)
	// Log writes the owner's log, or what is asked for of it.
	Log(ctx context.Context, id string, q LogQuery, to io.Writer) error
	// Graph is the owner's steps, and what leads from one to another.
	Graph(ctx context.Context, id string) (daemonapi.Graph, error)
	// Picture is the graph as SVG.
	Picture(ctx context.Context, id string) ([]byte, error)

	// Agents are those that owners have now, with q.Past also those that they had.
	Agents(ctx context.Context, q *Query) (Page[daemonapi.Agent], error)
	Agent(ctx context.Context, id string) (daemonapi.Agent, error)
	// Conversation is some of what an agent was told, said and did.
	Conversation(ctx context.Context, agent string, r Range) (daemonapi.Conversation, error)
	// Screen is what an agent's terminal shows, with ansi in colour.
	Screen(ctx context.Context, agent string, ansi bool) (daemonapi.Screen, error)
	// Signal answers after the journal was ingested through the position.
	Signal(ctx context.Context, agent string, through journal.Position) (daemonapi.Signal, error)

	// Reply is what a person answered to what an agent asks, after the journal was ingested
	// through the position. It waits a while for an answer.
	Reply(ctx context.Context, agent, ref string, through journal.Position) (daemonapi.Reply, error)
	Send(ctx context.Context, agent string, s daemonapi.Send) (daemonapi.Agent, error)
	Kill(ctx context.Context, agent string, k daemonapi.Kill) (daemonapi.Agent, error)

	// Decisions are those that are open, with q.Past those that are settled.
	Decisions(ctx context.Context, q *Query) (Page[daemonapi.Decision], error)
	Decision(ctx context.Context, id string) (daemonapi.Decision, error)
	Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error)

	JobPlane

	// Events are those after a position, or Now, until the context ends.
	Events(ctx context.Context, q *Query, after uint64) iter.Seq2[daemonapi.Event, error]
	// History are the events before a position, the newest first. The next page is before the number
	// that is the ID of its place.
	History(ctx context.Context, q *Query, before uint64) (Page[daemonapi.Event], error)

	// Workspaces are those that are there, by their names.
	Workspaces(ctx context.Context, q *Query) (Page[daemonapi.KeptWorkspace], error)
	// RemoveWorkspace removes one that is not in use, unless work would be lost.
	RemoveWorkspace(ctx context.Context, r daemonapi.RemoveWorkspace) (daemonapi.KeptWorkspace, error)
	// SessionQueues are those that are not at their end, with q.Past also the last that is, of each.
	SessionQueues(ctx context.Context, q *Query) (Page[daemonapi.SessionQueue], error)
	Sessions(ctx context.Context, q *Query) (Page[daemonapi.Session], error)
	// Seen are the sessions that the web page shows.
	Seen(ctx context.Context, q *Query) (Page[daemonapi.Seen], error)
	// Gates are the stops that gates judged.
	Gates(ctx context.Context, q *Query) (Page[daemonapi.GateRun], error)

	// ControlUI turns the web page on or off, and makes links to it.
	ControlUI(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error)
	// Metrics answers a scrape by Prometheus.
	Metrics() http.Handler

	Backup(ctx context.Context, path string) error
	// Prune removes what has ended.
	Prune(ctx context.Context, p daemonapi.Prune) (daemonapi.Pruned, error)
	// Stop ends the daemon; with kill, what it started first. It ends also when the error
	// says that not all of that did.
	Stop(ctx context.Context, kill bool) error
}

// LogQuery says what is asked for of a log. The zero LogQuery asks for all that there is.
type LogQuery struct {
	Follow bool   // go on until the owner is at its end or the context ends
	Offset int64  // in bytes
	Limit  int64  // in bytes, before lines of other steps are left out; 0 is none
	Tail   int    // only so many lines at the end; 0 is for all
	Step   string // only its lines
	// Begin is called before anything is written, with where that begins and with the log's size.
	Begin func(offset, size int64)
}

// Range is a part of something that has places, such as bytes.
type Range struct {
	At     int64
	Before bool // it ends there, instead of beginning there; 0 is for the end of all
	Limit  int
}

// Now is the position after which there are only events that are still to come.
const Now = math.MaxUint64

// Error is a failure that the client is told of. Without a status it gets that of its
// code.
type Error = daemonapi.Error

// Refusal is a failure by its code. The hint is the command that helps; it may be empty.
func Refusal(code, text, hint string) *Error {
	return &Error{Status: StatusOf(code), Failure: daemonapi.Failure{Code: code, Error: text, Hint: hint}}
}

// Ambiguous is the refusal of a prefix that several ids have. Its hint lists them, a line each.
func Ambiguous(prefix string, lines []string) *Error {
	slices.Sort(lines)
	const most = 20
	count := len(lines)
	if count > most {
		lines = append(lines[:most], "…")
	}
	return Refusal("conflict", fmt.Sprintf("%s is ambiguous (%d matches)", prefix, count), strings.Join(lines, "\n"))
}
