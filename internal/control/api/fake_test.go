package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// children are what the test binary is besides.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) { processtest.Main(m, children) }

const (
	startBody = `{"id":"0123456789abcdef","project":"/p","cwd":"/p","command":"x"}`
	jsonType  = "application/json"
)

// fakePlane knows one of each, and keeps what it was asked for.
type fakePlane struct {
	mu    sync.Mutex
	calls []string

	log      func(ctx context.Context, to io.Writer) error
	events   func(ctx context.Context, after uint64) iter.Seq2[daemonapi.Event, error]
	failWith error
	during   func(ctx context.Context) // every Start
}

var when = time.Date(2026, 1, 30, 8, 14, 9, 0, time.UTC)

func (p *fakePlane) called(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, fmt.Sprintf(format, args...))
}

// took returns what it was asked for since the last time.
func (p *fakePlane) took() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = nil
	return calls
}

func (p *fakePlane) Version() daemonapi.Version {
	return daemonapi.Version{Version: "v1", API: 1, PID: 7, Started: when}
}

func (p *fakePlane) Status(context.Context) daemonapi.Status {
	p.called("status")
	return daemonapi.Status{Version: p.Version(), Store: "/s", Events: 1<<64 - 1, Pipelines: daemonapi.Counts{Waiting: 2}, Trouble: []string{"<&>"}}
}

func (p *fakePlane) Fleet(context.Context) daemonapi.Fleet {
	p.called("fleet")
	return daemonapi.Fleet{
		Name: "lab", Member: "laptop", Connected: true, Since: &when, Hubs: []string{"vps"},
		Members: []daemonapi.FleetMember{{Name: "vps", User: "ada", Hub: true, State: "silent", Heard: 250, Version: "v1", Labels: []string{"gpu"}, Projects: []string{"shop"}, Agents: 2, Room: -1}},
	}
}

func (p *fakePlane) Commands(_ context.Context, project string) ([]daemonapi.Command, error) {
	p.called("commands %q", project)
	return nil, p.failWith
}

func (p *fakePlane) Schedules(_ context.Context, project string) ([]daemonapi.Schedule, error) {
	p.called("schedules %q", project)
	return schedules(), p.failWith
}

func (p *fakePlane) SwitchSchedules(_ context.Context, s daemonapi.ScheduleSwitch) ([]daemonapi.Schedule, error) {
	p.called("switch %+v", s)
	return schedules(), p.failWith
}

func (p *fakePlane) Work(_ context.Context, q *Query) (Page[daemonapi.WorkItem], error) {
	p.called("work %q %q", q.Project, q.Queue)
	return Page[daemonapi.WorkItem]{Items: []daemonapi.WorkItem{item()}}, p.failWith
}

func (p *fakePlane) WorkItem(_ context.Context, id string) (daemonapi.WorkItem, error) {
	p.called("item %q", id)
	return item(), p.failWith
}

func (p *fakePlane) AddWork(_ context.Context, w daemonapi.AddWork) ([]daemonapi.WorkItem, error) {
	p.called("add %+v", w)
	return []daemonapi.WorkItem{item()}, p.failWith
}

func (p *fakePlane) RetryWork(_ context.Context, id string) (daemonapi.WorkItem, error) {
	p.called("retry %q", id)
	return item(), p.failWith
}

func (p *fakePlane) DropWork(_ context.Context, id string) (daemonapi.WorkItem, error) {
	p.called("drop %q", id)
	return item(), p.failWith
}

func (p *fakePlane) Workers(_ context.Context, project string) ([]daemonapi.Worker, error) {
	p.called("workers %q", project)
	return []daemonapi.Worker{worker()}, p.failWith
}

func (p *fakePlane) SwitchWorker(_ context.Context, s daemonapi.WorkerSwitch) (daemonapi.Worker, error) {
	p.called("worker %+v", s)
	return worker(), p.failWith
}

func item() daemonapi.WorkItem {
	ready := when
	return daemonapi.WorkItem{
		ID: "0123456789abcdef", Project: "/p", Queue: "q", Key: "7", Vars: map[string]string{"n": "7"}, State: "failed", Worker: "w", Owner: "aa",
		Failures: 1, Error: "é", Ready: &ready, Added: when, Updated: when,
	}
}

func worker() daemonapi.Worker {
	asked := when
	return daemonapi.Worker{
		Project: "/p", Runbook: "a.toml", Name: "w", Queue: "q", Pipeline: "fix", Limit: 3, On: true, Pending: 1, Running: 2, Dead: 3,
		Source: &daemonapi.WorkSource{Command: "gh", Every: 300, Asked: &asked, Error: "é"},
	}
}

func schedules() []daemonapi.Schedule {
	next := when
	return []daemonapi.Schedule{{
		Project: "/p", Runbook: "a.toml", Kind: "command", Name: "build", Cron: "@daily", Timezone: "UTC", Missed: "skip", On: true,
		Next: &next, Last: &daemonapi.ScheduleRun{Due: when, Owner: "aa", Status: "failed", Error: "é"},
	}}
}

func (p *fakePlane) Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error) {
	p.called("start %+v", s)
	if p.during != nil {
		p.during(ctx)
	}
	return owner("pipeline", s.ID), p.failWith
}

// owner is complete, so that a field that is lost shows.
func owner(kind, id string) daemonapi.Owner {
	later := when.Add(time.Second)
	return daemonapi.Owner{
		ID: id, Kind: kind, Name: "build", Command: "build it", Project: "/p", Cwd: "/p/q",
		Vars: map[string]string{"x": "a\nb"}, Step: "one", Status: "waiting", Error: "é", Created: when, Updated: later, Ended: &later, Duration: 1,
		Steps:    []daemonapi.Visit{{Step: "one", Agent: "a1", Started: when, Finished: &later, Outcome: "failed", Error: "exit status 3"}},
		Agent:    &daemonapi.Agent{ID: "a1", Name: "worker", Owner: id, Project: "/p", Ended: &later, Step: "one", Session: "s", OnStop: "signal", Status: "running", Signal: "escalate", Started: when, ClaudeCode: true, Ready: true, Terminal: &daemonapi.Terminal{Socket: "/s", Session: "t"}, Transcript: "/t.jsonl", USD: 0.25, Tokens: 1 << 60},
		Decision: decision("d1"),
	}
}

func decision(id string) *daemonapi.Decision {
	later := when.Add(time.Hour)
	return &daemonapi.Decision{
		ID: id, Owner: "aa", Name: "build", Project: "/p", Source: "idle", Step: "one", Context: "why", Created: when,
		Ask: &daemonapi.Ask{Tool: "AskUserQuestion", Plan: "# p", Input: "i", Questions: []daemonapi.Question{
			{Question: "Which?", Header: "h", Multi: true, Options: []daemonapi.Choice{{Label: "Red", Description: "warm"}}},
		}},
		Answers: []string{"Red"}, Expires: &later, OnExpiry: "cancel",
		Details: &daemonapi.Details{LastMessage: "I am done.", Changes: []string{"a.go | 2 +-"}, Gates: []string{"test"}, USD: 1.5, Tokens: 7, Running: 60},
		Options: []daemonapi.Option{{Number: 1, Name: "nudge", Description: "say more", Recommended: true}},
	}
}

// owners are those that it knows, the newest first.
func owners() []daemonapi.Owner {
	done := owner("pipeline", "cc")
	done.Status, done.Name = "done", "test"
	return []daemonapi.Owner{owner("pipeline", "aa"), owner("run", "bb"), done}
}

func (p *fakePlane) Owners(_ context.Context, q *Query) (Page[daemonapi.Owner], error) {
	p.called("owners %s", asked(q))
	some := slices.DeleteFunc(owners(), func(o daemonapi.Owner) bool { return !Is(q.Kind, o.Kind) || !q.Allows(o.Status) })
	return PageOf(slices.Values(some), func(o daemonapi.Owner) Place { return Place{o.Created, o.ID} }, q), p.failWith
}

// asked is what a query asks for, without what every list has where nothing is said.
func asked(q *Query) string {
	zero, text := Query{Limit: defaultLimit}, []string{}
	now, none := reflect.ValueOf(*q), reflect.ValueOf(zero)
	for i := range now.NumField() {
		if value := now.Field(i).Interface(); !reflect.DeepEqual(value, none.Field(i).Interface()) {
			text = append(text, fmt.Sprintf("%s=%v", now.Type().Field(i).Name, value))
		}
	}
	return strings.Join(text, " ")
}

func (p *fakePlane) Owner(_ context.Context, id string) (daemonapi.Owner, error) {
	p.called("owner %q", id)
	if i := slices.Index([]string{"aa", "a", "bb", "b"}, id); i >= 0 {
		return owner([]string{"pipeline", "run"}[i/2], []string{"aa", "bb"}[i/2]), p.failWith
	}
	return daemonapi.Owner{}, &Error{Failure: daemonapi.Failure{Code: "not_found", Error: "no pipeline or run " + id, Hint: "look"}}
}

func (p *fakePlane) Cancel(_ context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error) {
	p.called("cancel %q %+v", id, c)
	return owner("pipeline", id), p.failWith
}

func (p *fakePlane) Resume(_ context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error) {
	p.called("resume %q %+v", id, r)
	return owner("pipeline", id), p.failWith
}

func (p *fakePlane) Graph(_ context.Context, id string) (daemonapi.Graph, error) {
	p.called("graph %q", id)
	return daemonapi.Graph{
		Name:  "build",
		Nodes: []daemonapi.Node{{Name: "one", What: "sh: make", State: "failed", Visits: owner("run", id).Steps, Current: true}},
		Edges: []daemonapi.Edge{{From: "one", To: "done", On: "done"}},
	}, p.failWith
}

func (p *fakePlane) Picture(_ context.Context, id string) ([]byte, error) {
	p.called("picture %q", id)
	return []byte("<svg/>"), p.failWith
}

func (p *fakePlane) Log(ctx context.Context, id string, q LogQuery, to io.Writer) error {
	part := ""
	if q.Offset+q.Limit+int64(q.Tail) > 0 || q.Step != "" {
		part = fmt.Sprintf(" offset=%d limit=%d tail=%d step=%q", q.Offset, q.Limit, q.Tail, q.Step)
	}
	p.called("log %q %v%s", id, q.Follow, part)
	q.Begin(q.Offset, 1234)
	if p.log == nil {
		return p.failWith
	}
	return p.log(ctx, to)
}

func (p *fakePlane) Agents(_ context.Context, q *Query) (Page[daemonapi.Agent], error) {
	p.called("agents %s", asked(q))
	return Page[daemonapi.Agent]{Items: []daemonapi.Agent{*owner("run", "bb").Agent}}, p.failWith
}

func (p *fakePlane) Agent(_ context.Context, id string) (daemonapi.Agent, error) {
	p.called("agent %q", id)
	return *owner("run", "bb").Agent, p.failWith
}

func (p *fakePlane) Conversation(_ context.Context, agent string, r Range) (daemonapi.Conversation, error) {
	p.called("conversation %q %+v", agent, r)
	return daemonapi.Conversation{
		Session: "s", From: 7, Next: 99, Size: 120,
		Messages: []daemonapi.Message{{At: 7, Time: &when, Kind: "words", Text: "I am done.", Cut: true}},
	}, p.failWith
}

func (p *fakePlane) Screen(_ context.Context, agent string, ansi bool) (daemonapi.Screen, error) {
	p.called("screen %q %t", agent, ansi)
	return daemonapi.Screen{Time: when, Text: "> \n", Kind: "dialog"}, p.failWith
}

func (p *fakePlane) Signal(_ context.Context, agent string, through journal.Position) (daemonapi.Signal, error) {
	p.called("signal %q %v", agent, through)
	return daemonapi.Signal{Signaled: true, Kind: "complete", Message: "done\n\"now\" é"}, p.failWith
}

func (p *fakePlane) Reply(ctx context.Context, agent, ref string, through journal.Position) (daemonapi.Reply, error) {
	p.called("reply %q %q %v", agent, ref, through)
	if p.during != nil {
		p.during(ctx)
	}
	return daemonapi.Reply{State: "answered", Option: "accept", Message: "yes\n\"now\" é", Answers: []string{"Red", "Apple, Plum"}}, p.failWith
}

func (p *fakePlane) Send(_ context.Context, agent string, s daemonapi.Send) (daemonapi.Agent, error) {
	p.called("send %q %+v", agent, s)
	return *owner("run", "bb").Agent, p.failWith
}

func (p *fakePlane) Kill(_ context.Context, agent string, k daemonapi.Kill) (daemonapi.Agent, error) {
	p.called("kill %q %+v", agent, k)
	return *owner("run", "bb").Agent, p.failWith
}

func (p *fakePlane) Decisions(_ context.Context, q *Query) (Page[daemonapi.Decision], error) {
	p.called("decisions %s", asked(q))
	return Page[daemonapi.Decision]{Items: []daemonapi.Decision{*decision("d1")}}, p.failWith
}

func (p *fakePlane) Decision(_ context.Context, id string) (daemonapi.Decision, error) {
	p.called("decision %q", id)
	return *decision(id), p.failWith
}

func (p *fakePlane) Answer(_ context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	p.called("answer %q %+v", id, a)
	return *decision(id), p.failWith
}

func (p *fakePlane) History(_ context.Context, q *Query, before uint64) (Page[daemonapi.Event], error) {
	p.called("history %s %d", asked(q), before)
	e := daemonapi.Event{Position: 40, Owner: "aa", Cause: "c", Time: when, Facts: []string{"step:failed"}, Data: []daemonapi.Fact{{Type: "step:failed", Data: map[string]any{"step": "one"}}}}
	return Page[daemonapi.Event]{Items: []daemonapi.Event{e}, Next: Place{ID: "40"}}, p.failWith
}

func (p *fakePlane) Events(ctx context.Context, q *Query, after uint64) iter.Seq2[daemonapi.Event, error] {
	p.called("events %s %d", asked(q), after)
	if p.events == nil {
		return func(func(daemonapi.Event, error) bool) { <-ctx.Done() }
	}
	return p.events(ctx, after)
}

func (p *fakePlane) SessionQueues(_ context.Context, q *Query) (Page[daemonapi.SessionQueue], error) {
	p.called("queues %s", asked(q))
	command := daemonapi.SessionCommand{ID: 1, Command: "go on", Status: "active", Delivery: "typing", Tries: 2, Why: "a dialog", Result: "Done.", Completed: &when}
	queue := daemonapi.SessionQueue{Session: "work", Path: "/q.json", Created: &when, Done: 1, Commands: []daemonapi.SessionCommand{command}, Ended: "failed", Why: "w", Fault: "f"}
	return Page[daemonapi.SessionQueue]{Items: []daemonapi.SessionQueue{queue}}, p.failWith
}

func (p *fakePlane) Sessions(_ context.Context, q *Query) (Page[daemonapi.Session], error) {
	p.called("sessions %s", asked(q))
	return Page[daemonapi.Session]{Items: []daemonapi.Session{{Session: "work", Socket: "/s", PID: 7, Pane: "%1", State: "free", Since: when}}}, p.failWith
}

func (p *fakePlane) Seen(_ context.Context, q *Query) (Page[daemonapi.Seen], error) {
	p.called("seen %s", asked(q))
	return Page[daemonapi.Seen]{Items: []daemonapi.Seen{{ID: "s", Project: "/p", Pane: "%1", State: "gave_up", Since: when, Stop: "01CALL", Headline: "h", USD: 1}}}, p.failWith
}

func (p *fakePlane) Gates(_ context.Context, q *Query) (Page[daemonapi.GateRun], error) {
	p.called("gates %s", asked(q))
	gate := daemonapi.Gate{Job: "test", Outcome: "failed", Why: "exit 1", DurationMS: 7, Log: "/l"}
	run := daemonapi.GateRun{
		ID: "01CALL", Time: when, Event: "Stop", Session: "s", Project: "/p", Decision: "block", DurationMS: 9,
		Trees: []daemonapi.GateTree{{Root: "/p", Status: "failed", Why: "w", Gates: []daemonapi.Gate{gate}, More: 3}},
	}
	return Page[daemonapi.GateRun]{Items: []daemonapi.GateRun{run}}, p.failWith
}

func (p *fakePlane) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
}

func (p *fakePlane) Backup(_ context.Context, path string) error {
	p.called("backup %q", path)
	return p.failWith
}

func (p *fakePlane) Workspaces(context.Context, *Query) (Page[daemonapi.KeptWorkspace], error) {
	p.called("workspaces")
	return Page[daemonapi.KeptWorkspace]{Items: []daemonapi.KeptWorkspace{{Name: "p-1", Path: "/w/p-1", Kind: "worktree", Owner: "a1"}}}, p.failWith
}

func (p *fakePlane) RemoveWorkspace(_ context.Context, r daemonapi.RemoveWorkspace) (daemonapi.KeptWorkspace, error) {
	p.called("remove workspace %q", r.Name)
	return daemonapi.KeptWorkspace{Name: r.Name}, p.failWith
}

func (p *fakePlane) Prune(_ context.Context, b daemonapi.Prune) (daemonapi.Pruned, error) {
	p.called("prune %t %v", b.DryRun, b.Before)
	return daemonapi.Pruned{Owners: []daemonapi.PrunedOwner{{ID: "a1", Why: "age"}}, Events: 7}, p.failWith
}

func (p *fakePlane) ControlUI(_ context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	p.called("ui %+v", c)
	return daemonapi.UI{On: !c.Off}, nil
}

func (p *fakePlane) Stop(_ context.Context, kill bool) error {
	p.called("stop %v", kill)
	return nil
}

// serve serves a plane on a socket until the test ends, or stop is called.
func serve(t testing.TB, p Plane) (socket string, stop func()) {
	t.Helper()
	// Sockets have short paths, tests have long names.
	dir, err := os.MkdirTemp("", "api")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "daemon.sock")
	l, err := Listen(socket)
	check(t, err)
	return socket, serveOn(t, l, New(p, "v1"))
}

func serveOn(t testing.TB, l net.Listener, handler http.Handler) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, handler) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

var check = checktest.OK

// wantFailure checks that an error is a Failure of that code.
func wantFailure(t *testing.T, err error, status int, code string) {
	t.Helper()
	e, ok := errors.AsType[*daemonapi.Error](err)
	if !ok || e.Status != status || e.Code != code {
		t.Errorf("error %v (%+v), want status %d, code %s", err, e, status, code)
	}
}
