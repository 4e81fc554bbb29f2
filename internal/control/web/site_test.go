package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// scene is a site that listens, with a plane that a test fills and a clock that it sets.
type scene struct {
	t     *testing.T
	plane *fakePlane
	site  *Site
	state string
	stop  context.CancelFunc

	mu  sync.Mutex
	now time.Time
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, plane: newFakePlane(), state: t.TempDir(), now: time.Now()}
	s.begin()
	t.Cleanup(func() { s.end() })
	return s
}

// begin is the site's life, from what an earlier one has left.
func (s *scene) begin() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.site = New(Options{Plane: s.plane, StateDir: s.state, Version: "test", Log: slog.New(slog.DiscardHandler), Now: s.clock})
	s.site.past.patience, s.site.glances.patience = time.Minute, time.Minute // a loaded machine takes its time
	s.site.Begin(ctx)
}

func (s *scene) end() {
	s.stop()
	s.site.Wait()
}

func (s *scene) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *scene) passes(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// ui asks for something as stopgate ui does.
func (s *scene) ui(c daemonapi.UIControl) daemonapi.UI {
	s.t.Helper()
	ui, err := s.site.Control(s.t.Context(), c)
	check(s.t, err)
	return ui
}

// visitor is a browser without a window.
type visitor struct {
	t    *testing.T
	base string
	*http.Client
}

// visitor makes a browser that has not signed in.
func (s *scene) visitor() *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	check(s.t, err)
	ui := s.site.URL()
	if ui == "" {
		ui = s.ui(daemonapi.UIControl{}).URL
	}
	return &visitor{t: s.t, base: ui, Client: &http.Client{Jar: jar, Transport: &http.Transport{}}}
}

// signedIn makes one that has.
func (s *scene) signedIn() *visitor {
	s.t.Helper()
	v := s.visitor()
	if r := v.get(s.ui(daemonapi.UIControl{}).Link); r.status != http.StatusOK {
		s.t.Fatalf("%+v", r)
	}
	return v
}

// reply is what a browser got.
type reply struct {
	status int
	header http.Header
	body   string
	path   string // after redirects
}

func (v *visitor) do(r *http.Request) reply {
	v.t.Helper()
	answer, err := v.Do(r)
	check(v.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(v.t, err)
	return reply{answer.StatusCode, answer.Header, string(body), answer.Request.URL.Path}
}

func (v *visitor) get(address string) reply {
	v.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = v.base + address
	}
	r, err := http.NewRequest(http.MethodGet, address, http.NoBody)
	check(v.t, err)
	return v.do(r)
}

// form is a form that is sent from the site's own page, as a browser does.
func (v *visitor) form(path string, values url.Values) *http.Request {
	v.t.Helper()
	r, err := http.NewRequest(http.MethodPost, v.base+path, strings.NewReader(values.Encode()))
	check(v.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", v.base)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

// csrf is the token that the forms of the browser's pages have.
func (v *visitor) csrf() string {
	v.t.Helper()
	u, err := url.Parse(v.base)
	check(v.t, err)
	for _, c := range v.Jar.Cookies(u) {
		return csrfOf(c.Value)
	}
	return ""
}

// hears puts a session into the journal that was blocked, with a text in every field.
func (s *scene) hears(text string) {
	s.t.Helper()
	r := filled[event.Record](text)
	r.Session = "0123456789abcdef"
	r.Kind, r.Event, r.Decision, r.Agent, r.Payload = event.Answered, "Stop", "block", event.SubagentRef{}, nil
	r.Trees[0].Gates[0].Outcome = "failed"
	_, err := journal.New(filepath.Join(s.state, "journal"), journal.Limits{}).Append(&r)
	check(s.t, err)
}

// URL is the address on this machine, "" while the site is off.
func (s *Site) URL() string {
	local, _ := s.ways()
	if local == nil {
		return ""
	}
	return local.url()
}
