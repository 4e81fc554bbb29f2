//go:build unix

package web

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A person answers with a thumb, and the pipeline goes on. The answer can be taken back for a while.
func TestIssue18AThumbMovesAPipeline(t *testing.T) {
	s := newStage(t, busy)
	id := s.start("release", "2.4.0").ID
	s.waits(id, "waiting")
	b := open(t, s.ui().Link)
	b.look(phone, false)
	b.visit("/inbox")
	b.sees("Release 2.4.0 to production?")
	b.tap(`button[data-key="2"]`)
	b.sees("Your answer: test-again")
	b.tap(".held button")
	b.sees("tag it and publish it")
	if o := s.waits(id, "waiting"); o.Decision == nil {
		t.Fatalf("an answer that was taken back was sent: %+v", o)
	}
	b.tap(`button[data-key="1"]`)
	b.sees("Your answer: release")
	b.picture("held")
	s.waits(id, "done")
	b.sees("Nothing waits for you.")
	b.visit("/")
	b.sees("done")
	b.clean()
}

// An answer is sent at once when the page is left.
func TestIssue18LeavingSendsTheAnswer(t *testing.T) {
	s := newStage(t, busy)
	id := s.start("release", "2.4.0").ID
	s.waits(id, "waiting")
	b := open(t, s.ui().Link)
	b.visit("/inbox")
	b.press("1")
	b.sees("Your answer: release")
	b.visit("/")
	s.waits(id, "done")
	b.clean()
}

// Keys choose a decision, answer it and take the answer back.
func TestIssue18KeysAnswer(t *testing.T) {
	s := newStage(t, busy)
	first := s.start("release", "1.0.0").ID
	s.waits(first, "waiting")
	second := s.start("release", "2.0.0").ID
	s.waits(second, "waiting")
	b := open(t, s.ui().Link)
	b.visit("/inbox") // the newest first
	b.press("j")
	b.press("j")
	if got := b.eval("document.activeElement.querySelector('h2').innerText"); got != "Release 1.0.0 to production?" {
		t.Fatalf("the focus is on %q", got)
	}
	b.press("3")
	b.sees("Your answer: reject")
	b.press("u")
	eventually(t, "the answer is taken back", func() bool { return b.eval("document.querySelectorAll('.held').length") == "0" })
	b.press("?")
	b.sees("take the last answer back")
	b.press("\x1b")
	b.press("k")
	b.press("\r")
	b.sees("Your answer: release")
	b.visit("/")
	s.waits(second, "done")
	s.waits(first, "waiting")
	b.clean()
}

// What the daemon refuses is told, and the decision stays.
func TestIssue18ARefusedAnswerIsTold(t *testing.T) {
	s := newStage(t, busy)
	id := s.start("release", "2.4.0").ID
	s.waits(id, "waiting")
	b := open(t, s.ui().Link)
	b.visit("/inbox")
	b.eval(`document.querySelector("[data-answer] [name=csrf]").value = "x"`)
	b.press("1")
	b.sees("Your answer: release")
	b.eval("sendAll()")
	b.sees("The answer was rejected: This form is too old, or not from this page.")
	s.waits(id, "waiting")
}

// Without JavaScript pages can be read, and forms answer.
func TestIssue18WithoutJavaScript(t *testing.T) {
	s := newStage(t, busy)
	id := s.start("release", "2.4.0").ID
	s.waits(id, "waiting")
	b := open(t, s.ui().Link)
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	check(t, err)
	b.visit("/inbox")
	b.sees("Release 2.4.0 to production?")
	b.tap(`button[data-key="1"]`)
	s.waits(id, "done")
	b.visit("/")
	b.sees("done")
}

// What happens is seen without a reload: the count, the rows, and what a person has open stays open.
func TestIssue18PagesAreLive(t *testing.T) {
	s := newStage(t, busy)
	b := open(t, s.ui().Link)
	b.sees("Nothing is running.")
	b.eval("window.kept = true")
	id := s.start("release", "2.4.0").ID
	b.sees("Release 2.4.0 to production?")
	eventually(t, "the count is shown", func() bool { return strings.HasPrefix(b.text(".count"), "1") })
	s.run("decision", "answer", s.waits(id, "waiting").Decision.ID, "release")
	s.waits(id, "done")
	eventually(t, "the count is gone", func() bool { return b.text(".count") == "" })
	if b.eval("window.kept") != "true" {
		t.Error("the page was loaded again")
	}
	b.clean()
}
