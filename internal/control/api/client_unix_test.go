//go:build linux || darwin

package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// value drops what a call returned besides an error.
func value[T any](v T, err error) (any, error) { return v, err }

func TestClientAndServerAgree(t *testing.T) {
	p := &fakePlane{}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	ctx := t.Context()
	start := daemonapi.Start{ID: "0123456789abcdef", Project: "/p", Cwd: "/p", Command: "build", Args: []string{"a b", "ü\n"}}
	agent, run := *owner("run", "bb").Agent, owner("run", "bb")
	for name, test := range map[string]struct {
		ask   func() (any, error)
		want  any
		calls []string
	}{
		"version":   {func() (any, error) { return value(c.Version(ctx)) }, p.Version(), nil},
		"fleet":     {func() (any, error) { return value(c.Fleet(ctx)) }, p.Fleet(ctx), []string{"fleet"}},
		"on a host": {func() (any, error) { return value(c.Runs(ctx, daemonapi.Filter{Host: "vps"})) }, []daemonapi.Owner{run}, []string{"owners Kind=run Host=vps"}},
		"status":    {func() (any, error) { return value(c.Status(ctx)) }, p.Status(ctx), []string{"status"}},
		"commands":  {func() (any, error) { return value(c.Commands(ctx, "/a b&c")) }, []daemonapi.Command{}, []string{`commands "/a b&c"`}},
		"work":      {func() (any, error) { return value(c.Work(ctx, "/p", "q")) }, []daemonapi.WorkItem{item()}, []string{`work "/p" "q"`}},
		"item":      {func() (any, error) { return value(c.WorkItem(ctx, "01")) }, item(), []string{`item "01"`}},
		"retry":     {func() (any, error) { return value(c.RetryWork(ctx, "01")) }, item(), []string{`retry "01"`}},
		"drop":      {func() (any, error) { return value(c.DropWork(ctx, "01")) }, item(), []string{`drop "01"`}},
		"add": {func() (any, error) {
			return value(c.AddWork(ctx, daemonapi.AddWork{Project: "/p", Queue: "q", Items: []daemonapi.NewItem{{ID: "0123456789abcdef", Vars: map[string]string{"n": "7"}}}}))
		}, []daemonapi.WorkItem{item()}, []string{`add {Project:/p Queue:q Items:[{ID:0123456789abcdef Vars:map[n:7]}]}`}},
		"jobs": {func() (any, error) { return value(c.Jobs(ctx, daemonapi.Filter{Status: "pending,lost"})) }, []daemonapi.Job{aJob()}, []string{`jobs "" ["pending" "lost"]`}},
		"job":  {func() (any, error) { return value(c.Job(ctx, "01")) }, aJob(), []string{`job "01"`}},
		"add job": {func() (any, error) {
			return value(c.AddJob(ctx, daemonapi.AddJob{ID: "0123456789abcdef", ProjectName: "shop", Command: "fix"}))
		}, aJob(), []string{"add job {ID:0123456789abcdef ProjectName:shop Project: Command:fix Args:[] Needs:[] Only: OnLost: Cap: Reserve:0}"}},
		"cancel job": {func() (any, error) { return value(c.CancelJob(ctx, "01")) }, aJob(), []string{`cancel job "01"`}},
		"caps":       {func() (any, error) { return value(c.Caps(ctx)) }, []daemonapi.Cap{aCap()}, []string{"caps"}},
		"set cap":    {func() (any, error) { n := 4; return value(c.SetCap(ctx, daemonapi.SetCap{Name: "default", Jobs: &n})) }, aCap(), []string{"set cap default 4"}},
		"workers":    {func() (any, error) { return value(c.Workers(ctx, "/p")) }, []daemonapi.Worker{worker()}, []string{`workers "/p"`}},
		"worker": {func() (any, error) {
			return value(c.SwitchWorker(ctx, daemonapi.WorkerSwitch{Project: "/p", Name: "w", On: true}))
		}, worker(), []string{"worker {Project:/p Name:w On:true}"}},
		"schedules": {func() (any, error) { return value(c.Schedules(ctx, "/p")) }, schedules(), []string{`schedules "/p"`}},
		"switch": {func() (any, error) {
			return value(c.SwitchSchedules(ctx, daemonapi.ScheduleSwitch{Project: "/p", On: true}))
		}, schedules(), []string{"switch {Project:/p On:true}"}},
		"start":    {func() (any, error) { return value(c.Start(ctx, start)) }, owner("pipeline", start.ID), []string{fmt.Sprintf("start %+v", start)}},
		"some":     {func() (any, error) { return value(c.Pipelines(ctx, daemonapi.Filter{Status: "done"})) }, owners()[2:], []string{"owners Kind=pipeline Status=[done]"}},
		"none":     {func() (any, error) { return value(c.Runs(ctx, daemonapi.Filter{Status: "done"})) }, []daemonapi.Owner{}, []string{"owners Kind=run Status=[done]"}},
		"runs":     {func() (any, error) { return value(c.Runs(ctx, daemonapi.Filter{})) }, []daemonapi.Owner{run}, []string{"owners Kind=run"}},
		"pipeline": {func() (any, error) { return value(c.Owner(ctx, "a")) }, owner("pipeline", "aa"), []string{`owner "a"`}},
		"run":      {func() (any, error) { return value(c.Owner(ctx, "b")) }, run, []string{`owner "b"`, `owner "b"`}},
		"cancel":   {func() (any, error) { return value(c.Cancel(ctx, "a", daemonapi.Cancel{ID: "1"})) }, owner("pipeline", "aa"), []string{`owner "a"`, `cancel "aa" {ID:1 GiveUp:false}`}},
		"resume": {
			func() (any, error) {
				return value(c.Resume(ctx, "b", daemonapi.Resume{ID: "2", Message: "go", Vars: map[string]string{"k": "v"}}))
			},
			owner("pipeline", "bb"),
			[]string{`owner "b"`, `owner "b"`, `resume "bb" {ID:2 Message:go Vars:map[k:v]}`},
		},
		"agents":    {func() (any, error) { return value(c.Agents(ctx)) }, []daemonapi.Agent{agent}, []string{"agents "}},
		"agent":     {func() (any, error) { return value(c.Agent(ctx, "a1")) }, agent, []string{`agent "a1"`}},
		"decisions": {func() (any, error) { return value(c.Decisions(ctx, false)) }, []daemonapi.Decision{*decision("d1")}, []string{"decisions "}},
		"settled":   {func() (any, error) { return value(c.Decisions(ctx, true)) }, []daemonapi.Decision{*decision("d1")}, []string{"decisions Past=true"}},
		"decision":  {func() (any, error) { return value(c.Decision(ctx, "d1")) }, *decision("d1"), []string{`decision "d1"`}},
		"answer":    {func() (any, error) { return value(c.Answer(ctx, "d1", daemonapi.Answer{ID: "3", Option: "1"})) }, *decision("d1"), []string{`answer "d1" {ID:3 Option:1 Message: Answers:[]}`}},
		"answers": {func() (any, error) {
			return value(c.Answer(ctx, "d1", daemonapi.Answer{ID: "3", Answers: []string{"Red", "a, b"}}))
		}, *decision("d1"), []string{`answer "d1" {ID:3 Option: Message: Answers:[Red a, b]}`}},
		"send": {func() (any, error) { return value(c.Send(ctx, "a1", daemonapi.Send{ID: "4", Message: "go\non"})) }, agent, []string{`send "a1" {ID:4 Message:go` + "\n" + `on}`}},
		"kill": {func() (any, error) { return value(c.Kill(ctx, "a1", daemonapi.Kill{ID: "5"})) }, agent, []string{`kill "a1" {ID:5}`}},
		"workspaces": {
			func() (any, error) { return value(c.Workspaces(ctx)) },
			[]daemonapi.KeptWorkspace{{Name: "p-1", Path: "/w/p-1", Kind: "worktree", Owner: "a1"}},
			[]string{"workspaces"},
		},
		"remove a workspace": {
			func() (any, error) { return value(c.RemoveWorkspace(ctx, "p 1")) },
			daemonapi.KeptWorkspace{Name: "p 1"},
			[]string{`remove workspace "p 1"`},
		},
		"backup": {func() (any, error) { return nil, c.Backup(ctx, "/b") }, nil, []string{`backup "/b"`}},
		"prune": {
			func() (any, error) { return value(c.Prune(ctx, daemonapi.Prune{DryRun: true})) },
			daemonapi.Pruned{Owners: []daemonapi.PrunedOwner{{ID: "a1", Why: "age"}}, Events: 7},
			[]string{"prune true <nil>"},
		},
		"stop": {func() (any, error) { return nil, c.Stop(ctx, true) }, nil, []string{"stop true"}},
		"await": {
			func() (any, error) {
				return value(c.Await(ctx, "a1", "01CALL-sub_1", journal.Position{Segment: 3, Offset: 45}))
			},
			daemonapi.Reply{State: "answered", Option: "accept", Message: "yes\n\"now\" é", Answers: []string{"Red", "Apple, Plum"}},
			[]string{`reply "a1" "01CALL-sub_1" 3:45`},
		},
		"signal": {
			func() (any, error) { return value(c.Signal(ctx, "a1", journal.Position{Segment: 3, Offset: 45})) },
			daemonapi.Signal{Signaled: true, Kind: "complete", Message: "done\n\"now\" é"},
			[]string{`signal "a1" 3:45`},
		},
	} {
		p.took()
		got, err := test.ask()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(test.calls, p.took()); diff != "" {
			t.Errorf("%s: calls: %s", name, diff)
		}
	}
	if c.Skew() != "" {
		t.Errorf("skew %q", c.Skew())
	}
}

// A hook that is killed while it waits is known to be gone. One that waits when the daemon
// ends is answered, and does not keep it from ending.
func TestWhoWaitsIsKnown(t *testing.T) {
	for name, leave := range map[string]func(cancel, stop func()){
		"the hook is gone": func(cancel, stop func()) { cancel() },
		"the daemon ends":  func(cancel, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			begun, over := make(chan struct{}), make(chan struct{})
			p := &fakePlane{during: func(ctx context.Context) {
				close(begun)
				<-ctx.Done()
				close(over)
			}}
			socket, stop := serve(t, p)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			answered := make(chan error, 1)
			go func() {
				_, err := daemonapi.New(socket, "v1").Await(ctx, "a1", "r", journal.Position{})
				answered <- err
			}()
			<-begun
			leave(cancel, stop)
			<-over
			if err := <-answered; (err == nil) != (ctx.Err() == nil) {
				t.Errorf("the hook hears %v", err)
			}
		})
	}
}

func TestRequestIDsAreMade(t *testing.T) {
	p := &fakePlane{}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	for range 2 {
		_, err := c.Cancel(t.Context(), "aa", daemonapi.Cancel{})
		check(t, err)
	}
	calls := p.took()
	if calls[1] == calls[3] || len(calls[1]) != len(`cancel "aa" {ID:0123456789abcdef GiveUp:false}`) {
		t.Errorf("calls %q", calls)
	}
}

func TestFailuresReachTheClient(t *testing.T) {
	log := captureLog(t)
	p := &fakePlane{}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	for _, test := range []struct {
		err    error
		status int
		code   string
		hint   string
	}{
		{&Error{Failure: daemonapi.Failure{Code: "conflict", Error: "settled", Hint: "h"}}, 409, "conflict", "h"},
		{&Error{Status: 410, Failure: daemonapi.Failure{Code: "not_found", Error: "gone"}}, 410, "not_found", ""},
		{fmt.Errorf("wrapped: %w", &Error{Failure: daemonapi.Failure{Code: "untrusted", Error: "u"}}), 403, "untrusted", ""},
		{&Error{Failure: daemonapi.Failure{Code: "unavailable", Error: "disk full"}}, 503, "unavailable", ""},
		{&Error{Failure: daemonapi.Failure{Error: "without code"}}, 500, "internal", ""},
		{context.DeadlineExceeded, 503, "unavailable", ""},
		{errors.New("secret of the house"), 500, "internal", ""},
	} {
		p.failWith = test.err
		_, err := c.Signal(t.Context(), "a1", journal.Position{})
		wantFailure(t, err, test.status, test.code)
		if e, ok := errors.AsType[*daemonapi.Error](err); ok && (e.Hint != test.hint || strings.Contains(e.Error(), "secret")) {
			t.Errorf("%v: %+v", test.err, e)
		}
	}
	if !strings.Contains(log.String(), "secret of the house") {
		t.Errorf("the log has %q", log.String())
	}
}

// captureLog has what is logged until the test ends.
func captureLog(t *testing.T) *lockedBuffer {
	log := &lockedBuffer{}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return log
}

func TestAPanicIsA500(t *testing.T) {
	log := captureLog(t)
	p := &fakePlane{during: func(context.Context) { panic("oh no") }}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	_, err := c.Start(t.Context(), daemonapi.Start{Project: "/p", Cwd: "/p", Command: "x"})
	wantFailure(t, err, 500, "internal")
	if !strings.Contains(log.String(), "oh no") || !strings.Contains(log.String(), "fake_test.go") {
		t.Errorf("the log has %q", log.String())
	}
	p.events = func(context.Context, uint64) iter.Seq2[daemonapi.Event, error] {
		return func(func(daemonapi.Event, error) bool) { panic("oh no again") }
	}
	for _, err := range c.Events(t.Context(), "", 0) {
		wantFailure(t, err, 0, "internal")
	}
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("the server is gone: %v", err)
	}
}

func TestVersionsThatDiffer(t *testing.T) {
	socket, _ := serve(t, &fakePlane{})
	c := daemonapi.New(socket, "v2")
	if _, err := c.Status(t.Context()); err != nil || c.Skew() != "v1" {
		t.Errorf("skew %q, %v", c.Skew(), err)
	}
	for path, want := range map[string]string{"/v1/newer": `the daemon is stopgated v1, and you have "v2"`, "/v2/status": "supports /v1"} {
		err := c.Ask(t.Context(), "GET", path, nil, nil)
		wantFailure(t, err, 404, "not_found")
		if e, ok := errors.AsType[*daemonapi.Error](err); !ok || !strings.Contains(e.Hint, want) || !strings.Contains(e.Hint, "daemon restart") {
			t.Errorf("%s: %+v", path, e)
		}
	}
	err := c.Ask(t.Context(), "POST", "/v1/stop", map[string]any{"gently": true}, nil)
	if e, ok := errors.AsType[*daemonapi.Error](err); !ok || !strings.Contains(e.Error(), `"gently"`) || !strings.Contains(e.Hint, "daemon restart") {
		t.Errorf("%+v", e)
	}
}

func lines(t *testing.T, log iter.Seq2[string, error]) (got []string, err error) {
	t.Helper()
	for line, err := range log {
		if err != nil {
			return got, err
		}
		got = append(got, line)
	}
	return got, nil
}

func TestLog(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	p := &fakePlane{log: func(_ context.Context, to io.Writer) error {
		for _, text := range []string{"one\n\ntw", "o\r\n", long, "\nno end"} {
			if _, err := io.WriteString(to, text); err != nil {
				return err
			}
		}
		return nil
	}}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	want := []string{"one", "", "two\r", long[:64<<10], long[64<<10:], "no end"}
	for _, follow := range []bool{false, true} {
		got, err := lines(t, c.Log(t.Context(), "aa", follow))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("follow %v: %v %s", follow, err, diff)
		}
	}
	if got, err := lines(t, c.Log(t.Context(), "b", true)); len(got) != 6 || err != nil {
		t.Errorf("of a run: %d lines, %v", len(got), err)
	}
	want = []string{`owner "aa"`, `log "aa" false`, `owner "aa"`, `log "aa" true`, `owner "b"`, `owner "b"`, `log "bb" true`}
	if diff := cmp.Diff(want, p.took()); diff != "" {
		t.Error(diff)
	}
	_, err := lines(t, c.Log(t.Context(), "dd", false))
	wantFailure(t, err, 404, "not_found")
	p.log = func(context.Context, io.Writer) error { return nil }
	if got, err := lines(t, c.Log(t.Context(), "aa", false)); got != nil || err != nil {
		t.Errorf("an empty log: %q, %v", got, err)
	}
}

func TestALogThatFailsShows(t *testing.T) {
	captureLog(t)
	p := &fakePlane{}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	p.log = func(context.Context, io.Writer) error { return errors.New("disk") }
	_, err := lines(t, c.Log(t.Context(), "aa", false))
	wantFailure(t, err, 500, "internal")
	p.log = func(_ context.Context, to io.Writer) error {
		_, _ = io.WriteString(to, strings.Repeat("line\n", 100_000))
		return errors.New("disk")
	}
	for _, follow := range []bool{false, true} {
		if got, err := lines(t, c.Log(t.Context(), "aa", follow)); !errors.Is(err, daemonapi.ErrCut) {
			t.Errorf("follow %v: %d lines, error %v", follow, len(got), err)
		}
	}
}

func TestFollowedLogEndsWithTheDaemonOrTheClient(t *testing.T) {
	ended := make(chan struct{}, 2)
	p := &fakePlane{log: func(ctx context.Context, to io.Writer) error {
		_, _ = io.WriteString(to, "one\n")
		<-ctx.Done()
		ended <- struct{}{}
		return ctx.Err()
	}}
	socket, stop := serve(t, p)
	c := daemonapi.New(socket, "v1")
	for line, err := range c.Log(t.Context(), "aa", true) {
		if line != "one" || err != nil {
			t.Errorf("%q, %v", line, err)
		}
		break
	}
	<-ended
	n := 0
	for line, err := range c.Log(t.Context(), "aa", true) {
		if line != "one" || err != nil {
			t.Errorf("%q, %v", line, err)
		}
		n++
		go stop()
	}
	<-ended
	if n != 1 {
		t.Errorf("%d lines", n)
	}
}

// counting yields events from after+1 on.
func counting(ctx context.Context, after uint64) iter.Seq2[daemonapi.Event, error] {
	return func(yield func(daemonapi.Event, error) bool) {
		for n := after + 1; ctx.Err() == nil; n++ {
			now := owner("pipeline", "aa")
			if !yield(daemonapi.Event{Position: n, Owner: "aa", Cause: "a\nb", Time: when, Facts: []string{"step:waiting"}, Now: &now}, nil) {
				return
			}
		}
	}
}

func TestEvents(t *testing.T) {
	p := &fakePlane{events: counting}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	n := uint64(41)
	for e, err := range c.Events(t.Context(), "aa", n) {
		check(t, err)
		n++
		now := owner("pipeline", "aa")
		if diff := cmp.Diff(daemonapi.Event{Position: n, Owner: "aa", Cause: "a\nb", Time: when, Facts: []string{"step:waiting"}, Now: &now}, e); diff != "" {
			t.Fatal(diff)
		}
		if n == 141 {
			break
		}
	}
	if calls := p.took(); !slices.Equal(calls, []string{`events Owner=aa 41`}) {
		t.Errorf("calls %q", calls)
	}
	// An event may be larger than any buffer.
	p.events = func(context.Context, uint64) iter.Seq2[daemonapi.Event, error] {
		return func(yield func(daemonapi.Event, error) bool) {
			if yield(daemonapi.Event{Position: 1, Cause: strings.Repeat("x", 1<<20)}, nil) {
				yield(daemonapi.Event{}, &Error{Failure: daemonapi.Failure{Code: "not_found", Error: "trimmed"}})
			}
		}
	}
	var large int
	for e, err := range c.Events(t.Context(), "", 0) {
		if large == 0 {
			large = len(e.Cause)
			check(t, err)
		} else {
			wantFailure(t, err, 0, "not_found")
		}
	}
	if large != 1<<20 {
		t.Errorf("an event of %d bytes", large)
	}
}

func TestEventsEndWithTheDaemonOrTheContext(t *testing.T) {
	p := &fakePlane{events: counting}
	socket, stop := serve(t, p)
	c := daemonapi.New(socket, "v1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range c.Events(ctx, "", 0) {
		check(t, err)
		cancel()
	}
	for _, err := range c.Events(t.Context(), "", 0) {
		check(t, err)
		go stop()
	}
	stop()
	for _, err := range c.Events(t.Context(), "", 0) {
		if !errors.Is(err, daemonapi.ErrNotRunning) {
			t.Errorf("after the stop: %v", err)
		}
	}
}

// A stream that the daemon ends says that it ends: whoever asks then finds nobody, rather
// than one who hangs up.
func TestStreamsEndAfterTheSocket(t *testing.T) {
	for range 100 {
		socket, stop := serve(t, &fakePlane{events: counting})
		c := daemonapi.New(socket, "v1")
		seen := make(chan struct{}, 1)
		asked := make(chan error, 1)
		go func() {
			for range c.Events(t.Context(), "", 0) {
				select {
				case seen <- struct{}{}:
				default:
				}
			}
			_, err := c.Version(t.Context())
			asked <- err
		}()
		<-seen
		stop()
		if err := <-asked; !errors.Is(err, daemonapi.ErrNotRunning) {
			t.Fatal(err)
		}
	}
}

func TestLastEventIDCounts(t *testing.T) {
	p := &fakePlane{events: counting}
	socket, _ := serve(t, p)
	got := raw(t, socket, "GET /v1/events?after=3 HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 7\r\n\r\n", "id: 8\n")
	if !strings.Contains(got, "text/event-stream") || !slices.Equal(p.took(), []string{`events  7`}) {
		t.Errorf("%s", got)
	}
}

func TestStopLetsRequestsFinish(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	p := &fakePlane{during: func(ctx context.Context) {
		close(entered)
		<-leave
		if ctx.Err() != nil {
			t.Error("the request's context ended")
		}
	}}
	socket, stop := serve(t, p)
	answered := make(chan error, 1)
	go func() {
		_, err := daemonapi.New(socket, "v1").Start(context.Background(), daemonapi.Start{Project: "/p", Cwd: "/p", Command: "x"})
		answered <- err
	}()
	<-entered
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	for { // until nobody listens any more
		if _, err := daemonapi.New(socket, "v1").Version(t.Context()); errors.Is(err, daemonapi.ErrNotRunning) {
			break
		}
	}
	close(leave)
	check(t, <-answered)
	<-stopped
}

// needFiles is for a test with both ends of so many connections.
func needFiles(t *testing.T, connections uint64) {
	t.Helper()
	var limit syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur < 2*connections+50 {
		t.Skipf("only %d files may be open", limit.Cur)
	}
}

func TestTooManyConnections(t *testing.T) {
	needFiles(t, maxConns)
	p := &fakePlane{}
	socket, _ := serve(t, p)
	c := daemonapi.New(socket, "v1")
	for range maxConns {
		conn := dial(t, socket)
		// Each is known to be accepted.
		check(t, send(conn, "GET /v1/version HTTP/1.1\r\nHost: x\r\n\r\n"))
		if _, err := conn.Read(make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	_, err := c.Version(t.Context())
	wantFailure(t, err, http.StatusServiceUnavailable, "unavailable")
}

func TestTooManyStreams(t *testing.T) {
	needFiles(t, maxStreams)
	socket, _ := serve(t, &fakePlane{})
	c := daemonapi.New(socket, "v1")
	for range maxStreams {
		conn := dial(t, socket)
		defer conn.Close()
		check(t, send(conn, "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"))
		if got := readUntil(t, conn, ": stopgate"); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Fatal(got)
		}
	}
	if _, err := c.Version(t.Context()); err != nil {
		t.Errorf("a question beside streams: %v", err)
	}
	for _, err := range c.Events(t.Context(), "", 0) {
		wantFailure(t, err, http.StatusServiceUnavailable, "unavailable")
	}
	if _, err := c.Await(t.Context(), "0123456789abcdef", "r", journal.Position{Segment: 1, Offset: 1}); err != nil {
		t.Errorf("a hook that waits beside streams: %v", err)
	}
}

func BenchmarkSignal(b *testing.B) {
	socket, _ := serve(b, &quickPlane{})
	c := daemonapi.New(socket, "v1")
	for b.Loop() {
		if _, err := c.Signal(b.Context(), "0123456789abcdef", journal.Position{Segment: 1, Offset: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// quickPlane answers at once.
type quickPlane struct{ fakePlane }

func (*quickPlane) Signal(context.Context, string, journal.Position) (daemonapi.Signal, error) {
	return daemonapi.Signal{}, nil
}

// The client reads lists to their ends, or as far as it wants them.
func TestListsAreReadToTheirEnds(t *testing.T) {
	for want, most := range map[int]int{1234: 0, 7: 7, 1000: 1000, 1: 1} {
		p := &manyOwners{n: 1234}
		socket, _ := serve(t, p)
		owners, err := daemonapi.New(socket, "v1").Pipelines(t.Context(), daemonapi.Filter{Limit: most})
		check(t, err)
		if len(owners) != want || owners[want-1].ID != fmt.Sprintf("%04x", want-1) {
			t.Errorf("%d of %d", len(owners), want)
		}
		if calls := p.took(); len(calls) > 4 {
			t.Errorf("%d requests: %v", len(calls), calls)
		}
	}
}
