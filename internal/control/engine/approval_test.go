package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// approving is a pipeline in which a person decides what follows the build.
func approving(change func(*runbook.Approval)) runbook.Plan {
	p := shells("build", "ok", "merge", "rework")
	a := &runbook.Approval{
		Title: "Merge ${var.x}?", Text: "It printed: ${steps.build.log_tail}", Who: "ops",
		Options: []runbook.ApprovalOption{{Name: "merge"}, {Name: "rework", Step: "rework"}, {Name: "reject", Fail: true}},
	}
	if change != nil {
		change(a)
	}
	p = step(p, "ok", func(s *runbook.Step) { s.Run, s.Approval = runbook.Run{}, a })
	p = step(p, "merge", func(s *runbook.Step) { s.OnDone = "" })
	return step(p, "rework", func(s *runbook.Step) {
		s.Run.Shell = `rework "${steps.ok.output.answer}" "${steps.ok.signal}"`
	})
}

func TestApproval(t *testing.T) {
	asked := func(t *testing.T, change func(*runbook.Approval)) *stage {
		s := start(t, approving(change))
		s.do(ShellExited{Key: s.o.Shell.Key, Tail: "all green"})
		s.is("ok", Waiting)
		return s
	}
	s := asked(t, nil)
	d := s.o.Decision
	if d.Context != "Merge 1?\nFor: ops\nIt printed: all green" || d.Source != FromStep || d.names() != "merge, rework, reject, cancel" {
		t.Fatalf("%s", text(d))
	}
	if d.Reason != "approval" || s.effect(NotifyPerson).Text != "Merge 1?" {
		t.Fatalf("%s", text(s.last))
	}
	for answer, want := range map[string]string{
		"merge": "merge running", "rework": "rework running", "reject": "failed ended", "cancel": "cancelled ended", "1": "merge running",
	} {
		t.Run(answer, func(t *testing.T) {
			s := asked(t, nil)
			s.do(Answer{Decision: s.o.Decision.ID, Option: answer, Message: "as we said"})
			if got := s.o.Step + " " + string(s.o.Status); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
			if s.o.Step == runbook.EndFailed && s.o.Error != "reject: as we said" {
				t.Fatal(s.o.Error)
			}
			if s.o.Step == "rework" && s.effect(StartShell).Shell.Script != `rework "rework" "as we said"` {
				t.Fatal(s.effect(StartShell).Shell.Script)
			}
		})
	}
	t.Run("words alone decide nothing", func(t *testing.T) {
		s := asked(t, nil)
		if r := s.refused(Answer{Decision: s.o.Decision.ID, Message: "yes"}); r.Code != "invalid" || !strings.Contains(r.Why, "merge, rework, reject, cancel") {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("a default of its own", func(t *testing.T) {
		s := asked(t, func(a *runbook.Approval) { a.Expire = runbook.ApprovalExpire{After: time.Hour, Answer: "rework"} })
		s.elapse(expire)
		s.is("rework", Running)
		if d := s.o.Settled[0]; !d.Expired || d.Chosen != "rework" {
			t.Fatalf("%s", text(d))
		}
	})
	for _, answer := range runbook.DefaultAnswers() {
		t.Run("the pipeline's "+string(answer)+" approves nothing", func(t *testing.T) {
			p := approving(nil)
			p.Pipeline.Expire = runbook.Expire{After: time.Hour, Answer: answer}
			s := start(t, p)
			s.ends(0)
			s.elapse(expire)
			s.is(runbook.EndCancelled, Ended)
		})
	}
}

// A person can overrule what failed: then the pipeline is done when the rest of it is. By itself an
// approval overrules nothing.
func TestApprovalOverrules(t *testing.T) {
	for _, overrule := range []bool{true, false} {
		p := approving(func(a *runbook.Approval) {
			a.Options[0].Overrule, a.Text = overrule, "It failed: ${error}"
		})
		p = step(p, "build", func(s *runbook.Step) { s.OnFail = "ok" })
		s := start(t, p)
		s.ends(3)
		s.is("ok", Waiting)
		s.do(Answer{Decision: s.o.Decision.ID, Option: "merge"})
		s.is("merge", Running)
		s.ends(0)
		if overrule {
			s.is(runbook.EndDone, Ended)
			continue
		}
		s.is(runbook.EndFailed, Ended)
		if s.o.Failed != "build" {
			t.Fatalf("%s", text(s.o))
		}
	}
}
