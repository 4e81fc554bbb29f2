package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A disk that is full is told as that, and nothing is left on it.
func TestAFullDisk(t *testing.T) {
	state := gittest.Dir(t)
	if err := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=1m,mode=700"); err != nil {
		t.Skipf("no small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(state, 0); err != nil {
			t.Error(err)
		}
	})
	for kind, words := range map[runbook.WorkspaceKind]string{
		runbook.Worktree: "is the disk full?", runbook.FolderCopy: "no space left on device",
	} {
		s := newScene(t)
		s.repo.Write("big", strings.Repeat("0123456789abcdef", 1<<17))
		s.repo.Commit("big")
		s.all = New(state, s.repo.Env)
		s.task.Dir, s.task.Kind = filepath.Join(s.all.root, "project-1"), kind
		s.git = s.state()
		s.refused(words)
		s.nothingLeft()
		if err := os.RemoveAll(s.all.root); err != nil {
			t.Error(err)
		}
	}
}
