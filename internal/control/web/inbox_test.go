package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// A form answers by an option, by words, or by both; several questions each get an answer.
func TestIssue18AnAnswerIsWhatTheFormSays(t *testing.T) {
	options := []daemonapi.Option{{Number: 1, Name: "2"}, {Number: 2, Name: "1"}} // as an agent may name them
	questions := &daemonapi.Ask{Questions: []daemonapi.Question{
		{Question: "Which?", Options: []daemonapi.Choice{{Label: "red"}, {Label: "blue"}}},
		{Question: "Where?", Options: []daemonapi.Choice{{Label: "here"}, {Label: "there"}}, Multi: true},
	}}
	for name, test := range map[string]struct {
		ask    *daemonapi.Ask
		form   url.Values
		want   daemonapi.Answer
		status int
	}{
		"an option":         {form: url.Values{"option": {"1"}}, want: daemonapi.Answer{Option: "2"}},
		"with words":        {form: url.Values{"option": {"2"}, "message": {" a\r\nb "}}, want: daemonapi.Answer{Option: "1", Message: "a\nb"}},
		"words alone":       {form: url.Values{"message": {"go on"}}, want: daemonapi.Answer{Message: "go on"}},
		"nothing":           {status: http.StatusBadRequest},
		"no such option":    {form: url.Values{"option": {"3"}}, status: http.StatusBadRequest},
		"option 0":          {form: url.Values{"option": {"0"}}, status: http.StatusBadRequest},
		"several questions": {ask: questions, form: url.Values{"q0": {"1"}, "q1": {"0", "1"}, "q1-other": {"elsewhere"}}, want: daemonapi.Answer{Answers: []string{"blue", "here, there, elsewhere"}}},
		"one is missing":    {ask: questions, form: url.Values{"q0": {"1"}}, status: http.StatusBadRequest},
		"no such choice":    {ask: questions, form: url.Values{"q0": {"7"}, "q1": {"0"}}, status: http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			d := sample()
			d.Options, d.Ask = options, test.ask
			s.plane.set(func() { s.plane.decisions = []daemonapi.Decision{d} })
			v := s.signedIn()
			form := url.Values{"csrf": {v.csrf()}}
			for name, values := range test.form {
				form[name] = values
			}
			r := v.do(v.form(answerPath, form))
			if test.status != 0 {
				if r.status != test.status || len(s.plane.answers) > 0 {
					t.Fatalf("%d, %+v", r.status, s.plane.answers)
				}
				return
			}
			if r.status != http.StatusOK || r.path != "/inbox" || len(s.plane.answers) != 1 {
				t.Fatalf("%d %s, %+v", r.status, r.path, s.plane.answers)
			}
			got := s.plane.answers[0]
			if !daemonapi.IsID(got.ID) {
				t.Errorf("%q", got.ID)
			}
			got.ID = ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the daemon refuses is shown, with what helps: on a page of its own, or as text for the script.
func TestIssue18ARefusalIsShown(t *testing.T) {
	s := newScene(t)
	s.plane.set(func() {
		s.plane.decisions = []daemonapi.Decision{sample()}
		s.plane.refusal = &daemonapi.Error{Failure: daemonapi.Failure{Code: "conflict", Error: "the decision was answered already", Hint: "look at it"}}
	})
	v := s.signedIn()
	form := url.Values{"csrf": {v.csrf()}, "option": {"1"}}
	if r := v.do(v.form(answerPath, form)); r.status != http.StatusConflict || !strings.Contains(r.body, "the decision was answered already") || !strings.Contains(r.body, "look at it") {
		t.Errorf("%d %s", r.status, r.body)
	}
	byScript := v.form(answerPath, form)
	byScript.Header.Set("Stopgate-Script", "1")
	if r := v.do(byScript); r.status != http.StatusConflict || r.body != "the decision was answered already look at it" {
		t.Errorf("%d %q", r.status, r.body)
	}
}

func TestParseDiff(t *testing.T) {
	files := parseDiff("diff --git a/a b.go b/a b.go\nindex 1..2\n--- a/a b.go\n+++ b/a b.go\n@@ -1,2 +1,2 @@ func x\n same\n-old\n+new\n--- not a header\n" +
		"diff --git a/touched b/touched\ndiff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n" +
		"diff --git a/long b/long\n@@ -0,0 +1 @@\n" + strings.Repeat("+x\x1b[31m\n", mostFileLines+9))
	if len(files) != 3 || files[0].Name != "a b.go" || files[0].Added != 1 || files[0].Removed != 2 || len(files[0].Lines) != 5 || !files[0].Open {
		t.Fatalf("%+v", files)
	}
	if diff := cmp.Diff([]string{"binary, not shown"}, files[1].Notes); diff != "" || files[2].Left != 10 || files[2].Added != mostFileLines+9 || files[2].Open || files[2].Lines[1].Text != "+x" {
		t.Errorf("%+v %+v", files[1], files[2].Left)
	}
	if parseDiff("") != nil || parseDiff("garbage\n+x") != nil {
		t.Error("something of nothing")
	}
}

// What was answered is looked for again when the daemon has worked, and only then: that takes a look at all
// pipelines.
func TestIssue18WhatWasAnsweredIsReadOnce(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	answered := func(question string) {
		d, now := sample(), time.Now()
		d.Context, d.Resolved = question, &now
		s.plane.set(func() { s.plane.decisions = []daemonapi.Decision{d} })
	}
	answered("Release 2.4.0?")
	v.get("/inbox")
	before := s.plane.reads()
	if r := v.get("/inbox"); !strings.Contains(r.body, "Release 2.4.0?") || s.plane.reads() != before+1 { // for the open ones
		t.Errorf("%d questions: %s", s.plane.reads()-before, r.body)
	}
	answered("Release 2.5.0?")
	if r := v.get("/inbox"); !strings.Contains(r.body, "Release 2.5.0?") {
		t.Error(r.body)
	}
}

// A file is on the page whatever there is to show of it: an empty one, one with another mode, one past the
// lines that a page has.
func TestIssue18NoFileIsLeftOutOfADiff(t *testing.T) {
	files := parseDiff("diff --git a/empty b/empty\nnew file mode 100644\nindex 1..2\ndiff --git a/gone b/gone\ndeleted file mode 100644\n" +
		"diff --git a/run b/run\nold mode 100644\nnew mode 100755\ndiff --git a/big b/big\nnew file\n" + NotShown + "99999 bytes\n" +
		strings.Repeat("diff --git a/long b/long\n@@ -0,0 +1 @@\n"+strings.Repeat("+x\n", mostFileLines), 5) +
		"diff --git a/last b/last\n@@ -0,0 +1 @@\n+x\n")
	got := map[string]string{}
	for _, f := range files {
		got[f.Name] = strings.Join(f.Notes, "; ")
	}
	want := map[string]string{"empty": "new file", "gone": "deleted", "run": "its mode is 100755 now", "big": "new file; 99999 bytes, not shown", "long": "", "last": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A diff that could not be made does not look like no changes, and is tried again at once.
func TestIssue18ADiffThatCouldNotBeMadeIsTold(t *testing.T) {
	s := newScene(t)
	s.plane.set(func() {
		s.plane.decisions = []daemonapi.Decision{sample()}
		s.plane.noDiff = errors.New("git <took> too long")
	})
	v := s.signedIn()
	if page := v.get("/inbox").body; !strings.Contains(page, "Cannot show the diff: git &lt;took&gt; too long") {
		t.Error(page)
	}
	s.plane.set(func() {
		s.plane.noDiff = nil
		s.plane.diff = Diff{Text: "diff --git a/x b/x\n@@ -0,0 +1 @@\n+new\n", Cut: true, Unnamed: 7}
	})
	page := v.get("/inbox").body
	for _, want := range []string{"&#43;new", "7 more files, not shown", "Some changes are not shown"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if strings.Contains(page, "Cannot show the diff") {
		t.Error("the error was kept")
	}
}

// A diff is made again when the clock was set back, as it is when time passes.
func TestIssue18ADiffIsMadeAgainAfterTheClockWasSetBack(t *testing.T) {
	p, d, now := newFakePlane(), newDetails(), time.Now()
	p.decisions = []daemonapi.Decision{sample()}
	for _, at := range []time.Time{now, now.Add(-time.Hour)} {
		p.diff.Unnamed++
		if cards := d.of(t.Context(), p, p.decisions, at); cards[0].Unnamed != p.diff.Unnamed {
			t.Errorf("%s: %d, not %d", at, cards[0].Unnamed, p.diff.Unnamed)
		}
	}
}

// The page of a decision that is answered says so, and not that nothing waits.
func TestIssue18AnAnsweredDecisionSaysSo(t *testing.T) {
	s := newScene(t)
	d := sample()
	d.Resolved = &d.Created
	s.plane.set(func() { s.plane.decisions = []daemonapi.Decision{d} })
	if r := s.signedIn().get("/inbox/" + d.ID); strings.Contains(r.body, "Nothing waits for you") || !strings.Contains(r.body, "This decision is answered") {
		t.Error(r.body)
	}
}
