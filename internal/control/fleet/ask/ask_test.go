package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Each route is decided about: what is not named is refused, and nothing is named that there is not.
func TestIssue20EveryRouteHasARightOrIsRefused(t *testing.T) {
	refused := []string{
		// of this machine alone
		"GET /v1/status", "GET /v1/fleet", "GET /v1/commands", "GET /metrics", "GET /v1/openapi.json",
		"POST /v1/backup", "POST /v1/prune", "POST /v1/stop", "POST /v1/ui",
		"GET /v1/workspaces", "POST /v1/workspaces/remove",
		"GET /v1/schedules", "POST /v1/schedules", "GET /v1/workers", "POST /v1/workers",
		"GET /v1/work", "GET /v1/work/{id}", "POST /v1/work", "POST /v1/work/{id}/retry", "POST /v1/work/{id}/drop",
		"GET /v1/queues", "GET /v1/sessions", "GET /v1/seen", "GET /v1/gates",
		// of the hooks of its agents
		"GET /v1/agents/{id}/signal", "GET /v1/agents/{id}/answer",
		// of the fleet: each machine asks it itself
		"GET /v1/jobs", "GET /v1/jobs/{id}", "POST /v1/jobs", "POST /v1/jobs/{id}/cancel", "GET /v1/caps", "POST /v1/caps",
		// without an end
		"GET /v1/events", "GET /v1/events/history",
	}
	known := map[string]bool{}
	for _, r := range api.Routes() {
		name := r.Method + " " + r.Path
		known[name] = true
		right, allowed := Needed(r)
		switch {
		case !allowed && !slices.Contains(refused, name):
			t.Errorf("%s is new: say in rights.go what others need for it, or here that it is not for them", name)
		case allowed && slices.Contains(refused, name):
			t.Errorf("%s is open to others", name)
		case allowed && r.Method != "GET" && right == config.FleetView:
			t.Errorf("%s changes something for those who may only look", name)
		}
	}
	for name := range needed {
		if !known[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestMay(t *testing.T) {
	allow := []config.FleetAllow{
		{User: "bob", May: []config.FleetRight{config.FleetAnswer}},
		{User: "*", May: []config.FleetRight{config.FleetView}},
		{User: "eve", May: nil},
	}
	for _, test := range []struct {
		allow []config.FleetAllow
		user  string
		right config.FleetRight
		want  bool
	}{
		{nil, "ann", config.FleetRun, true}, // it is her machine
		{nil, "bob", config.FleetView, false},
		{nil, "", config.FleetView, false}, // no record
		{allow, "", config.FleetView, false},
		{allow, "bob", config.FleetAnswer, true},
		{allow, "bob", config.FleetView, true},
		{allow, "bob", config.FleetRun, false},
		{allow, "eve", config.FleetView, true},
		{allow, "eve", config.FleetAnswer, false},
		{allow[2:], "eve", config.FleetView, false},
	} {
		if got := May(test.allow, "ann", test.user, test.right); got != test.want {
			t.Errorf("%q %s: %v", test.user, test.right, got)
		}
	}
	if May(nil, "", "", config.FleetView) {
		t.Error("without records everyone may")
	}
}

// receiver is a machine that answers with what it was asked.
type receiver struct {
	*link.Link
	mu    sync.Mutex
	asked []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	asked := fmt.Sprintf("%s %s %s by %s", q.Method, q.URL.RequestURI(), body, api.CallerOf(q.Context()))
	r.mu.Lock()
	r.asked = append(r.asked, asked)
	r.mu.Unlock()
	switch q.URL.Query().Get("tail") {
	case "9999":
		_, _ = io.Copy(w, io.LimitReader(zeros{}, link.MaxRequest+1))
	case "6666":
		panic("boom")
	default:
		w.Header().Set("Stopgate-Log-Size", "7")
		w.Header().Set("Set-Cookie", "no")
		_, _ = io.WriteString(w, asked)
	}
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// serve has a machine answer those who are allowed everything: all but mallory.
func serve(t testing.TB, f *linktest.Fleet) *receiver {
	r := &receiver{Link: f.Member("vps")}
	server := &Server{
		Handler: r, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Caller: func(member string, _ config.FleetRight) (string, bool) { return "ann", member != "mallory" },
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.Run(ctx, r.Link) }()
	t.Cleanup(func() { cancel(); <-done })
	laptop := f.Member("laptop")
	for { // it listens soon
		if _, err := Send(t.Context(), laptop, "v1", "vps", Request{Method: "GET", Path: "/v1/version"}); err == nil {
			break
		} else if !errors.Is(err, ErrNotSent) {
			t.Fatal(err)
		}
	}
	r.asked = nil
	return r
}

func TestRequestsAreAnswered(t *testing.T) {
	f := linktest.New(t)
	vps, laptop := serve(t, f), f.Member("laptop")
	start := `{"id":"0123456789abcdef","command":"fix","host":"vps","project_name":"shop"}`
	for _, test := range []struct {
		r      Request
		status int
		want   string
	}{
		{Request{"GET", "/v1/agents?limit=3", nil}, 200, "GET /v1/agents?limit=3  by ann on laptop"},
		{Request{"POST", "/v1/start", []byte(start)}, 200, "POST /v1/start " + start + " by ann on laptop"},
		{Request{"POST", "/v1/start", []byte(`{"project":"/etc","cwd":"/etc","command":"fix"}`)}, 400, "names a project"},
		{Request{"POST", "/v1/start", []byte(strings.Replace(start, "vps", "desk", 1))}, 400, "names a project"},
		{Request{"POST", "/v1/stop", []byte(`{}`)}, 403, "not for other machines"},
		{Request{"GET", "/v1/agents/aa/signal", nil}, 403, "not for other machines"},
		{Request{"GET", "/v2/agents", nil}, 404, "there is no"},
		{Request{"GET", "/v1/pipelines/aa/log?follow=1", nil}, 400, "cannot be followed"},
		{Request{"GET", "/v1/pipelines/aa/log?tail=9999", nil}, 413, "more than"},
		{Request{"GET", "/v1/pipelines/aa/log?tail=6666", nil}, 500, "internal"},
	} {
		a, err := Send(t.Context(), laptop, "v1", "vps", test.r)
		check(t, err)
		if a.Status != test.status || !strings.Contains(string(a.Body), test.want) {
			t.Errorf("%s %s: %d %.200s", test.r.Method, test.r.Path, a.Status, a.Body)
		}
		if a.Status == 200 && (a.Header.Get("Stopgate-Log-Size") != "7" || a.Header.Get("Set-Cookie") != "") {
			t.Errorf("its headers are %v", a.Header)
		}
	}
	before := vps.count()
	a, err := Send(t.Context(), f.Member("mallory"), "v1", "vps", Request{"GET", "/v1/agents", nil})
	check(t, err)
	if a.Status != 403 || vps.count() != before {
		t.Errorf("one who may nothing: %d %s", a.Status, a.Body)
	}
}

// A request is one by its subject and by where its answer goes: JetStream would deliver anything to anyone.
func TestIssue20MessagesThatAreNotRequestsAreDropped(t *testing.T) {
	f := linktest.New(t)
	vps, mallory := serve(t, f), f.Member("mallory")
	send := func(reply string) {
		m, err := Request{"POST", "/v1/agents/aa/kill", []byte(`{"id":"aa"}`)}.Encode(mallory.Ask("vps", "laptop"), "v1")
		check(t, err)
		m.Reply = reply
		check(t, mallory.Conn.PublishMsg(m))
	}
	send(link.Inbox("mallory") + ".x")
	send(mallory.Ask("desk", "vps"))
	send("")
	// What mallory has stored under its own view is delivered to the subject of a request of laptop.
	stored, err := Request{"POST", "/v1/agents/aa/kill", []byte(`{"id":"aa"}`)}.Encode(mallory.View("mallory", "laptop"), "v1")
	check(t, err)
	_, err = mallory.JS.PublishMsg(t.Context(), stored)
	check(t, err)
	pull := fmt.Sprintf(`{"stream_name":%q,"config":{"name":"x","ack_policy":"none","filter_subject":%q}}`, mallory.ViewStream(), stored.Subject)
	_, err = mallory.Conn.Request("$JS.API.CONSUMER.CREATE."+mallory.ViewStream()+".x."+stored.Subject, []byte(pull), time.Minute)
	check(t, err)
	check(t, mallory.Conn.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+mallory.ViewStream()+".x", mallory.Ask("vps", "laptop"), nil))
	consumer, err := mallory.Views.Consumer(t.Context(), "x")
	check(t, err)
	checktest.Eventually(t, "it was delivered", func() bool {
		info, err := consumer.Info(t.Context())
		check(t, err)
		return info.Delivered.Consumer == 1
	})
	// A request that comes after all of that is answered.
	_, err = Send(t.Context(), f.Member("laptop"), "v1", "vps", Request{"GET", "/v1/agents", nil})
	check(t, err)
	if vps.count() != 1 {
		t.Errorf("it was asked %q", vps.asked)
	}
}

func TestWhenNothingWasChanged(t *testing.T) {
	f := linktest.New(t)
	laptop := f.Member("laptop")
	r := Request{"POST", "/v1/agents/aa/kill", nil}
	if _, err := Send(t.Context(), laptop, "v1", "nowhere", r); !errors.Is(err, ErrNotSent) {
		t.Errorf("none takes it: %v", err)
	}
	if _, err := Send(t.Context(), laptop, "v1", "vps", Request{"POST", "/v1/start", make([]byte, link.MaxRequest)}); !errors.Is(err, ErrNotSent) {
		t.Errorf("too large: %v", err)
	}
	vps := f.Member("vps")
	asked := make(chan []byte, 2)
	_, err := vps.Conn.Subscribe(vps.Ask("vps", "*"), func(m *nats.Msg) { asked <- m.Data })
	check(t, err)
	check(t, vps.Conn.Flush())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := Send(ctx, laptop, "v1", "vps", r); !errors.Is(err, ErrUnknown) {
		t.Errorf("it took it and said nothing: %v", err)
	}
	f.Server.Shutdown()
	f.Server.WaitForShutdown()
	checktest.Eventually(t, "the connection is lost", func() bool { return !laptop.Conn.IsConnected() })
	if _, err := Send(t.Context(), laptop, "v1", "vps", r); !errors.Is(err, ErrNotSent) {
		t.Errorf("without a server: %v", err)
	}
}

// BenchmarkRequest is a request to another machine and its answer, by one hub.
func BenchmarkRequest(b *testing.B) {
	f := linktest.New(b)
	serve(b, f)
	laptop := f.Member("laptop")
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		a, err := Send(b.Context(), laptop, "v1", "vps", Request{"POST", "/v1/decisions/aa/answer", []byte(`{"id":"aa","option":"yes"}`)})
		if check(b, err); a.Status != http.StatusOK {
			b.Fatalf("%d %s", a.Status, a.Body)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add("GET", "/v1/agents?limit=3", "x-y: z", []byte("{}"))
	f.Add("POST", "/../v1//stop#x", "", []byte(nil))
	server := &Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if route, found := api.Find(r.Method, r.URL.EscapedPath()); !found || needed[route.Method+" "+route.Path] == "" {
				panic("the API sees another path than the rights were checked for: " + r.URL.EscapedPath())
			}
		}),
		Caller: func(string, config.FleetRight) (string, bool) { return "ann", true },
		Log:    slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	f.Fuzz(func(t *testing.T, method, path, other string, body []byte) {
		m := nats.NewMsg("sg.test.api.vps.laptop")
		m.Header.Set(methodHeader, method)
		m.Header.Set(pathHeader, path)
		m.Header.Set("X", other)
		m.Data = body
		a := server.answer(t.Context(), "laptop", "vps", m)
		if a.Status == http.StatusInternalServerError {
			t.Fatalf("%s %q: %s", method, path, a.Body)
		}
		again, err := decodeAnswer(a.Encode())
		if err != nil || again.Status != a.Status || !bytes.Equal(again.Body, a.Body) {
			t.Errorf("%+v: %v", again, err)
		}
	})
}
