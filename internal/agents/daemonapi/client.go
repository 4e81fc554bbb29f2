package daemonapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// VersionHeader tells each side the other's version, in requests and answers.
const VersionHeader = "Stopgate-Version"

// How long one waits for an answer where the context sets no earlier limit.
const (
	patience       = 30 * time.Second
	signalPatience = 2 * time.Second // a hook waits, and behind it a person
	lookAgain      = 50 * time.Millisecond
)

// Client asks the daemon behind a socket. It holds no connection and may be used by
// many at once.
type Client struct {
	socket  string
	version string
	other   atomic.Pointer[string] // version in the last answer
}

// Socket is where the daemon of a state directory listens.
func Socket(stateDir string) string { return filepath.Join(stateDir, "daemon.sock") }

// At is a client of this program's version for the daemon of a state directory.
func At(stateDir string) *Client { return New(Socket(stateDir), program.Version()) }

// New is a client of that version for the daemon behind that socket. It does not look
// whether there is one.
func New(socket, version string) *Client { return &Client{socket: socket, version: version} }

// Skew is the daemon's version where its last answer shows another one than ours, else
// "".
func (c *Client) Skew() string {
	if other := c.other.Load(); other != nil && *other != c.version {
		return *other
	}
	return ""
}

// MaxID is how long an id may be.
const MaxID = 64

// IsID reports whether a text can be an id of ours, or the beginning of one.
func IsID(s string) bool {
	return s != "" && len(s) <= MaxID && strings.Trim(s, "0123456789abcdef-") == ""
}

// IsOwnerID reports whether a text can be the id of a pipeline or a run: 16 hex digits.
func IsOwnerID(s string) bool { return len(s) == 16 && IsID(s) && !strings.Contains(s, "-") }

// NewID is an id for an owner or a request.
func NewID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Version asks who is there.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return get[Version](ctx, c, "/v1/version")
}

// Status asks how it is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c, "/v1/status")
}

// Commands are those of a project's runbooks.
func (c *Client) Commands(ctx context.Context, project string) ([]Command, error) {
	return get[[]Command](ctx, c, "/v1/commands"+query("project", project))
}

// Schedules are those of a project or, with "", of all projects whose schedules are on.
func (c *Client) Schedules(ctx context.Context, project string) ([]Schedule, error) {
	return get[[]Schedule](ctx, c, "/v1/schedules"+query("project", project))
}

// SwitchSchedules turns the schedules of a project on or off.
func (c *Client) SwitchSchedules(ctx context.Context, s ScheduleSwitch) ([]Schedule, error) {
	return post[[]Schedule](ctx, c, "/v1/schedules", s)
}

// Work are the items of a project's queue. Without a queue they are those of all; without a project, of all.
func (c *Client) Work(ctx context.Context, project, queue string) ([]WorkItem, error) {
	items, err := list[WorkItem](ctx, c, "/v1/work"+query("project", project, "queue", queue, "limit", strconv.Itoa(maxPage)), 0)
	slices.Reverse(items)
	return items, err
}

// WorkItem finds an item by its id or the beginning of it.
func (c *Client) WorkItem(ctx context.Context, id string) (WorkItem, error) {
	return get[WorkItem](ctx, c, workPath(id))
}

// AddWork puts items into a queue. An ID is made where there is none.
func (c *Client) AddWork(ctx context.Context, w AddWork) ([]WorkItem, error) {
	w.Items = slices.Clone(w.Items)
	for i := range w.Items {
		w.Items[i].ID = orNewID(w.Items[i].ID)
	}
	return post[[]WorkItem](ctx, c, "/v1/work", w)
}

// RetryWork lets an item be tried again.
func (c *Client) RetryWork(ctx context.Context, id string) (WorkItem, error) {
	return post[WorkItem](ctx, c, workPath(id)+"/retry", ChangeWork{})
}

// DropWork removes an item.
func (c *Client) DropWork(ctx context.Context, id string) (WorkItem, error) {
	return post[WorkItem](ctx, c, workPath(id)+"/drop", ChangeWork{})
}

func workPath(id string) string { return "/v1/work/" + url.PathEscape(id) }

// Workers are those of a project or, with "", of all with some that were started.
func (c *Client) Workers(ctx context.Context, project string) ([]Worker, error) {
	return get[[]Worker](ctx, c, "/v1/workers"+query("project", project))
}

// SwitchWorker starts or stops a worker.
func (c *Client) SwitchWorker(ctx context.Context, s WorkerSwitch) (Worker, error) {
	return post[Worker](ctx, c, "/v1/workers", s)
}

// Start runs a command. An ID is made where there is none.
func (c *Client) Start(ctx context.Context, s Start) (Owner, error) {
	s.ID = orNewID(s.ID)
	return post[Owner](ctx, c, "/v1/start", s)
}

// Pipelines are listed without their steps and variables, the newest first.
func (c *Client) Pipelines(ctx context.Context, f Filter) ([]Owner, error) {
	return list[Owner](ctx, c, "/v1/pipelines"+f.query(), f.Limit)
}

// Runs are the agents that run alone, the newest first.
func (c *Client) Runs(ctx context.Context, f Filter) ([]Owner, error) {
	return list[Owner](ctx, c, "/v1/runs"+f.query(), f.Limit)
}

// Owner finds a pipeline or a run by its id or the beginning of it.
func (c *Client) Owner(ctx context.Context, id string) (Owner, error) {
	return ofEither(id, func(path string) (Owner, error) { return get[Owner](ctx, c, path) })
}

// Cancel cancels a pipeline or a run. An ID is made where there is none.
func (c *Client) Cancel(ctx context.Context, id string, r Cancel) (Owner, error) {
	r.ID = orNewID(r.ID)
	return ofEither(id, func(path string) (Owner, error) { return post[Owner](ctx, c, path+"/cancel", r) })
}

// Resume has a pipeline or a run go on. An ID is made where there is none.
func (c *Client) Resume(ctx context.Context, id string, r Resume) (Owner, error) {
	r.ID = orNewID(r.ID)
	return ofEither(id, func(path string) (Owner, error) { return post[Owner](ctx, c, path+"/resume", r) })
}

// ofEither asks for a pipeline, and where there is none of that id for a run: people do
// not think of which it is.
func ofEither(id string, ask func(path string) (Owner, error)) (Owner, error) {
	owner, err := ask("/v1/pipelines/" + url.PathEscape(id))
	if Code(err) == "not_found" {
		return ask("/v1/runs/" + url.PathEscape(id))
	}
	return owner, err
}

func agentPath(id string) string { return "/v1/agents/" + url.PathEscape(id) }

// Agents are those that owners have now.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) { return c.SomeAgents(ctx, Filter{}) }

// SomeAgents are those of Agents that a filter lets through.
func (c *Client) SomeAgents(ctx context.Context, f Filter) ([]Agent, error) {
	return list[Agent](ctx, c, "/v1/agents"+f.query(), f.Limit)
}

// Agent finds an agent by its id.
func (c *Client) Agent(ctx context.Context, id string) (Agent, error) {
	return get[Agent](ctx, c, agentPath(id))
}

// Send writes to an agent. An ID is made where there is none.
func (c *Client) Send(ctx context.Context, agent string, s Send) (Agent, error) {
	s.ID = orNewID(s.ID)
	return post[Agent](ctx, c, agentPath(agent)+"/send", s)
}

// Kill ends an agent's process; what follows is its owner's on_dead. An ID is made where
// there is none.
func (c *Client) Kill(ctx context.Context, agent string, k Kill) (Agent, error) {
	k.ID = orNewID(k.ID)
	return post[Agent](ctx, c, agentPath(agent)+"/kill", k)
}

// Signal asks whether an agent may stop because of its signal, after the daemon has read
// the journal through a position. It waits two seconds at most, for the daemon as well: one
// that is being restarted is back by then.
func (c *Client) Signal(ctx context.Context, agent string, through journal.Position) (Signal, error) {
	ctx, cancel := context.WithTimeout(ctx, signalPatience)
	defer cancel()
	text, err := c.askOnceUp(ctx, agentPath(agent)+"/signal"+query("journal", through.String()))
	if err != nil {
		return Signal{}, err
	}
	var s Signal
	err = decode(text, &s)
	return s, err
}

// askOnceUp asks when the daemon runs, or says that it does not when the context ends.
func (c *Client) askOnceUp(ctx context.Context, path string) ([]byte, error) {
	for {
		text, err := c.ask(ctx, "GET", path, nil)
		if !errors.Is(err, ErrNotRunning) {
			return text, err
		}
		if pause.For(ctx, lookAgain) != nil {
			return nil, err
		}
	}
}

// Await asks what a person answered to what an agent asks, after the daemon has read the
// journal through a position. The daemon waits a while for an answer, and so does this.
func (c *Client) Await(ctx context.Context, agent, ref string, through journal.Position) (Reply, error) {
	return get[Reply](ctx, c, agentPath(agent)+"/answer"+query("ref", ref, "journal", through.String()))
}

// Decisions are those that are open, or those that are settled.
func (c *Client) Decisions(ctx context.Context, settled bool) ([]Decision, error) {
	return c.SomeDecisions(ctx, settled, Filter{})
}

// SomeDecisions are those of Decisions that a filter lets through, which says nothing about their
// status.
func (c *Client) SomeDecisions(ctx context.Context, settled bool, f Filter) ([]Decision, error) {
	return list[Decision](ctx, c, "/v1/decisions"+f.query("settled", flag(settled)), f.Limit)
}

// Decision finds a decision by its id or the beginning of it.
func (c *Client) Decision(ctx context.Context, id string) (Decision, error) {
	return get[Decision](ctx, c, "/v1/decisions/"+url.PathEscape(id))
}

// Answer answers a decision. An ID is made where there is none.
func (c *Client) Answer(ctx context.Context, id string, a Answer) (Decision, error) {
	a.ID = orNewID(a.ID)
	return post[Decision](ctx, c, "/v1/decisions/"+url.PathEscape(id)+"/answer", a)
}

// ControlUI turns the web page on or off, and makes links to it.
func (c *Client) ControlUI(ctx context.Context, u UIControl) (UI, error) {
	return post[UI](ctx, c, "/v1/ui", u)
}

// Backup has the store copied to an absolute path. It waits as long as that takes.
func (c *Client) Backup(ctx context.Context, path string) error {
	_, err := c.ask(ctx, "POST", "/v1/backup", Backup{Path: path})
	return err
}

// Workspaces are those that are there.
func (c *Client) Workspaces(ctx context.Context) ([]KeptWorkspace, error) {
	return list[KeptWorkspace](ctx, c, "/v1/workspaces"+query("limit", strconv.Itoa(maxPage)), 0)
}

// RemoveWorkspace removes a workspace that is not in use, and in which no work would be lost. It waits
// as long as that takes.
func (c *Client) RemoveWorkspace(ctx context.Context, name string) (removed KeptWorkspace, err error) {
	text, err := c.ask(ctx, "POST", "/v1/workspaces/remove", RemoveWorkspace{ID: orNewID(""), Name: name})
	if err == nil {
		err = decode(text, &removed)
	}
	return removed, err
}

// Prune has the daemon remove what has ended. It waits as long as that takes.
func (c *Client) Prune(ctx context.Context, p Prune) (pruned Pruned, err error) {
	text, err := c.ask(ctx, "POST", "/v1/prune", p)
	if err == nil {
		err = decode(text, &pruned)
	}
	return pruned, err
}

// Stop tells the daemon to end, with kill what it started first: a *Error of code conflict
// names what may go on, and the daemon ends all the same. It has ended when its lock is
// free.
func (c *Client) Stop(ctx context.Context, kill bool) error {
	return c.Ask(ctx, "POST", "/v1/stop", Stop{Kill: kill}, nil)
}

func get[T any](ctx context.Context, c *Client, path string) (answer T, err error) {
	err = c.Ask(ctx, "GET", path, nil, &answer)
	return answer, err
}

func post[T any](ctx context.Context, c *Client, path string, body any) (answer T, err error) {
	err = c.Ask(ctx, "POST", path, body, &answer)
	return answer, err
}

// query is the query of names and values, without those that are empty.
func query(pairs ...string) string {
	q, sep := "", "?"
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q += sep + pairs[i] + "=" + url.QueryEscape(pairs[i+1])
			sep = "&"
		}
	}
	return q
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return ""
}

func orNewID(id string) string {
	if id == "" {
		return NewID()
	}
	return id
}
