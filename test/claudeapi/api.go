// Package claudeapi is a model API for tests of the real Claude Code client: it listens on
// loopback, answers from a script, and keeps every request.
//
//	api := claudeapi.New(t)
//	api.Script(claudeapi.Tool("Bash", map[string]any{"command": "make"}), claudeapi.Text("Built."))
//	api.On(claudeapi.Prompt("count the files"), claudeapi.Text("There are 3."))
//
// A request belongs to the first On rule that matches it, else to the main script, unless a
// subagent makes it. A rule or script gives its answers in order; when they are used up, and to a
// subagent without a rule, the answer is "Done.".
package claudeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// API is the fake. It is safe for concurrent use, as a client runs its agents at the same time.
type API struct {
	// URL is what the client wants as ANTHROPIC_BASE_URL.
	URL string

	closing chan struct{} // ends answers that are being held back

	mu       sync.Mutex
	rules    []*rule
	script   []Answer
	requests []Request
	arrived  chan struct{} // closed and replaced when a request is recorded
	tools    int           // tool calls so far: the client wants their ids to be unique
}

type rule struct {
	match   Match
	answers []Answer
}

// New starts an API that lives as long as the test.
func New(t testing.TB) *API { return start(t, httptest.NewUnstartedServer(nil)) }

// NewOn starts one at a place of the caller's choice.
func NewOn(t testing.TB, listener net.Listener) *API {
	return start(t, &httptest.Server{Listener: listener, Config: &http.Server{}})
}

func start(t testing.TB, server *httptest.Server) *API {
	a := &API{closing: make(chan struct{}), arrived: make(chan struct{})}
	server.Config.Handler = a
	server.Start()
	a.URL = server.URL
	t.Cleanup(func() {
		close(a.closing)
		server.CloseClientConnections()
		server.Close()
	})
	return a
}

// Script appends to the answers for the main agent's requests that no rule matches.
func (a *API) Script(answers ...Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.script = append(a.script, answers...)
}

// On gives the requests that match a script of their own: a subagent's by [Prompt], a
// supervisor's by [WithTool]. Earlier rules go first; a rule keeps its requests even when its
// answers are used up.
func (a *API) On(match Match, answers ...Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rules = append(a.rules, &rule{match, answers})
}

// ServeHTTP answers as the model API does, as far as the client asks.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodHead && r.URL.Path == "/":
		return
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		Error(http.StatusNotFound, "the fake API has no "+r.Method+" "+r.URL.Path).refuse(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	request, err := parse(r.Header, body)
	if err != nil {
		Error(http.StatusBadRequest, "the fake API cannot read this request: "+err.Error()).refuse(w)
		return
	}
	if request.isTitle() {
		a.send(w, r, request, Text(`{"title":"A test"}`))
		return
	}
	a.send(w, r, request, a.record(request))
}

// record keeps the request and takes the answer that is next for it, in one step: the order of
// Requests is the order in which the scripts were used.
func (a *API) record(r Request) Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r)
	close(a.arrived)
	a.arrived = make(chan struct{})

	answers := &a.script
	if r.AgentID != "" {
		answers = new([]Answer)
	}
	for _, rule := range a.rules {
		if rule.match(r) {
			answers = &rule.answers
			break
		}
	}
	if len(*answers) == 0 {
		return Text("Done.")
	}
	next := (*answers)[0]
	if !next.stays {
		*answers = (*answers)[1:]
	}
	return next
}

func (a *API) toolID() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools++
	return fmt.Sprintf("toolu_%04d", a.tools)
}

func (a *API) send(w http.ResponseWriter, r *http.Request, request Request, answer Answer) {
	answer = answer.to(request)
	if answer.status != 0 {
		if answer.hold(func() {}, r.Context().Done(), a.closing) {
			answer.refuse(w)
		}
		return
	}
	s := &stream{w: w, model: request.Model, toolID: a.toolID}
	s.start()
	if answer.hold(s.ping, r.Context().Done(), a.closing) {
		s.answer(answer)
	}
}

func (answer Answer) refuse(w http.ResponseWriter) {
	kind := "api_error"
	switch answer.status {
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range answer.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.status)
	json.NewEncoder(w).Encode(map[string]any{
		"type":  "error",
		"error": map[string]string{"type": kind, "message": answer.message},
	})
}
