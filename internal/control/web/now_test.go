package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/record/event"
)

// needsYou is what stands under "Needs you" on the page.
func needsYou(page string) string {
	_, rest, _ := strings.Cut(page, `<h2 id="needs">`)
	part, _, _ := strings.Cut(rest, "</section>")
	return part
}

// A work item that no worker tries any more needs a person, who has it tried again, or drops it.
func TestIssue18DeadWorkNeedsYou(t *testing.T) {
	for act, state := range map[string]string{"retry": "pending", "drop": "dropped"} {
		t.Run(act, func(t *testing.T) {
			s := newScene(t)
			s.plane.set(func() {
				s.plane.work = []daemonapi.WorkItem{
					{ID: decisionID, Queue: "bugs", Key: "bug <4>", State: "dead", Failures: 3, Error: "no luck", Project: "/home/me/shop"},
					{ID: strings.Repeat("2", 16), Queue: "bugs", Key: "other", State: "pending"},
				}
			})
			v := s.signedIn()
			page := v.get("/").body
			part := needsYou(page)
			if !strings.Contains(part, "bug &lt;4&gt;") || !strings.Contains(part, "no luck") || strings.Contains(page, "other") || !strings.Contains(page, "<b>1</b> needs you") {
				t.Errorf("%s", page)
			}
			path := "/work/" + decisionID + "/" + act
			if !strings.Contains(part, `action="`+path+`"`) {
				t.Errorf("no %s in %s", path, part)
			}
			if r := v.do(v.form(path, url.Values{"csrf": {"forged"}})); r.status != http.StatusForbidden || s.plane.work[0].State != "dead" {
				t.Errorf("forged: %d, %s", r.status, s.plane.work[0].State)
			}
			if r := v.do(v.form(path, url.Values{"csrf": {v.csrf()}})); r.path != "/" || s.plane.work[0].State != state {
				t.Errorf("%s, %s", r.path, s.plane.work[0].State)
			}
		})
	}
}

// A session that was let go although something fails needs a person on this page as on that of sessions.
func TestIssue18ASessionThatGaveUpNeedsYou(t *testing.T) {
	s := newScene(t)
	gaveUp := []event.Verdict{{Keeper: "gates", Outcome: "failed", Status: "retry_limit_exceeded", Message: "lint"}}
	s.answered(event.Record{Session: "gave-up-1", Project: "/home/me/shop", Decision: "allow", Verdicts: gaveUp, Time: s.clock()})
	v := s.signedIn()
	page := v.get("/").body
	if !strings.Contains(needsYou(page), "gave up") || strings.Count(page, `id="s-gave-up-1"`) != 1 || !strings.Contains(page, "<b>1</b> needs you") {
		t.Errorf("%s", page)
	}
	s.record(event.Record{Event: "UserPromptSubmit", Session: "gave-up-1", Project: "/home/me/shop", Time: s.clock()})
	s.plane.set(func() {})
	if page := v.get("/").body; needsYou(page) != "" || strings.Count(page, `id="s-gave-up-1"`) != 1 {
		t.Errorf("afterwards: %s", page)
	}
}
