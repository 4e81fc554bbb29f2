package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

func TestIssue18SessionsWithThoseThatNeedAPersonFirst(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	wants(t, v.get("/sessions").body, "No session yet.", "stopgate hooks install")

	at := s.clock().Add(-time.Hour)
	for i, r := range []event.Record{
		{Event: "SessionEnd", Session: "ended-1"},
		{Event: "Notification", Session: "asking-1", Enums: event.Enums{NotificationType: "permission_prompt"}},
		{Event: "Stop", Session: "blocked-1", Project: "/home/me/shop", Decision: "block", Verdicts: []event.Verdict{{Keeper: "protect", Outcome: "failed", Blocked: true, Message: "the tests were weakened"}}},
		{Event: "Stop", Session: "gave-up-1", Decision: "allow", Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "failed", Status: "retry_limit_exceeded", Message: "lint"}}},
		{Event: "UserPromptSubmit", Session: "busy-1"},
		{Event: "Stop", Session: "doctor-1", Decision: "block", Verdicts: []event.Verdict{{Keeper: "gates"}}},
		{Event: "SessionStart", Session: "stopped-1"},
	} {
		r.Time = at.Add(time.Duration(i) * time.Minute)
		s.record(r)
	}
	body := v.get("/sessions").body
	last := -1
	for _, id := range []string{"gave-up-1", "asking-1", "blocked-1", "busy-1", "stopped-1", "ended-1"} {
		place := strings.Index(body, `id="s-`+id+`"`)
		if place <= last {
			t.Errorf("%s is at %d, after %d", id, place, last)
		}
		last = place
	}
	wants(t, body, "Blocked: the tests were weakened", "Allowed although the gates still fail", `href="/sessions/blocked-1"`)
	for path, page := range map[string]string{"/sessions": body, "/": v.get("/").body} {
		if strings.Contains(page, "doctor-1") {
			t.Errorf("%s lists what doctor tries", path)
		}
	}

	seen, err := s.site.Seen() // as other programs are told
	check(t, err)
	states := map[string]string{}
	for _, one := range seen {
		states[one.ID] = one.State
	}
	if len(seen) != 6 || states["gave-up-1"] != "gave_up" || states["asking-1"] != "asking" || states["ended-1"] != "ended" {
		t.Errorf("%+v", seen)
	}

	body = v.get("/sessions?show=blocked").body
	if strings.Contains(body, "busy-1") || !strings.Contains(body, "blocked-1") {
		t.Error(body)
	}
	body = v.get("/sessions?q=shop").body
	if strings.Contains(body, "busy-1") || !strings.Contains(body, "blocked-1") {
		t.Error(body)
	}
	wants(t, v.get("/sessions?q=nothing-like-it").body, "No such session.")
}

func TestIssue18SessionsAreBounded(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	for i := range 3 * pageSize {
		s.record(event.Record{Event: "SessionStart", Session: fmt.Sprintf("s%03d", i), Project: "/" + strings.Repeat("p", 10_000)})
	}
	seen := map[string]bool{}
	link := lazyregexp.New(`id="s-(s\d+)"`).Get()
	for address, pages := "/sessions", 0; address != ""; pages++ {
		r := v.get(address)
		if pages > 3 || len(r.body) > 100<<10 {
			t.Fatalf("%d pages, %d bytes", pages, len(r.body))
		}
		for _, m := range link.FindAllStringSubmatch(r.body, -1) {
			seen[m[1]] = true
		}
		address = moreLink(r.body)
	}
	if len(seen) != 3*pageSize {
		t.Errorf("%d sessions", len(seen))
	}
	for _, from := range []string{"-1", "99999999999999999999", "x", "1000000"} {
		if r := v.get("/sessions?from=" + from); r.status != http.StatusOK {
			t.Errorf("%s: %d", from, r.status)
		}
	}
}

// moreLink is the address behind "More" or "Earlier".
func moreLink(body string) string {
	m := lazyregexp.New(`class="more"><a href="([^"]+)"`).Get().FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// message is something in a transcript.
func message(at int64, when time.Time, kind, text string) daemonapi.Message {
	return daemonapi.Message{At: at, Time: &when, Kind: kind, Text: text}
}

func TestIssue18SessionIsOneLane(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	const id = "8f3c2a10-1111"
	begin := s.clock().Add(-time.Hour)
	s.record(event.Record{Event: "SessionStart", Session: id, Time: begin, Pane: "%3"})
	s.record(event.Record{Event: "UserPromptSubmit", Session: id, Time: begin.Add(time.Minute)})
	s.record(event.Record{Event: "PostToolUse", Session: id, Time: begin.Add(2 * time.Minute)})
	blocked := s.blockedStop(id)
	blocked.Time = begin.Add(10 * time.Minute)
	call := s.record(blocked)
	s.record(event.Record{Session: "other", Decision: "block", Time: begin.Add(11 * time.Minute), Verdicts: []event.Verdict{{Keeper: "guard", Blocked: true, Message: "not of this session"}}})
	s.record(event.Record{Session: id, Project: "/home/me/shop", Decision: "allow", Time: begin.Add(20 * time.Minute), Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "passed", Status: "passed"}}, Trees: []event.Tree{{
		Root: "/home/me/shop", Status: "passed", Gates: []event.Gate{{Job: "check:.:vet", Outcome: event.GatePassed}},
	}}})
	body := v.get("/sessions/" + id).body
	wants(t, body, "A prompt", "transcript, which no longer exists")

	s.plane.set(func() {
		s.plane.messages = []daemonapi.Message{
			message(1, begin.Add(time.Minute), "prompt", "Let people log in."), message(2, begin.Add(2*time.Minute), "words", "I will."),
		}
		s.plane.spent = []Spent{{begin.Add(time.Minute), 0.1, 10}, {begin.Add(15 * time.Minute), 1.25, 1000}}
		s.plane.sessions = []daemonapi.Session{{Session: "work", Pane: "%3", State: "free"}}
		s.plane.queues = []daemonapi.SessionQueue{{Session: "work", Done: 1, Commands: []daemonapi.SessionCommand{{ID: 1, Command: "/clear", Status: "done"}, {ID: 2, Command: "write the docs", Status: "pending"}}}}
		s.plane.agents = []daemonapi.Agent{{ID: "0123", Name: "builder", Owner: "0123456789abcdef", Step: "build", Session: id}}
	})
	s.passes(time.Minute) // what was read of the transcript is old by then
	body = v.get("/sessions/" + id).body
	order(
		t, body, "Allowed: 1 gate passed", "write the docs", "$1.25 by the agent", "$0.08 by reviews", "What happened", "Allowed: 1 gate passed",
		"Blocked: lint and review quality in src failed", "cart.sh:3: unused variable", "src/login.sh:3", "Let people log in.", "The session began",
	)
	wants(t, body, `href="/stops/`+call+`"`, "agent <b>builder</b>", "step build", "1 of 2 done", "stopgate why "+id, "data-chart=", "As a table", "1 from proofs")
	for _, not := range []string{"not of this session", "A prompt", "I will."} {
		if strings.Contains(body, not) {
			t.Errorf("it has %q", not)
		}
	}
}

// order checks that texts stand in a page one after the other.
func order(t *testing.T, body string, texts ...string) {
	t.Helper()
	at := 0
	for _, text := range texts {
		next := strings.Index(body[at:], text)
		if next < 0 {
			t.Fatalf("%q is not behind %.200q", text, body[max(0, at-50):])
		}
		at += next + len(text)
	}
}

func TestIssue18SessionInParts(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	begin := s.clock().Add(-24 * time.Hour)
	var messages []daemonapi.Message
	const all = 2*mostInLane + 5
	for i := range all {
		at := begin.Add(time.Duration(i) * time.Minute)
		messages = append(messages, message(int64(i+1), at.Add(-time.Second), "prompt", fmt.Sprintf("prompt number %d.", i)))
		call := s.record(event.Record{Kind: event.Received, Session: "s", Time: at})
		s.record(event.Record{Call: call, Session: "s", Decision: "allow", Time: at, Verdicts: []event.Verdict{{Keeper: "guard", Outcome: "passed", Message: fmt.Sprintf("stop number %d.", i)}}})
		s.record(event.Record{Session: "noise", Decision: "allow", Time: at})
	}
	s.plane.set(func() { s.plane.messages = messages })
	counts := map[string]int{}
	for address, pages := "/sessions/s", 0; address != ""; pages++ {
		r := v.get(address)
		if pages > 4 || r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, address)
		}
		for i := range all {
			for _, kind := range []string{"prompt", "stop"} {
				text := fmt.Sprintf("%s number %d.", kind, i)
				if _, items, _ := strings.Cut(r.body, "What happened"); strings.Contains(items, text) {
					counts[text]++
				}
			}
		}
		if strings.Contains(r.body, "No answer") {
			t.Errorf("%s has a stop without its answer", address)
		}
		address = moreLink(r.body)
	}
	for text, n := range counts {
		if n != 1 {
			t.Errorf("%q is there %d times", text, n)
		}
	}
	if len(counts) != 2*all {
		t.Errorf("%d of %d", len(counts), 2*all)
	}
}

func TestIssue18SessionThatIsNotThere(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	s.record(event.Record{Session: "here", Decision: "allow"})
	for _, address := range []string{"/sessions/none", "/sessions/her", "/sessions/" + strings.Repeat("a", 300), "/sessions/here?before=x", "/sessions/here?before=1:2~-1", "/sessions/%00", "/sessions/..%2fx"} {
		if r := v.get(address); r.status != http.StatusNotFound {
			t.Errorf("%.60s: %d", address, r.status)
		}
	}
}

func TestIssue18SessionPagesAreHarmless(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	id := strings.NewReplacer("/", "", "\x00", "").Replace(hostile) // which no path has
	s.record(event.Record{Event: "SessionStart", Session: id, Project: hostile, Pane: hostile, Enums: event.Enums{Source: hostile}})
	s.record(event.Record{Event: "SessionEnd", Session: id, Project: hostile, Enums: event.Enums{Reason: hostile}})
	s.record(event.Record{Event: "PermissionRequest", Session: id, Enums: event.Enums{ToolName: hostile}})
	s.record(s.hostileStop(id))
	at := s.clock()
	s.plane.set(func() {
		s.plane.messages = []daemonapi.Message{message(1, at, "prompt", hostile+strings.Repeat("x", 1<<20))}
		s.plane.sessions = []daemonapi.Session{{Session: hostile, Pane: hostile, State: "free"}}
		s.plane.queues = []daemonapi.SessionQueue{{Session: hostile, Why: hostile, Fault: hostile, Ended: hostile, Commands: []daemonapi.SessionCommand{{Command: hostile, Status: hostile, Why: hostile}}}}
		s.plane.agents = []daemonapi.Agent{{Name: hostile, Owner: hostile, Step: hostile, Session: id}}
	})
	for _, address := range []string{"/sessions", "/sessions?q=" + url.QueryEscape(hostile), "/sessions?show=" + url.QueryEscape(hostile), "/sessions/" + url.PathEscape(id)} {
		r := v.get(address)
		if r.status != http.StatusOK || len(r.body) > 100<<10 {
			t.Errorf("%s: %d, %d bytes", address, r.status, len(r.body))
		}
		harmless(t, r.body)
	}
}
