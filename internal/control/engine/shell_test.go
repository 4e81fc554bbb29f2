package engine

import (
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

func TestShellStepsRunOneAfterTheOther(t *testing.T) {
	s := start(t, shells("build", "test"))
	s.is("build", Running)
	if e := s.effect(StartShell); e.Shell.Script != "make build" || e.Shell.Cwd != "/p/sub" || e.Key != s.o.Shell.Key {
		t.Fatalf("%+v", e.Shell)
	}
	s.carryOut()
	s.do(ShellExited{Key: s.o.Shell.Key})
	s.is("test", Running)
	s.do(ShellExited{Key: s.o.Shell.Key})
	s.is(runbook.EndDone, Ended)
}

func TestShellFailureSaysTheLastLine(t *testing.T) {
	s := start(t, shells("build", "test"))
	s.do(ShellExited{Key: s.o.Shell.Key, Code: 3, Tail: "one\nno rule\n"})
	s.is(runbook.EndFailed, Ended)
	if s.o.Error != "exit status 3: no rule" {
		t.Fatalf("%q", s.o.Error)
	}
}
