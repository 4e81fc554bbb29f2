//go:build unix

package top

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
)

// daemon is one that answers as it is told to.
type daemon struct {
	t      *testing.T
	socket string
	server *httptest.Server

	mu      sync.Mutex
	asked   []string          // paths with queries
	answers map[string]any    // by path; an empty list where there is none
	events  chan string       // server-sent
	refuse  daemonapi.Failure // of every POST, where it says something
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "top") // a socket's path is short
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &daemon{t: t, socket: filepath.Join(dir, "daemon.sock"), events: make(chan string), answers: map[string]any{"/v1/status": daemonapi.Status{Events: 7}, "/v1/fleet": daemonapi.Fleet{}}}
	return d
}

// begin has it listen.
func (d *daemon) begin() {
	d.t.Helper()
	listener, err := net.Listen("unix", d.socket)
	check(d.t, err)
	d.server = httptest.NewUnstartedServer(d)
	d.server.Listener.Close()
	d.server.Listener = listener
	d.server.Start()
	d.t.Cleanup(d.end)
}

func (d *daemon) end() {
	d.server.CloseClientConnections()
	d.server.Close()
	_ = os.Remove(d.socket)
}

func (d *daemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.asked = append(d.asked, r.Method+" "+r.URL.String())
	answer, known := d.answers[r.URL.Path]
	refuse := d.refuse
	d.mu.Unlock()
	switch {
	case r.URL.Path == "/v1/events":
		d.stream(w, r)
		return
	case r.Method == "POST" && refuse.Error != "":
		w.WriteHeader(http.StatusConflict)
		answer = refuse
	case !known:
		answer = []any{}
	case r.URL.Path == "/v1/pipelines":
		w.Header().Set("Link", `</v1/pipelines?cursor=abc&limit=500>; rel="next"`)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (d *daemon) stream(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, ": begins\n\n")
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case text := <-d.events:
			fmt.Fprint(w, text)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// happens sends an event.
func (d *daemon) happens(o daemonapi.Owner) {
	text, err := json.Marshal(daemonapi.Event{Owner: o.ID, Now: &o})
	check(d.t, err)
	d.events <- "data: " + string(text) + "\n\n"
}

func (d *daemon) requests() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.asked...)
}

// watch has a source watch the daemon until the test ends. It returns what is told.
func (d *daemon) watch() (*Source, <-chan any) {
	s := NewSource(daemonapi.New(d.socket, "test"), filepath.Dir(d.socket))
	s.now = func() time.Time { return noon }
	told := make(chan any, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Watch(ctx, func(event any) { told <- event })
	}()
	d.t.Cleanup(func() { cancel(); <-done })
	return s, told
}

// next is the next event of that type; others are passed over.
func nextOf[T any](t *testing.T, told <-chan any) (event T) {
	t.Helper()
	for {
		select {
		case got := <-told:
			if event, is := got.(T); is {
				return event
			}
		case <-time.After(time.Minute):
			t.Fatalf("no %v comes", reflect.TypeFor[T]())
		}
	}
}

// A daemon that comes is found, what it has is told, and what happens since; one that goes is told, and
// found again.
func TestWatch(t *testing.T) {
	d := newDaemon(t)
	_, told := d.watch()
	nextOf[Down](t, told)
	d.answers["/v1/runs"] = []daemonapi.Owner{{ID: "p1", Status: "running", Created: noon, USD: 2}}
	d.answers["/v1/sessions"] = []daemonapi.Session{{Session: "s"}}
	d.begin()
	up := nextOf[Up](t, told)
	if o := up.World.Owners["p1"]; o.Status != "running" || up.World.Spent["p1"] != 2 || len(up.World.Sessions) != 1 || up.World.Status.Events != 7 {
		t.Errorf("%+v", up.World)
	}
	d.happens(daemonapi.Owner{ID: "p1", Status: "waiting"})
	if got := nextOf[Changed](t, told); len(got.Owners) != 1 || got.Owners[0].Status != "waiting" {
		t.Errorf("%+v", got)
	}
	d.end()
	nextOf[Down](t, told)
	d.begin()
	nextOf[Up](t, told)

	var lists int
	for _, asked := range d.requests() {
		method, path, _ := strings.Cut(asked, " ")
		isList := strings.HasPrefix(path, "/v1/pipelines?") || strings.HasPrefix(path, "/v1/runs?") || strings.HasPrefix(path, "/v1/sessions?") || strings.HasPrefix(path, "/v1/work?") || strings.HasPrefix(path, "/v1/gates?")
		if isList {
			lists++
		}
		if method != "GET" || isList && !strings.Contains(path, "limit=") {
			t.Errorf("asked without a limit: %s", asked)
		}
		if strings.HasPrefix(path, "/v1/events") && path != "/v1/events?after=7" {
			t.Errorf("events from another position than the list's: %s", path)
		}
	}
	if lists == 0 {
		t.Error("no list was asked for")
	}
}

// Many events at once are told together.
func TestEventsAreToldTogether(t *testing.T) {
	d := newDaemon(t)
	d.begin()
	_, told := d.watch()
	nextOf[Up](t, told)
	const many = 500
	for i := range many {
		d.happens(daemonapi.Owner{ID: fmt.Sprintf("p%d", i%3), Worked: float64(i)})
	}
	times, last := 0, 0.0
	for last < many-1 {
		times++
		for _, o := range nextOf[Changed](t, told).Owners {
			last = max(last, o.Worked)
		}
	}
	if times > many/10 {
		t.Errorf("%d events were told in %d parts", many, times)
	}
}

// A page of a list may link to the next one. It is not asked for.
func TestOnlyOnePageIsAskedFor(t *testing.T) {
	d := newDaemon(t)
	page := make([]daemonapi.Owner, maxLive)
	for i := range page {
		page[i] = daemonapi.Owner{ID: fmt.Sprint(i), Status: "running", Created: noon}
	}
	d.answers["/v1/pipelines"] = page
	d.begin()
	_, told := d.watch()
	if up := nextOf[Up](t, told); !up.World.More || len(up.World.Owners) != maxLive {
		t.Errorf("%t, %d", up.World.More, len(up.World.Owners))
	}
	for _, asked := range d.requests() {
		if strings.Contains(asked, "cursor=") {
			t.Error(asked)
		}
	}
}

func TestDetails(t *testing.T) {
	d := newDaemon(t)
	agent := daemonapi.Agent{ID: "a1", ClaudeCode: true, Session: "claude-session"}
	d.answers["/v1/pipelines/p1"] = daemonapi.Owner{ID: "p1", Agent: &agent}
	d.answers["/v1/agents/a1"] = agent
	d.answers["/v1/agents/a1/conversation"] = daemonapi.Conversation{Messages: []daemonapi.Message{{Kind: "words", Text: "hello"}}}
	gateLog := filepath.Join(kept.Dir(filepath.Dir(d.socket)), "shop", "1.log")
	check(t, os.MkdirAll(filepath.Dir(gateLog), 0o700))
	check(t, os.WriteFile(gateLog, []byte("it failed\n"), 0o600))
	failed := []daemonapi.GateTree{{Gates: []daemonapi.Gate{{Job: "lint", Outcome: "passed"}, {Job: "test", Outcome: "failed", Log: gateLog}}}}
	d.answers["/v1/agents"] = []daemonapi.Agent{{ID: "a2", Session: "of-an-agent"}}
	d.answers["/v1/gates"] = []daemonapi.GateRun{{ID: "g0", Pane: "%3", Session: "of-an-agent"}, {ID: "g1", Decision: "block", Pane: "%3", Trees: failed}}
	d.answers["/v1/decisions/d1"] = daemonapi.Decision{ID: "d1"}
	d.answers["/v1/sessions"] = []daemonapi.Session{{Session: "s", Pane: "%3", PID: 7, Socket: "/x"}}
	d.answers["/v1/queues"] = []daemonapi.SessionQueue{{Session: "s", Done: 2}}
	d.answers["/v1/pipelines/p2"] = daemonapi.Owner{ID: "p2"}
	d.answers["/v1/pipelines/p2/log"] = "the log"
	d.begin()
	s, _ := d.watch()
	ctx := t.Context()
	if got := s.Show(ctx, Ref{OwnerRow, "p2"}); got.Err != nil || len(got.Detail.Log) != 1 {
		t.Errorf("a pipeline without an agent: %+v", got)
	}

	if got := s.Show(ctx, Ref{OwnerRow, "p1"}); got.Err != nil || got.Detail.Owner.ID != "p1" || len(got.Detail.Messages) != 1 || got.Detail.Stop == nil {
		t.Errorf("a pipeline: %+v", got)
	}
	if got := s.Show(ctx, Ref{AgentRow, "a1"}); got.Err != nil || got.Detail.Agent.ID != "a1" || len(got.Detail.Messages) != 1 || got.Detail.Stop.ID != "g0" {
		t.Errorf("an agent: %+v", got)
	}
	if got := s.Show(ctx, Ref{DecisionRow, "d1"}); got.Err != nil || got.Detail.Decision.ID != "d1" {
		t.Errorf("a decision: %+v", got)
	}
	if got := s.Show(ctx, Ref{SessionRow, "%3 7 /x"}); got.Err != nil || got.Detail.Queue.Done != 2 || got.Detail.Stop.ID != "g1" || strings.Join(got.Detail.GateLog, "") != "it failed" {
		t.Errorf("a session: %+v", got)
	}
	if got := s.Show(ctx, Ref{SessionRow, "%9 7 /x"}); got.Err == nil {
		t.Errorf("a session that is gone: %+v", got)
	}
	if got := s.Show(ctx, Ref{StopRow, "g1"}); got.Err != nil || got.Detail.Stop.ID != "g1" {
		t.Errorf("a stop: %+v", got)
	}
}

// The journal names the logs of gates. Only those that stopgate keeps are read.
func TestALogThatIsNotOurs(t *testing.T) {
	state := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret.log")
	check(t, os.WriteFile(secret, []byte("a secret\n"), 0o600))
	link := filepath.Join(kept.Dir(state), "shop", "1.log")
	check(t, os.MkdirAll(filepath.Dir(link), 0o700))
	check(t, os.Symlink(secret, link))
	s := NewSource(nil, state)
	for _, path := range []string{secret, link} {
		d := Detail{}
		s.addStop(&d, &daemonapi.GateRun{Trees: []daemonapi.GateTree{{Gates: []daemonapi.Gate{{Outcome: "failed", Log: path}}}}})
		if got := strings.Join(d.GateLog, " "); strings.Contains(got, "a secret") || !strings.HasPrefix(got, "(cannot be read: ") {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestAnAnswerThatIsRefused(t *testing.T) {
	d := newDaemon(t)
	d.refuse = daemonapi.Failure{Code: "conflict", Error: "it is settled"}
	d.begin()
	s, _ := d.watch()
	if got := s.Answer(t.Context(), Answer{"d1", daemonapi.Answer{Option: "approve"}}); daemonapi.Code(got.Err) != "conflict" {
		t.Errorf("%+v", got)
	}
}

// What other machines do is no event of this daemon. It is asked for, and only in a fleet.
func TestIssue20OtherMachinesAreAskedFor(t *testing.T) {
	d := newDaemon(t)
	d.answers["/v1/fleet"] = daemonapi.Fleet{Name: "lab", Connected: true}
	d.answers["/v1/runs"] = []daemonapi.Owner{{ID: "here", Status: "running"}, {ID: "there", Status: "running", Away: daemonapi.Away{Host: "vps"}}}
	d.begin()
	_, told := d.watch()
	if up := nextOf[Up](t, told); up.World.Fleet.Name != "lab" {
		t.Errorf("%+v", up.World.Fleet)
	}
	for _, o := range nextOf[Changed](t, told).Owners {
		if o.ID != "there" {
			t.Errorf("%+v", o)
		}
	}
}
