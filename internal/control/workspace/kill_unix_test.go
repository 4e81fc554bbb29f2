//go:build unix

package workspace

import (
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// Killed at any moment, a process that makes and removes a workspace leaves nothing behind that the next
// one does not clear away: no worktree, no branch, no lock.
func TestKilledAtAnyMoment(t *testing.T) {
	for _, kind := range []runbook.WorkspaceKind{runbook.Worktree, runbook.FolderCopy} {
		t.Run(string(kind), func(t *testing.T) {
			s := newScene(t)
			s.task.Kind = kind
			for n := range 50 {
				s.repo.Write(fmt.Sprintf("many/%d/file", n), "some text")
			}
			s.repo.Commit("many")
			s.git = s.state()
			for round := range 16 {
				processtest.Kill(t, round, 70*time.Millisecond, "make and remove", s.all.root, s.task.Dir, string(kind), s.repo.Dir)
				if round%2 == 0 {
					s.make()
					if got := s.in(); kind == runbook.Worktree && got.Git("status", "--porcelain") != "" {
						t.Errorf("round %d: it is not whole", round)
					}
				}
				if removed := s.remove(); removed.Kept != "" {
					t.Errorf("round %d: %+v", round, removed)
				}
				s.nothingLeft()
				if t.Failed() {
					return
				}
			}
		})
	}
}
