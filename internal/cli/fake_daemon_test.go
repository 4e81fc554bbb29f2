//go:build unix

package cli_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// fakeDaemon stands in for the daemon in scripts. What it starts does nothing by itself:
// scripts move it on by resuming it with a word (see move). FAKE_ERROR is why it cannot
// start, FAKE_DEATH makes it end without a word, FAKE_VERSION is its version. FAKE_EARLY is
// how long it has its lock before it answers, FAKE_LATE for how long after. The variables
// that it was started with are in the file environment.
func fakeDaemon() {
	ready := os.NewFile(3, "ready")
	if why := os.Getenv("FAKE_ERROR"); why != "" {
		fmt.Fprintf(ready, "{\"error\":%q}\n", why)
		os.Exit(1)
	}
	if why := os.Getenv("FAKE_DEATH"); why != "" {
		fmt.Fprintln(os.Stderr, why)
		os.Exit(7)
	}
	state := os.Getenv("STOPGATE_STATE_DIR")
	release, err := lockfile.Acquire(context.Background(), filepath.Join(state, "daemon.lock"), 100*time.Millisecond)
	exitOn(err)
	defer release()
	exitOn(os.WriteFile(filepath.Join(state, "environment"), []byte(strings.Join(os.Environ(), "\n")+"\n"), 0o600))
	waitFor("FAKE_EARLY")
	socket := filepath.Join(state, "daemon.sock")
	_ = os.Remove(socket) // of one that was killed
	listener, err := api.Listen(socket)
	exitOn(err)
	ctx, stop := context.WithCancel(context.Background())
	version := os.Getenv("FAKE_VERSION")
	if version == "" {
		version = "(devel)"
	}
	f := &fakePlane{stop: stop, version: version, started: time.Now(), state: state}
	f.news = sync.NewCond(&f.mu)
	context.AfterFunc(ctx, f.wake)
	fmt.Fprintln(ready, `{"ready":true}`)
	ready.Close()
	_ = api.Serve(ctx, listener, api.New(f, version)) // it was stopped
	waitFor("FAKE_LATE")
}

// waitFor waits until the file that a variable names is gone.
func waitFor(variable string) {
	path := os.Getenv(variable)
	for _, err := os.Stat(path); err == nil; _, err = os.Stat(path) {
		time.Sleep(5 * time.Millisecond)
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fakePlane holds owners that do what scripts say.
type fakePlane struct {
	stop    func()
	version string
	started time.Time
	state   string

	mu     sync.Mutex
	news   *sync.Cond
	owners []*daemonapi.Owner
	events []daemonapi.Event
	closed []daemonapi.Decision
	jobs   []daemonapi.Job
}

func (f *fakePlane) Version() daemonapi.Version {
	return daemonapi.Version{Version: f.version, API: 1, PID: os.Getpid(), Started: f.started}
}

func (f *fakePlane) Status(context.Context) daemonapi.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := daemonapi.Status{Version: f.Version(), Store: filepath.Join(f.state, "stopgate.db"), Events: uint64(len(f.events))}
	for _, o := range f.owners {
		counts := &s.Pipelines
		if o.Kind == "run" {
			counts = &s.Runs
		}
		switch o.Status {
		case "running":
			counts.Running++
		case "waiting":
			counts.Waiting++
			s.Decisions++
		case "failed":
			counts.Failed++
		case "done":
			counts.Done++
		}
	}
	if text, err := os.ReadFile(filepath.Join(f.state, "trouble")); err == nil {
		s.Trouble = []string{strings.TrimSpace(string(text))}
	}
	return s
}

// Fleet is what the file fleet says, if there is one.
func (f *fakePlane) Fleet(context.Context) daemonapi.Fleet {
	path := filepath.Join(f.state, "fleet")
	if _, err := os.Stat(path); err != nil {
		return daemonapi.Fleet{}
	}
	return *readJSON(path, &daemonapi.Fleet{})
}

// on reports whether something is on a machine that a query asks for.
func on(q *api.Query, away daemonapi.Away) bool {
	return q.Host == "" || q.Host == away.Host || q.Host == daemonapi.Here && away.Host == ""
}

// reach fails where the machine of an owner has not been heard of for long.
func reach(o *daemonapi.Owner) error {
	if o.Heard < 30 {
		return nil
	}
	return refusal("unavailable", fmt.Sprintf("%s has not reported for %s; nothing was changed", o.Host, daemonapi.Span(time.Duration(o.Heard)*time.Second)), "see: stopgate fleet status")
}

func (f *fakePlane) Commands(_ context.Context, project string) ([]daemonapi.Command, error) {
	path := filepath.Join(project, ".gauntlet", "runbooks", "work.toml")
	if _, err := os.Stat(path); err != nil {
		return nil, nil
	}
	return []daemonapi.Command{
		{Name: "build", Usage: "<target> [--fast]", Description: "Build and test", Runs: "pipeline build", Runbook: path},
		{Name: "help-me", Usage: "", Runs: "agent helper", Runbook: path},
	}, nil
}

// Start makes a pipeline, or for help-me an agent run, at its first step.
func (f *fakePlane) Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error) {
	if err := f.stumble(s.ID); err != nil {
		return daemonapi.Owner{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(s.Args) > 0 && s.Args[0] == "--watch" {
		return daemonapi.Owner{}, refusal("invalid", "unknown option: --watch; put -- before an argument that starts with -", "usage: stopgate start build <target>")
	}
	if s.Host != "" {
		s.Args = append(s.Args, "project="+s.ProjectName, fmt.Sprintf("here=%q", s.Project+s.Cwd), fmt.Sprintf("env=%d", len(s.Env)))
	}
	o := &daemonapi.Owner{
		Away: daemonapi.Away{Host: s.Host}, ID: s.ID, Kind: "pipeline", Name: s.Command, Command: s.Command, Project: s.Project, Cwd: s.Cwd,
		Vars: map[string]string{"args": strings.Join(s.Args, "|")}, Status: "running", Created: time.Now(),
	}
	switch s.Command {
	case "build":
	case "help-me":
		o.Kind = "run"
		o.Agent = &daemonapi.Agent{ID: "a9e1" + s.ID, Name: "helper", Owner: s.ID, Step: "one", Status: "running", OnStop: "escalate", Started: time.Now()}
	case "secret":
		return daemonapi.Owner{}, refusal("untrusted", "the runbooks are not approved", "approve them with: stopgate trust")
	case "full":
		return daemonapi.Owner{}, refusal("unavailable", "the disk is full", "")
	default:
		return daemonapi.Owner{}, refusal("not_found", fmt.Sprintf("there is no command %q", s.Command), "")
	}
	f.owners = slices.Insert(f.owners, 0, o)
	f.enter(o, "one")
	return *o, nil
}

// stumble writes a request's id down, and makes it fail once if the file stumble says how:
// full, or dead without an answer.
func (f *fakePlane) stumble(id string) error {
	path := filepath.Join(f.state, "stumble")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	asked, err := os.OpenFile(filepath.Join(f.state, "asked"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	exitOn(err)
	defer asked.Close()
	fmt.Fprintln(asked, id)
	how := strings.TrimSpace(string(text))
	exitOn(os.WriteFile(path, nil, 0o600))
	switch how {
	case "full":
		return refusal("unavailable", "the disk is full", "")
	case "dead":
		os.Exit(1)
	}
	return nil
}

func refusal(code, text, hint string) error {
	status := map[string]int{"not_found": 404, "conflict": 409, "invalid": 400, "untrusted": 403, "unavailable": 503}[code]
	return &api.Error{Status: status, Failure: daemonapi.Failure{Code: code, Error: text, Hint: hint}}
}

// enter begins a step.
func (f *fakePlane) enter(o *daemonapi.Owner, step string) {
	f.leave(o, "completed")
	o.Step = step
	o.Steps = append(o.Steps, daemonapi.Visit{Step: step, Started: time.Now(), Outcome: "running"})
	f.log(o, "started")
	f.tell(o)
}

func (f *fakePlane) leave(o *daemonapi.Owner, outcome string) {
	if len(o.Steps) == 0 {
		return
	}
	last := &o.Steps[len(o.Steps)-1]
	if last.Finished == nil {
		now := time.Now()
		last.Finished, last.Outcome = &now, outcome
	}
}

// end brings an owner to its end.
func (f *fakePlane) end(o *daemonapi.Owner, status, why string) {
	outcome := map[string]string{"done": "completed", "failed": "failed", "cancelled": "cancelled"}[status]
	f.leave(o, outcome)
	o.Steps[len(o.Steps)-1].Error = why
	o.Status, o.Step, o.Error = status, status, why
	f.log(o, status)
	f.tell(o)
}

func (f *fakePlane) tell(o *daemonapi.Owner) {
	o.Updated = time.Now()
	f.events = append(f.events, daemonapi.Event{Position: uint64(len(f.events) + 1), Owner: o.ID, Time: o.Updated, Facts: []string{}})
	f.news.Broadcast()
}

func (f *fakePlane) logPath(id string) string { return filepath.Join(f.state, id+".log") }

func (f *fakePlane) log(o *daemonapi.Owner, text string) {
	file, err := os.OpenFile(f.logPath(o.ID), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	exitOn(err)
	defer file.Close()
	fmt.Fprintf(file, "2026-01-30T08:14:09Z [%s] %s\n", o.Step, text)
}

// move does what a script says: done, fail WHY, ask WHAT, print TEXT, agent FILE and
// decide FILE with what there is to be then, or else it is the name of the next step.
func (f *fakePlane) move(o *daemonapi.Owner, word string) {
	word, rest, _ := strings.Cut(word, " ")
	switch word {
	case "done":
		f.end(o, "done", "")
	case "fail":
		f.end(o, "failed", rest)
	case "ask":
		o.Status = "waiting"
		o.Steps[len(o.Steps)-1].Outcome = "waiting"
		o.Decision = &daemonapi.Decision{
			ID: "dec1" + o.ID[:12], Owner: o.ID, Name: o.Name, Project: o.Project, Source: "idle", Step: o.Step, Context: rest, Created: time.Now(),
			Options: []daemonapi.Option{{Number: 1, Name: "nudge", Description: "Have it go on", Recommended: true}, {Number: 2, Name: "done", Description: "Count the step as done"}, {Number: 3, Name: "cancel", Description: "Cancel the pipeline"}},
		}
		f.tell(o)
	case "away": // for some seconds, on a machine
		_, err := fmt.Sscan(rest, &o.Host, &o.Heard)
		exitOn(err)
		f.tell(o)
	case "print":
		f.log(o, rest)
		f.tell(o)
	case "agent":
		o.Agent = readJSON(rest, &daemonapi.Agent{Owner: o.ID, Step: o.Step, Started: time.Now()})
		o.Steps[len(o.Steps)-1].Agent = o.Agent.ID
		f.tell(o)
	case "decide":
		o.Status = "waiting"
		o.Decision = readJSON(rest, &daemonapi.Decision{ID: "dec1" + o.ID[:12], Owner: o.ID, Name: o.Name, Project: o.Project, Step: o.Step, Created: time.Now()})
		f.tell(o)
	default:
		o.Status = "running"
		f.enter(o, word)
	}
}

// readJSON reads a file into a value. $WORK in it is that of the script.
func readJSON[T any](path string, value *T) *T {
	text, err := os.ReadFile(path)
	exitOn(err)
	exitOn(json.Unmarshal([]byte(strings.ReplaceAll(string(text), "$WORK", os.Getenv("WORK"))), value))
	return value
}

func (f *fakePlane) Owners(_ context.Context, q *api.Query) (api.Page[daemonapi.Owner], error) {
	_ = os.WriteFile(filepath.Join(f.state, "listed"), nil, 0o600) // then the script sees it
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []daemonapi.Owner{}
	for _, o := range f.owners {
		view := *o
		view.Steps, view.Vars = nil, nil
		if api.Is(q.Kind, o.Kind) && api.Is(q.Project, o.Project) && q.Allows(o.Status) && q.AllowsTime(o.Created) && on(q, o.Away) {
			all = append(all, view)
		}
	}
	return inOrder(all, q), nil
}

// inOrder is the page of what is in its order already.
func inOrder[T any](all []T, q *api.Query) api.Page[T] {
	places := func(i int) api.Place { return api.Place{Time: time.Unix(int64(-i), 0), ID: "x"} }
	indexes := func(yield func(int) bool) {
		for i := range all {
			if !yield(i) {
				return
			}
		}
	}
	return api.View(api.PageOf(indexes, places, q), func(i int) T { return all[i] })
}

func (f *fakePlane) Owner(_ context.Context, id string) (daemonapi.Owner, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, err := f.find(id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	return copyOf(o), nil
}

func copyOf(o *daemonapi.Owner) daemonapi.Owner {
	view := *o
	view.Steps = slices.Clone(o.Steps)
	return view
}

func (f *fakePlane) find(id string) (*daemonapi.Owner, error) {
	var found []*daemonapi.Owner
	for _, o := range f.owners {
		if strings.HasPrefix(o.ID, id) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return nil, refusal("not_found", "no such pipeline or agent run", "")
	case 1:
		return found[0], nil
	}
	var lines []string
	for _, o := range found {
		lines = append(lines, fmt.Sprintf("  %s  pipeline %s, %s", o.ID, o.Name, o.Status))
	}
	return nil, refusal("conflict", fmt.Sprintf("%d ids begin so", len(found)), strings.Join(lines, "\n"))
}

func (f *fakePlane) Cancel(_ context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error) {
	if err := f.stumble(c.ID); err != nil {
		return daemonapi.Owner{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o, err := f.find(id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	if err := reach(o); err != nil {
		return daemonapi.Owner{}, err
	}
	f.end(o, "cancelled", "")
	return copyOf(o), nil
}

func (f *fakePlane) Resume(_ context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error) {
	if err := f.stumble(r.ID); err != nil {
		return daemonapi.Owner{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o, err := f.find(id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	if o.Status == "done" {
		return daemonapi.Owner{}, refusal("conflict", "only a failed or waiting run can be resumed; this one is done", "")
	}
	for name, value := range r.Vars {
		o.Vars[name] = value
	}
	f.move(o, r.Message)
	return copyOf(o), nil
}

// wake has those who wait for news look whether they still should.
func (f *fakePlane) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.news.Broadcast()
}

func (f *fakePlane) Graph(context.Context, string) (daemonapi.Graph, error) {
	return daemonapi.Graph{}, nil
}

func (f *fakePlane) Picture(context.Context, string) ([]byte, error) { return nil, nil }

func (f *fakePlane) Log(ctx context.Context, id string, q api.LogQuery, to io.Writer) error {
	defer context.AfterFunc(ctx, f.wake)()
	f.mu.Lock()
	defer f.mu.Unlock()
	o, err := f.find(id)
	if err != nil {
		return err
	}
	if o.Host != "" && q.Follow {
		return refusal("invalid", "the log of another machine cannot be followed", "")
	}
	q.Begin(0, 0)
	written := 0
	for {
		text, err := os.ReadFile(f.logPath(id))
		if err != nil {
			return err
		}
		if _, err := to.Write(text[written:]); err != nil {
			return err
		}
		written = len(text)
		if !q.Follow || o.Status != "running" && o.Status != "waiting" || ctx.Err() != nil {
			return nil
		}
		f.news.Wait()
	}
}

func (f *fakePlane) Agents(_ context.Context, q *api.Query) (api.Page[daemonapi.Agent], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []daemonapi.Agent{}
	for _, o := range f.owners {
		if o.Agent != nil && (o.Status == "running" || o.Status == "waiting") && on(q, o.Away) {
			a := *o.Agent
			a.Away = o.Away
			all = append(all, a)
		}
	}
	return inOrder(all, q), nil
}

func (f *fakePlane) Agent(_ context.Context, id string) (daemonapi.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.owners {
		if o.Agent != nil && (strings.HasPrefix(o.Agent.ID, id) || o.Agent.Session == id) {
			a := *o.Agent
			a.Away = o.Away
			return f.around(a), nil
		}
	}
	return daemonapi.Agent{}, refusal("not_found", "no such agent", "")
}

// around finds the transcript of an agent that named none. A line of the file looked says so.
func (f *fakePlane) around(a daemonapi.Agent) daemonapi.Agent {
	path := filepath.Join(os.Getenv("WORK"), a.Session+".jsonl")
	if _, err := os.Stat(path); err == nil && a.Transcript == "" {
		a.Transcript = path
	}
	looked, err := os.OpenFile(filepath.Join(f.state, "looked"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	exitOn(err)
	defer looked.Close()
	fmt.Fprintln(looked, a.ID)
	return a
}

// Conversation is what the file conversation has, if there is one.
func (f *fakePlane) Conversation(context.Context, string, api.Range) (daemonapi.Conversation, error) {
	path := filepath.Join(f.state, "conversation")
	if _, err := os.Stat(path); err != nil {
		return daemonapi.Conversation{}, nil
	}
	return *readJSON(path, &daemonapi.Conversation{}), nil
}

func (f *fakePlane) Screen(context.Context, string, bool) (daemonapi.Screen, error) {
	return daemonapi.Screen{}, nil
}

// Signal is that of an agent whose id is a line in the file signaled.
func (f *fakePlane) Signal(_ context.Context, agent string, _ journal.Position) (daemonapi.Signal, error) {
	text, _ := os.ReadFile(filepath.Join(f.state, "signaled"))
	if slices.Contains(strings.Fields(string(text)), agent) {
		return daemonapi.Signal{Signaled: true, Kind: "complete"}, nil
	}
	return daemonapi.Signal{}, nil
}

func (f *fakePlane) Reply(context.Context, string, string, journal.Position) (daemonapi.Reply, error) {
	return daemonapi.Reply{State: "answered", Option: "approve"}, nil
}

// Send writes what was said into the file sent.
func (f *fakePlane) Send(ctx context.Context, id string, m daemonapi.Send) (daemonapi.Agent, error) {
	if err := f.stumble(m.ID); err != nil {
		return daemonapi.Agent{}, err
	}
	exitOn(os.WriteFile(filepath.Join(f.state, "sent"), []byte(m.Message+"\n"), 0o600))
	return f.Agent(ctx, id)
}

// Kill has the agent end.
func (f *fakePlane) Kill(ctx context.Context, id string, k daemonapi.Kill) (daemonapi.Agent, error) {
	if err := f.stumble(k.ID); err != nil {
		return daemonapi.Agent{}, err
	}
	f.mu.Lock()
	for _, o := range f.owners {
		if o.Agent != nil && strings.HasPrefix(o.Agent.ID, id) {
			ended := *o.Agent
			ended.Status, ended.Terminal = "exited", nil
			o.Agent = &ended
			f.tell(o)
		}
	}
	f.mu.Unlock()
	return f.Agent(ctx, id)
}

func (f *fakePlane) Decisions(_ context.Context, q *api.Query) (api.Page[daemonapi.Decision], error) {
	all := slices.DeleteFunc(f.decisions(q.Past), func(d daemonapi.Decision) bool { return !on(q, d.Away) })
	return inOrder(all, q), nil
}

func (f *fakePlane) decisions(settled bool) []daemonapi.Decision {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []daemonapi.Decision{}
	for _, o := range f.owners {
		if o.Decision != nil {
			d := *o.Decision
			d.Away = o.Away
			all = append(all, d)
		}
	}
	if settled {
		all = append(all, f.closed...)
	}
	return all
}

func (f *fakePlane) Decision(ctx context.Context, id string) (daemonapi.Decision, error) {
	found := slices.DeleteFunc(append(f.decisions(false), f.decisions(true)...), func(d daemonapi.Decision) bool { return !strings.HasPrefix(d.ID, id) })
	slices.SortFunc(found, func(a, b daemonapi.Decision) int { return strings.Compare(a.ID, b.ID) })
	found = slices.CompactFunc(found, func(a, b daemonapi.Decision) bool { return a.ID == b.ID })
	switch len(found) {
	case 0:
		return daemonapi.Decision{}, refusal("not_found", "no such decision", "")
	case 1:
		return found[0], nil
	}
	var lines []string
	for _, d := range found {
		lines = append(lines, "  "+d.ID+"  "+d.Name)
	}
	return daemonapi.Decision{}, refusal("conflict", fmt.Sprintf("%d ids begin so", len(found)), strings.Join(lines, "\n"))
}

func (f *fakePlane) Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	if err := f.stumble(a.ID); err != nil {
		return daemonapi.Decision{}, err
	}
	d, err := f.Decision(ctx, id)
	if err != nil {
		return d, err
	}
	if d.Resolved != nil {
		return d, refusal("conflict", "it was answered already: "+d.Chosen, "")
	}
	for _, o := range d.Options {
		if a.Option == fmt.Sprint(o.Number) {
			a.Option = o.Name
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o, err := f.find(d.Owner)
	if err == nil {
		err = reach(o)
	}
	if err != nil {
		return d, err
	}
	switch {
	case d.Ask != nil:
		d.Answers = a.Answers
		o.Status = "running"
		f.tell(o)
	case a.Option == "" || a.Option == "nudge":
		a.Option = "nudge"
		o.Status = "running"
		o.Steps[len(o.Steps)-1].Outcome = "running"
		f.tell(o)
	case a.Option == "done":
		f.end(o, "done", "")
	case a.Option == "cancel":
		f.end(o, "cancelled", "")
	default:
		return d, refusal("invalid", fmt.Sprintf("there is no option %q: nudge, done, cancel", a.Option), "")
	}
	now := time.Now()
	d.Resolved, d.Chosen, d.Message = &now, a.Option, a.Message
	o.Decision = nil
	f.closed = append(f.closed, d)
	return d, nil
}

func (f *fakePlane) History(context.Context, *api.Query, uint64) (api.Page[daemonapi.Event], error) {
	return api.Page[daemonapi.Event]{}, nil
}

func (f *fakePlane) Events(ctx context.Context, q *api.Query, after uint64) iter.Seq2[daemonapi.Event, error] {
	return func(yield func(daemonapi.Event, error) bool) {
		defer context.AfterFunc(ctx, f.wake)()
		f.mu.Lock()
		defer f.mu.Unlock()
		for ctx.Err() == nil {
			if int(after) >= len(f.events) {
				f.news.Wait()
				continue
			}
			e := f.events[after]
			after++
			if !api.Is(q.Owner, e.Owner) {
				continue
			}
			f.mu.Unlock()
			more := yield(e, nil)
			f.mu.Lock()
			if !more {
				return
			}
		}
	}
}

func (f *fakePlane) SessionQueues(context.Context, *api.Query) (api.Page[daemonapi.SessionQueue], error) {
	return api.Page[daemonapi.SessionQueue]{}, nil
}

func (f *fakePlane) Sessions(context.Context, *api.Query) (api.Page[daemonapi.Session], error) {
	return api.Page[daemonapi.Session]{}, nil
}

func (f *fakePlane) Seen(context.Context, *api.Query) (api.Page[daemonapi.Seen], error) {
	return api.Page[daemonapi.Seen]{}, nil
}

func (f *fakePlane) Gates(context.Context, *api.Query) (api.Page[daemonapi.GateRun], error) {
	return api.Page[daemonapi.GateRun]{}, nil
}

func (f *fakePlane) Metrics() http.Handler { return http.NotFoundHandler() }

func (f *fakePlane) Backup(_ context.Context, path string) error {
	if err := os.WriteFile(path, make([]byte, 2048), 0o600); err != nil {
		return refusal("invalid", errors.Unwrap(err).Error(), "")
	}
	return nil
}

func (f *fakePlane) Workspaces(context.Context, *api.Query) (page api.Page[daemonapi.KeptWorkspace], err error) {
	return page, nil
}

func (f *fakePlane) RemoveWorkspace(context.Context, daemonapi.RemoveWorkspace) (daemonapi.KeptWorkspace, error) {
	return daemonapi.KeptWorkspace{}, refusal("not_found", "there is no such workspace", "")
}

// Prune removes those that have ended. Only those of now are young.
func (f *fakePlane) Prune(_ context.Context, b daemonapi.Prune) (daemonapi.Pruned, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	report := daemonapi.Pruned{DryRun: b.DryRun, Before: time.Now().Add(-30 * 24 * time.Hour), KeepSize: 1 << 30, Owners: []daemonapi.PrunedOwner{}}
	if b.Before != nil {
		report.Before = *b.Before
	}
	f.owners = slices.DeleteFunc(f.owners, func(o *daemonapi.Owner) bool {
		if o.Status == "running" || o.Status == "waiting" || !o.Updated.Before(report.Before) {
			return false
		}
		report.Owners = append(report.Owners, daemonapi.PrunedOwner{ID: o.ID, Kind: o.Kind, Name: o.Name, Project: o.Project, Status: o.Status, Ended: o.Updated, Files: 6, Bytes: 24 << 10, Why: "age"})
		report.Files += 6
		report.Bytes += 24 << 10
		return !b.DryRun
	})
	if !b.DryRun {
		report.Events = 8 * len(report.Owners)
	}
	return report, nil
}

func (f *fakePlane) ControlUI(_ context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	if c.Off || c.SignOut {
		return daemonapi.UI{On: !c.Off, SignedOut: 2}, nil
	}
	ui := daemonapi.UI{On: true, URL: "http://127.0.0.1:4000", Link: "http://127.0.0.1:4000/enter?token=secret"}
	if c.Listen != "" {
		ui.Remote, ui.Link, ui.Code, ui.Fingerprint = "https://192.168.1.5:8443", "https://192.168.1.5:8443/enter?token=secret", "ABCDEFGH", "00:11"
	}
	return ui, nil
}

func (f *fakePlane) Stop(_ context.Context, kill bool) error {
	defer f.stop()
	if !kill {
		return nil
	}
	_ = os.WriteFile(filepath.Join(f.state, "killed"), nil, 0o600) // then the script sees it
	if _, err := os.Stat(filepath.Join(f.state, "stubborn")); err == nil {
		return refusal("conflict", "1 command may go on: test of build", "")
	}
	return nil
}

func (f *fakePlane) Schedules(context.Context, string) ([]daemonapi.Schedule, error) { return nil, nil }

func (f *fakePlane) SwitchSchedules(context.Context, daemonapi.ScheduleSwitch) ([]daemonapi.Schedule, error) {
	return nil, nil
}

func (f *fakePlane) Work(context.Context, *api.Query) (page api.Page[daemonapi.WorkItem], err error) {
	return page, nil
}

func (f *fakePlane) WorkItem(context.Context, string) (daemonapi.WorkItem, error) {
	return daemonapi.WorkItem{}, nil
}

func (f *fakePlane) AddWork(context.Context, daemonapi.AddWork) ([]daemonapi.WorkItem, error) {
	return nil, nil
}

func (f *fakePlane) RetryWork(context.Context, string) (daemonapi.WorkItem, error) {
	return daemonapi.WorkItem{}, nil
}

func (f *fakePlane) DropWork(context.Context, string) (daemonapi.WorkItem, error) {
	return daemonapi.WorkItem{}, nil
}

func (f *fakePlane) Jobs(context.Context, *api.Query) (page api.Page[daemonapi.Job], err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	page.Items = f.jobs
	return page, nil
}

func (f *fakePlane) Job(_ context.Context, id string) (daemonapi.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		if strings.HasPrefix(j.ID, id) {
			return j, nil
		}
	}
	return daemonapi.Job{}, &api.Error{Failure: daemonapi.Failure{Code: "not_found", Error: "there is no job " + id}}
}

func (f *fakePlane) AddJob(_ context.Context, a daemonapi.AddJob) (daemonapi.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.stumble(a.ID); err != nil {
		return daemonapi.Job{}, err
	}
	j := daemonapi.Job{
		ID: a.ID, Project: cmp.Or(a.ProjectName, "here"), Command: a.Command, Args: a.Args, Needs: a.Needs, Only: a.Only, OnLost: a.OnLost,
		Cap: a.Cap, Reserve: a.Reserve, Status: "pending", Waits: []string{"no machine has the label gpu"}, By: "laptop", Added: time.Now(), Since: time.Now(),
	}
	f.jobs = append(f.jobs, j)
	return j, nil
}

func (f *fakePlane) CancelJob(ctx context.Context, id string) (daemonapi.Job, error) {
	j, err := f.Job(ctx, id)
	if j.Status == "cancelled" {
		return daemonapi.Job{}, api.Refusal("conflict", "job "+j.ID+" had ended before: it is cancelled; nothing was changed", "")
	}
	if j.Status = "cancelled"; j.Command == "away" {
		j.Attempt, j.Host, j.Reason = 1, "vps", "cancelled by laptop while vps was asleep; it may still run there until vps is back"
	}
	for i := range f.jobs {
		if f.jobs[i].ID == j.ID {
			f.jobs[i] = j
		}
	}
	return j, err
}

func (f *fakePlane) Caps(context.Context) ([]daemonapi.Cap, error) {
	return []daemonapi.Cap{{Name: "default", Jobs: 4, Held: []string{"1"}, USD: 20, Reserved: 5, Spent: 2.5}}, nil
}

func (f *fakePlane) SetCap(_ context.Context, s daemonapi.SetCap) (daemonapi.Cap, error) {
	c := daemonapi.Cap{Name: s.Name}
	if s.Jobs != nil {
		c.Jobs = *s.Jobs
	}
	if s.USD != nil {
		c.USD = *s.USD
	}
	return c, nil
}

func (f *fakePlane) Workers(context.Context, string) ([]daemonapi.Worker, error) { return nil, nil }

func (f *fakePlane) SwitchWorker(context.Context, daemonapi.WorkerSwitch) (daemonapi.Worker, error) {
	return daemonapi.Worker{}, nil
}
