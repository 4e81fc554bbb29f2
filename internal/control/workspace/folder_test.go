package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// folder is a project without git, and a workspace of a kind.
func folder(t *testing.T, kind runbook.WorkspaceKind) *scene {
	t.Helper()
	s := sceneIn(t, gittest.New(t))
	s.task.Project, s.task.Kind, s.task.Branch, s.task.Base = gittest.Dir(t), kind, "", ""
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(s.task.Project, name)
		checktest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		checktest.OK(t, os.WriteFile(path, []byte(text), mode))
	}
	write("a.txt", "one", 0o644)
	write("bin/run", "#!/bin/sh\n", 0o755)
	write("fixed/b", "two", 0o444)
	checktest.OK(t, os.Chmod(filepath.Join(s.task.Project, "fixed"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(s.task.Project, "fixed"), 0o755) })
	checktest.OK(t, os.Symlink("a.txt", filepath.Join(s.task.Project, "near")))
	checktest.OK(t, os.Symlink(filepath.Join(s.task.Project, "a.txt"), filepath.Join(s.task.Project, "far")))
	return s
}

func TestACopyIsMadeAndRemoved(t *testing.T) {
	s := folder(t, runbook.FolderCopy)
	s.make()
	state := gittest.State(t, s.task.Project)
	for path, what := range gittest.State(t, s.task.Dir) {
		name, err := filepath.Rel(s.task.Dir, path)
		checktest.OK(t, err)
		if want := state[filepath.Join(s.task.Project, name)]; name != "near" && name != "far" && what != want {
			t.Errorf("%s: want %s, got %s", name, want, what)
		}
	}
	if to, _ := os.Readlink(filepath.Join(s.task.Dir, "far")); to != filepath.Join(s.task.Dir, "a.txt") {
		t.Errorf("a link leads to the project: %s", to)
	}
	if made := s.make(); !made.Found {
		t.Error("it was made twice")
	}
	if removed := s.remove(); removed.Kept != "" {
		t.Errorf("%+v", removed)
	}
	s.nothingLeft()
}

// What was made in a copy stays, unless it was taken back to the project.
func TestWorkInACopy(t *testing.T) {
	s := folder(t, runbook.FolderCopy)
	s.make()
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Dir, "a.txt"), []byte("ONE"), 0o644))
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Dir, "new"), nil, 0o644))
	checktest.OK(t, os.Remove(filepath.Join(s.task.Dir, "bin", "run")))
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Project, "bin", "other"), nil, 0o644))
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Project, "bin", "run"), []byte("a person's own work"), 0o644))
	if removed := s.remove(); removed.Kept != "2 new or changed files (a.txt, new)" {
		t.Errorf("%+v", removed)
	}
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Project, "a.txt"), []byte("ONE"), 0o644))
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Project, "new"), nil, 0o644))
	if removed := s.remove(); removed.Kept != "" {
		t.Errorf("%+v", removed)
	}
	s.nothingLeft()
}

func TestAnEmptyFolder(t *testing.T) {
	s := folder(t, runbook.FolderEmpty)
	s.make()
	entries, err := os.ReadDir(s.task.Dir)
	checktest.OK(t, err)
	if len(entries) > 0 {
		t.Errorf("%v", entries)
	}
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Dir, "scratch"), nil, 0o644))
	if removed := s.remove(); removed.Kept != "" {
		t.Errorf("%+v", removed)
	}
	s.nothingLeft()
}

// The state directory may lie in the project, as in a container whose home is the project.
func TestACopyIsNotCopiedIntoItself(t *testing.T) {
	s := folder(t, runbook.FolderCopy)
	s.all = New(filepath.Join(s.task.Project, "state"), s.repo.Env)
	s.task.Dir = filepath.Join(s.all.root, "project-1")
	s.make()
	if disk.Exists(filepath.Join(s.task.Dir, "state")) {
		t.Error("it was")
	}
	if removed := s.remove(); removed.Kept != "" {
		t.Errorf("%+v", removed)
	}
}

// What a person does in the project meanwhile makes no work of an untouched copy.
func TestTheProjectOfACopyGoesOn(t *testing.T) {
	s := folder(t, runbook.FolderCopy)
	s.make()
	checktest.OK(t, os.WriteFile(filepath.Join(s.task.Project, "a.txt"), []byte("a person's own work"), 0o644))
	checktest.OK(t, os.Remove(filepath.Join(s.task.Project, "bin", "run")))
	if removed := s.remove(); removed.Kept != "" {
		t.Errorf("%+v", removed)
	}
}

// Neither a repository nor a linked worktree is copied as one.
func TestACopyHasNoGit(t *testing.T) {
	s := newScene(t)
	s.make()
	copied := sceneIn(t, s.repo)
	copied.task.Project, copied.task.Kind = s.task.Dir, runbook.FolderCopy
	copied.make()
	whole := sceneIn(t, s.repo)
	whole.task.Kind = runbook.FolderCopy
	whole.make()
	if disk.Exists(filepath.Join(whole.task.Dir, ".git")) {
		t.Error("it is a repository")
	}
	if disk.Exists(filepath.Join(copied.task.Dir, ".git")) {
		t.Error("it has the worktree's .git")
	}
}

func TestAHalfMadeCopy(t *testing.T) {
	s := folder(t, runbook.FolderCopy)
	checktest.OK(t, s.all.write(record{Owner: "1", Dir: s.task.Dir, Kind: runbook.FolderCopy, Project: s.task.Project, State: making}))
	checktest.OK(t, os.MkdirAll(filepath.Join(s.task.Dir, "bin"), 0o555))
	if made := s.make(); made.Found {
		t.Error("it takes what is half made")
	}
	s.remove()
	s.nothingLeft()
}
