package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func TestIssue18JournalIsFiltered(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	wants(t, v.get("/journal").body, "The journal is empty.", "stopgate hooks install")

	stop := s.record(s.blockedStop("session-a"))
	s.record(event.Record{Event: "SessionStart", Session: "session-b", Project: "/home/me/site", Decision: "allow", Time: s.clock().Add(-3 * time.Hour)})
	s.record(event.Record{Event: "PreToolUse", Session: "session-b", Project: "/home/me/site", Decision: "block", Verdicts: []event.Verdict{{Keeper: "protect", Blocked: true, Outcome: "failed", Message: "hands off"}}})
	s.record(event.Record{Kind: event.Received, Event: "UserPromptSubmit", Session: "session-c"})
	s.record(event.Record{Kind: event.Emitted, Event: event.AgentSignal, Word: &event.Word{Agent: "agent-1", Kind: "complete", Message: "all done"}})
	s.record(event.Record{Event: "Stop", Session: "doctor-1", Decision: "block"})

	texts := map[string]string{
		"a": "Blocked: lint and review quality", "start": `The session began`, "tool": "protect: hands off", "open": "no answer: the hook", "said": "complete: all done", "doctor": "/sessions/doctor-1",
	}
	for query, want := range map[string]string{
		"": "a start tool open said", "session=session-a": "a", "session=session-": "a start tool open", "session=agent-1": "said", "session=doctor": "doctor",
		"project=site": "start tool", "decision=block": "a tool", "decision=open": "open", "decision=sent": "said", "event=Stop": "a", "age=1h": "a tool open said",
		"project=site&decision=block": "tool", "event=Nonsense": "a start tool open said", "age=nonsense": "a start tool open said", "session=nothing": "",
	} {
		body := v.get("/journal?" + query).body
		for name, text := range texts {
			if has, wanted := strings.Contains(body, text), strings.Contains(" "+want+" ", " "+name+" "); has != wanted {
				t.Errorf("%q has %s: %t", query, name, has)
			}
		}
		if want == "" {
			wants(t, body, "Nothing is like that.")
		}
	}
	wants(t, v.get("/journal").body, `href="/stops/`+stop+`"`, `href="/sessions/session-a"`)
}

// Every record is on one page, and a call whose answer is on another page has no answer nowhere.
func TestIssue18JournalInParts(t *testing.T) {
	s := newScene(t)
	s.site.roster.journal = journal.New(filepath.Join(s.state, "journal"), journal.Limits{SegmentSize: 8 << 10})
	v := s.signedIn()
	const all = 4 * mostRecords
	var late []string
	for i := range all {
		call := s.record(event.Record{Kind: event.Received, Event: "PreToolUse", Session: "s", Project: fmt.Sprintf("/p/number-%d-", i)})
		late = append(late, call)
		if len(late) > 7 { // the answers come later than other calls
			s.record(event.Record{Call: late[0], Event: "PreToolUse", Session: "s", Project: fmt.Sprintf("/p/number-%d-", i-7), Decision: "allow"})
			late = late[1:]
		}
	}
	seen := map[string]int{}
	unanswered := 0
	for address, pages := "/journal", 0; address != ""; pages++ {
		r := v.get(address)
		if pages > 40 || r.status != http.StatusOK || len(r.body) > 100<<10 {
			t.Fatalf("%d pages: %d, %d bytes", pages, r.status, len(r.body))
		}
		unanswered += strings.Count(r.body, "no answer: the hook")
		for i := range all {
			if strings.Contains(r.body, fmt.Sprintf("number-%d-<", i)) {
				seen[fmt.Sprint(i)]++
			}
		}
		address = moreLink(r.body)
		if address == "" && strings.Contains(r.body, "Look further back") {
			t.Error("a part without records is not followed")
		}
	}
	if len(seen) != all || unanswered != len(late) {
		t.Errorf("%d of %d calls, %d of %d without an answer", len(seen), all, unanswered, len(late))
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("call %s is there %d times", i, n)
		}
	}
	if r := v.get("/journal?before=nonsense"); r.status != http.StatusNotFound {
		t.Error(r.status)
	}
}

func TestIssue18JournalIsHarmless(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	s.record(s.hostileStop(hostile))
	s.record(event.Record{Event: hostile, Session: hostile, Project: hostile, Decision: hostile, Effects: []string{hostile}, Verdicts: []event.Verdict{{Keeper: hostile, Message: hostile}}})
	s.record(event.Record{Kind: event.Emitted, Event: hostile, Session: hostile, Word: &event.Word{Agent: hostile, Kind: hostile, Message: hostile + strings.Repeat("x", 1<<19)}})
	evil := url.QueryEscape(hostile)
	for _, address := range []string{"/journal", "/journal?session=" + evil + "&project=" + evil + "&event=" + evil + "&decision=" + evil + "&age=" + evil} {
		r := v.get(address)
		if r.status != http.StatusOK || len(r.body) > 100<<10 {
			t.Errorf("%d, %d bytes", r.status, len(r.body))
		}
		harmless(t, r.body)
	}
}

func TestIssue18JournalIsVerified(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	s.record(event.Record{Session: "s", Decision: "allow"})
	s.plane.store = Soundness{Events: 5, Sound: true}
	s.plane.verifying = make(chan struct{})
	wants(t, v.get("/journal").body, "Every record has a checksum", `action="/journal/verify"`)
	if r := v.do(v.form("/journal/verify", url.Values{})); r.status != http.StatusForbidden {
		t.Errorf("without the form's token: %d", r.status)
	}

	form := url.Values{"csrf": {v.csrf()}}
	if r := v.do(v.form("/journal/verify", form)); r.path != "/journal" || !strings.Contains(r.body, "Reading everything") {
		t.Errorf("%s %s", r.path, r.body)
	}
	v.do(v.form("/journal/verify", form)) // one at a time
	close(s.plane.verifying)
	verified := func(text string) {
		t.Helper()
		checktest.Eventually(t, text, func() bool { return strings.Contains(v.get("/journal").body, text) })
	}
	verified("Everything is intact.")
	if s.plane.verified != 1 {
		t.Errorf("it was verified %d times at once", s.plane.verified)
	}
	wants(t, v.get("/journal").body, "journal 1 record; store 5 events")

	path := filepath.Join(s.state, "journal", "00000001.log")
	text, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(path, append([]byte("garbage\n"), text...), 0o600))
	v.do(v.form("/journal/verify", form))
	verified("Something is damaged.")
	wants(t, v.get("/journal").body, "does not start like a record")

	s.plane.refusal = errors.New("the disk " + hostile)
	v.do(v.form("/journal/verify", form))
	verified("Not everything could be read.")
	harmless(t, v.get("/journal").body)
}
