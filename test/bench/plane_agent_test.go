//go:build unix

package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

// buildPrograms builds those that the benchmarks of agents need, with a stand-in for the client.
func buildPrograms(t *testing.T, l *lab) (client string) {
	t.Helper()
	bin := t.TempDir()
	check(t, programs.Build(bin, "test/standin/claude"))
	l.stopgate, l.other = filepath.Join(bin, "stopgate"), filepath.Join(bin, "stopgated")
	return filepath.Join(bin, "claude")
}

// That the daemon is asked is noticed, and that it is not.
func TestAgentStopsAskTheDaemon(t *testing.T) {
	l := testLab(t)
	buildPrograms(t, l)
	m, err := l.managed(t.Context(), "s", 3)
	check(t, err)
	defer m.kill()
	check(t, m.signal(t.Context(), l))
	dir := t.TempDir()
	for _, agent := range []string{"", m.agents[0], m.agents[0]} {
		if _, _, err := l.run(t.Context(), m.agentStop(l, dir, agent).program); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.asked(2); err != nil {
		t.Error(err)
	}
	if err := m.asked(3); err == nil {
		t.Error("a stop in which the daemon was not asked is not noticed")
	}
}

func TestAgentsStart(t *testing.T) {
	environtest.Need(t, "tmux")
	l := testLab(t)
	t.Setenv(clientVariable, buildPrograms(t, l))
	s, err := l.newStarts(t.Context())
	check(t, err)
	defer s.close()
	for range 2 {
		for name, start := range map[string]func() (time.Duration, error){
			"by hand":       func() (time.Duration, error) { return s.byHand(t.Context()) },
			"by the daemon": func() (time.Duration, error) { return s.byDaemon(t.Context()) },
		} {
			if took, err := start(); err != nil || took <= 0 {
				t.Errorf("%s: %s, %v", name, took, err)
			}
		}
	}
	if s.n != 4 {
		t.Errorf("%d clients have started", s.n)
	}
}

func TestBranchesRunTogether(t *testing.T) {
	l := testLab(t)
	buildPrograms(t, l)
	c, err := l.crowd(t.Context(), 2)
	check(t, err)
	if c.started <= 0 || c.ended <= 0 {
		t.Errorf("%+v", c)
	}
}
