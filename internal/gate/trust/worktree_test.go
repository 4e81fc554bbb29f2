package trust

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// repository is a project that is committed and approved, with a linked worktree.
func repository(t *testing.T) (s Store, root, linked string) {
	t.Helper()
	s, root = project(t)
	r := gittest.At(t, root)
	r.Git("init", "-q", "-b", "main")
	r.Git("add", ".")
	r.Git("commit", "-q", "-m", "first")
	linked = filepath.Join(t.TempDir(), "linked")
	r.Git("worktree", "add", "-q", linked)
	check(t, s.Approve(root, noon))
	return s, root, linked
}

func TestE4AWorktreeWithTheApprovedContentIsApproved(t *testing.T) {
	s, _, linked := repository(t)
	st := standing(t, s, linked)
	if st.State != Approved || !s.Gated(linked) {
		t.Errorf("got %+v, gated %t", st, s.Gated(linked))
	}
	wantCopy(t, st)
}

func TestE4InAWorktreeWithOtherContentTheApprovedRuns(t *testing.T) {
	for name, edit := range map[string]func(linked string){
		"edited":  func(linked string) { put(t, linked, "config.yml", "hooks: {} # weaker\n") },
		"deleted": func(linked string) { check(t, os.RemoveAll(filepath.Join(linked, ".gauntlet"))) },
	} {
		s, _, linked := repository(t)
		edit(linked)
		st := standing(t, s, linked)
		if st.State != Edited || !s.Gated(linked) {
			t.Errorf("%s: got %+v, gated %t", name, st, s.Gated(linked))
		}
		wantCopy(t, st)
	}
}

// An older content that was approved once is not what the person means now.
func TestE4OnlyTheLatestApprovalIsInForce(t *testing.T) {
	s, root, linked := repository(t)
	put(t, linked, "config.yml", "hooks: {} # newer\n")
	check(t, s.Approve(linked, noon))
	if st := standing(t, s, root); st.State != Edited {
		t.Errorf("the older content in the main worktree: %+v", st)
	}
	if st := standing(t, s, linked); st.State != Approved {
		t.Errorf("the newer one: %+v", st)
	}
	check(t, s.Revoke(root))
	for _, dir := range []string{root, linked} {
		if st := standing(t, s, dir); st.State != Untrusted || s.Gated(dir) || s.Claims(dir) {
			t.Errorf("%s after it was revoked: %+v", dir, st)
		}
	}
}

func TestE4AnApprovalFromBeforeTheRepositoryCounts(t *testing.T) {
	s, root := approved(t)
	gittest.At(t, root).Git("init", "-q")
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("got %+v", st)
	}
}

func TestE4PathsOfARepositoryAreApart(t *testing.T) {
	s, root, linked := repository(t)
	for _, dir := range []string{filepath.Join(root, "pkg"), filepath.Join(linked, "pkg")} {
		put(t, dir, "config.yml", "hooks: {}\n")
		put(t, dir, "scripts/check.sh", "exit 1\n")
		if st := standing(t, s, dir); st.State != Untrusted || s.Gated(dir) || s.Claims(dir) {
			t.Errorf("%s: %+v", dir, st)
		}
	}
	check(t, s.Approve(filepath.Join(linked, "pkg"), noon))
	if st := standing(t, s, filepath.Join(root, "pkg")); st.State != Approved {
		t.Errorf("approved in the other worktree: %+v", st)
	}
}

func TestE4ACloneIsAnotherRepository(t *testing.T) {
	s, root, _ := repository(t)
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.At(t, root).Git("clone", "-q", root, clone)
	if st := standing(t, s, clone); st.State != Untrusted {
		t.Errorf("got %+v", st)
	}
}

// Without its repository a project is still the one that was approved.
func TestE4TheApprovalOutlivesTheRepository(t *testing.T) {
	s, root, _ := repository(t)
	check(t, os.RemoveAll(filepath.Join(root, ".git")))
	if st := standing(t, s, root); st.State != Approved || !s.Gated(root) {
		t.Errorf("got %+v", st)
	}
}

// Another repository in the same place is not one whose approval was taken back.
func TestE4TheApprovalOutlivesAnotherRepositoryInItsPlace(t *testing.T) {
	s, root, _ := repository(t)
	elsewhere := filepath.Join(t.TempDir(), "git")
	check(t, os.Rename(filepath.Join(root, ".git"), elsewhere))
	check(t, os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: "+elsewhere+"\n"), 0o600))
	if got := standing(t, s, root).State; got != Approved {
		t.Errorf("it is %v", got)
	}
}

func TestE6ADamagedApprovalIsReadFromItsSecondPlace(t *testing.T) {
	s, root, _ := repository(t)
	for _, name := range []string{approvalFile, spareFile} {
		check(t, os.WriteFile(filepath.Join(s.folder(keys(root)[0]), name), []byte("{"), 0o600))
	}
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("got %+v", st)
	}
}

// A file of an approval that is not as its hash says is damage, too: it is never what runs.
func TestE6AnApprovalWithAnotherContentIsDamaged(t *testing.T) {
	s, root, _ := repository(t)
	key := keys(root)[0]
	a, err := s.readFile(key, approvalFile)
	check(t, err)
	a.Files[0].Data = append(a.Files[0].Data, '#')
	check(t, statefile.Write(filepath.Join(s.folder(key), approvalFile), a))
	if a, err := s.readFile(key, approvalFile); err == nil {
		t.Errorf("it counts: %+v", a.Files[0])
	}
	if st := standing(t, s, root); st.State != Approved {
		t.Errorf("got %+v", st)
	}
}

// A branch from before the configuration does not have it, and it is not called deleted there.
func TestE4AConfigurationThatTheBranchDoesNotHave(t *testing.T) {
	s, root := project(t)
	r := gittest.At(t, root)
	r.Git("init", "-q", "-b", "main")
	r.Git("commit", "-q", "--allow-empty", "-m", "before")
	older := filepath.Join(t.TempDir(), "older")
	r.Git("worktree", "add", "-q", older)
	r.Git("add", ".")
	r.Git("commit", "-q", "-m", "first")
	newer := filepath.Join(t.TempDir(), "newer")
	r.Git("worktree", "add", "-q", newer)
	check(t, s.Approve(root, noon))
	want := func(dir, when string, state State, absent bool) {
		t.Helper()
		if st := standing(t, s, dir); st.State != state || st.Absent(os.Environ()) != absent || !s.Gated(dir) {
			t.Errorf("%s: %+v, absent %t, gated %t", when, st, st.Absent(os.Environ()), s.Gated(dir))
		}
	}
	want(older, "before it was committed", Edited, true)
	want(newer, "as approved", Approved, false)
	check(t, os.RemoveAll(filepath.Join(newer, ".gauntlet")))
	want(newer, "deleted", Edited, false)
	gittest.At(t, newer).Git("commit", "-q", "-a", "-m", "gone")
	want(newer, "deleted in a commit", Edited, true)
	gittest.At(t, older).Git("merge", "-q", "main")
	want(older, "merged", Approved, false)
	put(t, older, "config.yml", "hooks: {} # weaker\n")
	want(older, "edited", Edited, false)
}

// A configuration that is there is not absent, whether or not the branch has it.
func TestE4WhatIsThereIsNotAbsent(t *testing.T) {
	s, root := project(t)
	r := gittest.At(t, root)
	r.Git("init", "-q", "-b", "main")
	r.Git("commit", "-q", "--allow-empty", "-m", "first")
	check(t, s.Approve(root, noon))
	put(t, root, "config.yml", "# edited\n")
	if st := standing(t, s, root); st.State != Edited || st.Absent(r.Env) {
		t.Errorf("%s, absent %t", st.State, st.Absent(r.Env))
	}
}

// The folder around a bare repository, in which people keep its worktrees, has no .gauntlet that could be missing.
func TestE4TheFolderAroundABareRepositoryIsNoProject(t *testing.T) {
	for name, dotGit := range map[string]string{".git": "", ".bare": "gitdir: ./.bare\n"} {
		s, root, _ := repository(t)
		around := t.TempDir()
		r := gittest.At(t, around)
		r.Git("clone", "-q", "--bare", root, filepath.Join(around, name))
		if dotGit != "" {
			check(t, os.WriteFile(filepath.Join(around, ".git"), []byte(dotGit), 0o644))
		}
		r.Git("worktree", "add", "-q", "one", "main")
		r.Git("worktree", "add", "-q", "two", "-b", "two")
		one, two := filepath.Join(around, "one"), filepath.Join(around, "two")
		check(t, s.Approve(one, noon))
		if st := standing(t, s, two); st.State != Approved {
			t.Errorf("%s: the other worktree: %+v", name, st)
		}
		if st := standing(t, s, around); st.State != Untrusted || s.Gated(around) {
			t.Errorf("%s: the folder around: %+v, gated %t", name, st, s.Gated(around))
		}
	}
}

// A tool, or an agent, may leave core.bare in any repository, and delete an index, which git makes again.
func TestE4ASettingFreesNoProject(t *testing.T) {
	for _, inLinked := range []bool{false, true} {
		s, root, linked := repository(t)
		if inLinked {
			check(t, errors.Join(s.Revoke(root), s.Approve(linked, noon)))
		}
		gittest.At(t, root).Git("config", "core.bare", "true")
		for range 2 {
			for _, dir := range []string{root, linked} {
				if st := standing(t, s, dir); st.State != Approved || !s.Gated(dir) {
					t.Errorf("approved in the linked one %t, %s: %+v", inLinked, dir, st)
				}
			}
			check(t, os.RemoveAll(filepath.Join(root, ".git/index")))
		}
	}
}
