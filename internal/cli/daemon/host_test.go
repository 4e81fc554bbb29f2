package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// What is old is faint as a whole; else states have their colours, in the same columns as without machines.
func TestIssue20WhatIsOldIsFaint(t *testing.T) {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	owner := func(id string, away daemonapi.Away) daemonapi.Owner {
		return daemonapi.Owner{ID: id, Name: "fix", Project: "/p", Step: "a", Status: ownerFailed, Error: "oops", Created: now, Away: away}
	}
	here, there, old := owner("1", daemonapi.Away{}), owner("2", daemonapi.Away{Host: "vps"}), owner("3", daemonapi.Away{Host: "vps", Heard: 250})
	lines := func(owners ...daemonapi.Owner) string {
		return strings.Join(ownerList(owners, "", false, func() time.Time { return now }).Lines(true, 200, 50), "\n")
	}

	const red, faint, reset = "\x1b[31m", "\x1b[2m", "\x1b[0m"
	for _, text := range []string{lines(here), lines(here, there)} {
		if !strings.Contains(text, red+"failed"+reset) || !strings.Contains(text, red+"oops"+reset) || strings.Contains(text, red+"fix") {
			t.Errorf("%q", text)
		}
	}
	if strings.Contains(lines(here), "HOST") {
		t.Error("one machine has a column for machines")
	}
	text := lines(there, old)
	_, last, _ := strings.Cut(text, "3 ")
	if !strings.Contains(last, faint+"vps, 4 min ago"+reset) || strings.Contains(last, red) || !strings.Contains(last, faint+"failed") {
		t.Errorf("%q", text)
	}
}

// The JSON of what is watched changes when something happens, and not with each second that a machine is silent.
func TestIssue20JSONStaysWhileNothingHappens(t *testing.T) {
	glimpse := func(heard float64) any {
		away := daemonapi.Away{Host: "vps", Heard: heard}
		agent, decision := daemonapi.Agent{ID: "a", Away: away}, daemonapi.Decision{ID: "d", Away: away}
		owner := daemonapi.Owner{ID: "o", Away: away, Agent: &agent, Decision: &decision}
		clock := func() time.Time { return time.Unix(0, 0) }
		var all []any
		for _, seen := range []term.Glimpse{
			&ownerShow{owner: owner, now: clock},
			ownersShow{{owner: owner}},
			ownerList([]daemonapi.Owner{owner}, "", false, clock),
			agentList([]daemonapi.Agent{agent}, clock), decisionList([]daemonapi.Decision{decision}, clock),
		} {
			all = append(all, steady{seen}.JSON())
		}
		if owner.Heard != heard || agent.Heard != heard || decision.Heard != heard {
			t.Error("it changed what it was given")
		}
		return all
	}
	if diff := cmp.Diff(glimpse(0.1), glimpse(59)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(glimpse(61), glimpse(62.5)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(glimpse(59), glimpse(61)) {
		t.Error("a minute of silence is not to be seen")
	}
}

// fleetDaemon answers as a machine of a fleet, whose daemon has no news.
func fleetDaemon(t *testing.T, state string) *Daemon {
	listener, err := net.Listen("unix", daemonapi.Socket(state))
	checktest.OK(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	mux.HandleFunc("GET /v1/fleet", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"lab","connected":true,"members":[{"name":"vps","user":"ada","state":"up"}]}`)
	})
	mux.HandleFunc("GET /v1/agents/{id}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":"0d9a4d52-6f1e","name":"worker","client":true,"status":"running","host":"vps","terminal":{"socket":"/s","session":"x"}}`)
	})
	mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"code":"not_found","error":"no such thing"}`)
	})
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return &Daemon{Client: daemonapi.At(state), stateDir: state, out: io.Discard, errOut: io.Discard}
}

// What other machines do is no news of this daemon, and is seen all the same: once.
func TestIssue20WatchLooksAfar(t *testing.T) {
	p := fleetDaemon(t, t.TempDir())
	var out strings.Builder
	p.out, p.asJSON = &out, true
	looks := 0
	checktest.OK(t, p.Watch(t.Context(), "", func(context.Context) (term.Glimpse, error) {
		looks++
		o := daemonapi.Owner{ID: "1", Status: ownerRunning, Away: daemonapi.Away{Host: "vps", Heard: float64(looks)}}
		if looks == 3 {
			o.Status = ownerDone
		}
		return ownersShow{{owner: o}}, nil
	}))
	if looks != 3 || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("looked %d times, want 3, and told:\n%s", looks, out.String())
	}
}

// The terminal of an agent on another machine is there: a person is told how to get to it.
func TestIssue20AttachingElsewhereNamesTheCommand(t *testing.T) {
	p := fleetDaemon(t, t.TempDir())
	_, err := p.terminalOf(t.Context(), "0d9a4d52-6f1e")
	c := term.Explain(err)
	if c.Code != term.ExitCouldNotRun || c.Message != "agent 0d9a4d52 worker on vps cannot be attached to from here" || c.Hint != "attach to it there with: ssh -t ada@vps stopgate agent attach 0d9a4d52" {
		t.Errorf("%+v, %v", c, errors.Unwrap(err))
	}
}
