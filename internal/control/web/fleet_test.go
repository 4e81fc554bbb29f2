package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// lab is a fleet with a machine in each state.
func lab() daemonapi.Fleet {
	since := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	return daemonapi.Fleet{
		Name: "lab", Member: "laptop", Connected: true, Since: &since, Hubs: []string{"vps"},
		Members: []daemonapi.FleetMember{
			{Name: "laptop", User: "ada", State: "up", Version: "v1", Room: -1},
			{Name: "vps", User: "ada", Hub: true, State: "up", Heard: 1, Version: "v1", Agents: 2, Room: 3, Labels: []string{"gpu"}, Projects: []string{"shop"}},
			{Name: "desk", User: "bob", State: "silent", Heard: 251, Agents: 1},
			{Name: "pi", User: "ada", State: "lost", Heard: 7300},
			{Name: "tablet", User: "ada", State: "asleep", Heard: 3700},
			{Name: "new", User: "ada", State: "unknown"},
		},
	}
}

// shared puts work of two machines on the scene.
func (s *scene) shared() {
	here, there, old := sample(), sample(), sample()
	there.ID, there.Context, there.Away = strings.Repeat("2", 16), "Deploy there?", daemonapi.Away{Host: "vps", Heard: 1}
	old.ID, old.Context, old.Away = strings.Repeat("3", 16), "Deploy on the desk?", daemonapi.Away{Host: "desk", Heard: 251}
	running := daemonapi.Owner{ID: strings.Repeat("a", 16), Kind: "pipeline", Name: "build", Project: "/home/ada/shop", Status: "running", Created: time.Now(), Away: there.Away}
	stale := daemonapi.Owner{ID: strings.Repeat("b", 16), Kind: "pipeline", Name: "nightly", Project: "/home/ada/shop", Status: "running", Created: time.Now(), Away: old.Away}
	s.plane.set(func() {
		s.plane.fleet = lab()
		s.plane.decisions = []daemonapi.Decision{here, there, old}
		s.plane.owners = []daemonapi.Owner{running, stale}
	})
}

// Without a fleet there is nothing of one to be seen, but on its own page.
func TestIssue20WithoutAFleetNothingIsSaid(t *testing.T) {
	s := newScene(t)
	s.plane.set(func() { s.plane.decisions = []daemonapi.Decision{sample()} })
	v := s.signedIn()
	for _, path := range []string{"/", "/inbox", "/pipelines", "/sessions", "/enforcement"} {
		body := v.get(path).body
		for _, word := range []string{"/fleet", "/jobs", `class="host"`, "achine"} {
			if strings.Contains(body, word) {
				t.Errorf("%s has %q", path, word)
			}
		}
	}
	for _, path := range []string{"/fleet", "/jobs", "/jobs/0123456789abcdef"} {
		if r := v.get(path); r.status != http.StatusOK || !strings.Contains(r.body, "stopgate fleet init") {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

// Pages say on which machine something is, and how old what they show is.
func TestIssue20PagesNameTheMachine(t *testing.T) {
	s := newScene(t)
	s.shared()
	v := s.signedIn()
	const vps, desk = `<span class="unseen">on </span>vps</span>`, `<span class="unseen">on </span>desk</span>`
	for path, want := range map[string][]string{
		"/": {
			vps, desk, "as of 4 min ago", "desk has not reported for 4 min", "pi is lost: it has not reported for 2 h", "tablet has been asleep for 1 h", "new has never reported",
			"<b>2</b> running", "<b>3</b> agents", `href="/fleet"`,
		},
		"/inbox":                            {vps, desk, "desk last reported 4 min ago. It takes an answer when it is back."},
		"/inbox/" + strings.Repeat("3", 16): {desk, "desk last reported 4 min ago."},
		"/pipelines":                        {vps, desk, "as of 4 min ago", `<option value="vps">vps</option>`, `<option value=".">laptop</option>`},
		"/pipelines?host=desk":              {desk, `<option value="desk" selected>desk</option>`},
		"/sessions":                         {"Sessions on laptop, this machine."},
		"/fleet": {
			"Fleet lab", "Connected", "this machine", "desk has not reported for 4 min", "3 more jobs", "<dt>Room for</dt><dd>none now</dd>", "<dt>Room for</dt><dd>not known</dd>", "gpu", "shop", "never", "1 hub",
			`<span class="state bad">lost</span>`, `<span class="state warn">silent</span>`, `<span class="state good">up</span>`,
		},
	} {
		body := v.get(path).body
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s: no %q in %s", path, text, body)
			}
		}
	}
	if body := v.get("/pipelines?host=desk").body; strings.Contains(body, vps) {
		t.Errorf("another machine's: %s", body)
	}

	s.plane.set(func() { s.plane.fleet.Connected, s.plane.fleet.Error = false, "no hub answers" })
	if body := v.get("/").body; !strings.Contains(body, "This machine is not connected to the fleet lab") || strings.Contains(body, "desk has not reported") {
		t.Errorf("%s", body)
	}
	if body := v.get("/fleet").body; !strings.Contains(body, "Not connected") || !strings.Contains(body, "no hub answers") {
		t.Errorf("%s", body)
	}
}

// A decision on another machine is answered by the same form. One that is away refuses, and the person is told why.
func TestIssue20AnswersGoToTheirMachine(t *testing.T) {
	s := newScene(t)
	s.shared()
	v := s.signedIn()
	form := v.form("/inbox/"+strings.Repeat("2", 16)+"/answer", url.Values{"csrf": {v.csrf()}, "option": {"1"}})
	if r := v.do(form); r.status != http.StatusOK || len(s.plane.answers) != 1 {
		t.Errorf("%d, %v", r.status, s.plane.answers)
	}
	s.plane.set(func() {
		s.plane.refusal = &daemonapi.Error{Failure: daemonapi.Failure{Code: "unavailable", Error: "desk has not reported for 4 min; nothing was changed"}}
	})
	form = v.form("/inbox/"+strings.Repeat("3", 16)+"/answer", url.Values{"csrf": {v.csrf()}, "option": {"1"}})
	form.Header.Set("Stopgate-Script", "1")
	if r := v.do(form); r.status != http.StatusServiceUnavailable || r.body != "desk has not reported for 4 min; nothing was changed" {
		t.Errorf("%d %q", r.status, r.body)
	}
}
