//go:build unix

package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/enclave"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// monorepo has a project at its top, a package that is a project of its own, and a linked worktree. Each of the two has a
// script that prints "approved". What the package has beside that is given.
func monorepo(t *testing.T, more string) (s Store, root, pkg, linked string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	pkg = filepath.Join(root, "pkg")
	for _, dir := range []string{root, pkg} {
		put(t, dir, "config.yml", "{}\n")
		put(t, dir, "check.sh", "echo approved\n")
	}
	put(t, pkg, "more.sh", more)
	r := gittest.At(t, root)
	r.Git("init", "-q", "-b", "main")
	r.Git("add", ".")
	r.Git("commit", "-q", "-m", "first")
	parent, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	linked = filepath.Join(parent, "linked")
	r.Git("worktree", "add", "-q", linked)
	s = NewStore(t.TempDir())
	check(t, errors.Join(s.Approve(root, noon), s.Approve(pkg, noon)))
	return s, root, pkg, linked
}

// Gates call what was approved of another project of the repository, or of the same one in another worktree: that is as
// approved, too.
func TestE6ApprovedFilesOfAnotherGauntlet(t *testing.T) {
	const mainOne = `sh "$(git rev-parse --path-format=absolute --git-common-dir)/../.gauntlet/check.sh"`
	for name, c := range map[string]struct {
		in, more, call string // ROOT is the main worktree
		edited         string // the .gauntlet that is
	}{
		"a package calls the top":       {"ROOT/pkg", "", "sh ../.gauntlet/check.sh", "ROOT"},
		"the top calls a package":       {"ROOT", "", "sh pkg/.gauntlet/check.sh", "ROOT/pkg"},
		"by git":                        {"ROOT/pkg", "", `sh "$(git rev-parse --show-toplevel)/.gauntlet/check.sh"`, "ROOT"},
		"in a worktree":                 {"LINKED/pkg", "", "sh ../.gauntlet/check.sh", "LINKED"},
		"a worktree calls the main one": {"LINKED/pkg", mainOne, "sh .gauntlet/more.sh", "ROOT"},
		"its own there":                 {"LINKED/pkg", "git-common-dir", `sh ROOT/pkg/.gauntlet/check.sh`, "ROOT/pkg"},
		"the main one calls a worktree": {"ROOT", `sh LINKED/.gauntlet/check.sh`, "sh pkg/.gauntlet/more.sh", "LINKED"},
		"a worktree by the last of it":  {"ROOT", `D=$HOME; sh "$D"/linked/pkg/.gauntlet/check.sh`, `HOME=$(dirname LINKED) sh pkg/.gauntlet/more.sh`, "LINKED/pkg"},
	} {
		t.Run(name, func(t *testing.T) {
			s, root, pkg, linked := monorepo(t, "")
			at := strings.NewReplacer("ROOT", root, "LINKED", linked).Replace
			for _, dir := range []string{pkg, filepath.Join(linked, "pkg")} {
				put(t, dir, "more.sh", at(c.more))
			}
			in, call := at(c.in), at(c.call)
			if c.more == "" { // a command of its gates
				for _, top := range []string{root, linked} {
					put(t, filepath.Join(top, strings.NewReplacer("ROOT", "", "LINKED", "").Replace(c.in)), "gate.sh", call)
				}
			}
			check(t, errors.Join(s.Approve(root, noon), s.Approve(pkg, noon)))

			content := standing(t, s, in).Content
			content.available = func() error { t.Error("looked for namespaces although nothing differs"); return nil }
			if r := runIn(content, in, call+"; touch ran"); r.Tail != "approved" || !r.OK() {
				t.Fatalf("as approved: %s: %s", r, r.Tail)
			}

			put(t, at(c.edited), "check.sh", "echo edited\n")
			content = standing(t, s, in).Content
			content.available = func() error { return enclave.ErrUnavailable }
			if r := runIn(content, in, "touch it-ran"); !errors.Is(r.Err, ErrWithheld) || r.Ran() || content.Ready() == nil || !strings.Contains(r.Err.Error(), at(c.edited)) {
				t.Errorf("without an enclave: %s: %s", r, r.Tail)
			}
			if err := enclave.Available(); err != nil {
				environtest.Missing(t, "private mount namespace", err)
			}
			content = standing(t, s, in).Content
			if r := runIn(content, in, call); r.Tail != "approved" || !r.OK() {
				t.Errorf("%s: %s", r, r.Tail)
			}
		})
	}
}

// Any other worktree may be of a branch with other files, which are nothing to the gates here.
func TestE6AWorktreeThatNothingNamesMayDiffer(t *testing.T) {
	s, root, pkg, linked := monorepo(t, "test -e src/linked/main.go")
	put(t, linked, "check.sh", "echo of the branch\n")
	for _, dir := range []string{root, pkg} {
		content := standing(t, s, dir).Content
		content.available = func() error { return enclave.ErrUnavailable }
		if r := runIn(content, dir, "sh .gauntlet/check.sh"); r.Tail != "approved" || !r.OK() {
			t.Errorf("%s: %s: %s", dir, r, r.Tail)
		}
	}
}

// A shell takes the path in the remedy as it is, whatever is in it.
func TestTheRemedyElsewhereCanBePasted(t *testing.T) {
	err := &elsewhereError{`/src/[new]/a\b`, errors.New("it differs")}
	if want := "restore with `cd '/src/[new]/a\\b' && stopgate trust --restore`"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%s, want %s", err, want)
	}
}

// Without an enclave only the projects hold gates up that approved files of others name. A person who edits another one
// stops no work here.
func TestE6AProjectThatNothingNamesMayDifferWithoutAnEnclave(t *testing.T) {
	s, root, pkg, _ := monorepo(t, "go test ./... # of pkgs")
	put(t, pkg, "config.yml", "{} # edited\n")
	content := standing(t, s, root).Content
	content.available = func() error { return enclave.ErrUnavailable }
	if r := runIn(content, root, "echo >pkg/.gauntlet/new.yml; sh .gauntlet/check.sh"); content.Ready() != nil || r.Tail != "approved" || !r.OK() {
		t.Errorf("%s: %s, ready: %v", r, r.Tail, content.Ready())
	}

	put(t, root, "all.sh", "for p in pkg; do (cd $p && sh .gauntlet/check.sh); done")
	check(t, s.Approve(root, noon))
	content = standing(t, s, root).Content
	content.available = func() error { return enclave.ErrUnavailable }
	r := runIn(content, root, "touch ran")
	if !errors.Is(r.Err, ErrWithheld) || r.Ran() || !strings.HasPrefix(r.Err.Error(), "restore with `cd "+pkg+" && stopgate trust --restore`") {
		t.Errorf("what it names: %+v", r)
	}
	if _, err := s.Restore(pkg); err != nil || content.Ready() != nil {
		t.Errorf("restored: %v, %v", err, content.Ready())
	}
}

// Without an enclave nothing is taken out of another project: a person may have put it there.
func TestE6WhatIsInAnotherGauntletStays(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		runs bool // also where it is there before
	}{
		"a new check":         {"checks/new.yml", false},
		"a compiled module":   {"__pycache__/check.cpython-311.pyc", false},
		"the Finder's notes":  {".DS_Store", true},
		"an editor's own":     {".config.yml.swp", false},
		"a module in a check": {"checks/__pycache__/a.pyc", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, root, pkg, _ := monorepo(t, "sh ../.gauntlet/check.sh")
			content := standing(t, s, pkg).Content
			content.available = func() error { return enclave.ErrUnavailable }
			file := filepath.Join(root, ".gauntlet", filepath.FromSlash(c.file))
			during := "mkdir -p '" + filepath.Dir(file) + "' && echo >'" + file + "'; sh .gauntlet/more.sh"
			if r := runIn(content, pkg, during); !errors.Is(r.Err, ErrWithheld) {
				t.Errorf("written during a run: %s: %s", r, r.Tail)
			}
			if r := runIn(content, pkg, "sh .gauntlet/more.sh"); r.OK() != c.runs || errors.Is(r.Err, ErrWithheld) == c.runs {
				t.Errorf("there before a run: %s: %s", r, r.Tail)
			}
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
			if _, err := s.Restore(root); err != nil || content.Ready() != nil {
				t.Errorf("restored: %v, %v", err, content.Ready())
			}
		})
	}
}

// A swap of a file that was approved of another project shows, too.
func TestE6ASwapInAnotherGauntletDuringARun(t *testing.T) {
	s, _, pkg, _ := monorepo(t, "sh ../.gauntlet/check.sh")
	content := standing(t, s, pkg).Content
	content.available = func() error { return enclave.ErrUnavailable }
	script := `cp -p ../.gauntlet/check.sh kept; echo 'echo edited' >../.gauntlet/check.sh; sh ../.gauntlet/check.sh; cat kept >../.gauntlet/check.sh`
	if r := runIn(content, pkg, script); !errors.Is(r.Err, ErrWithheld) {
		t.Errorf("%s: %s", r, r.Tail)
	}
}

// Another project may be removed, with a worktree as a rule, after its .gauntlet was seen.
func TestE6AnotherGauntletThatIsGoneHoldsNothingUp(t *testing.T) {
	if err := enclave.Available(); err != nil {
		environtest.Missing(t, "private mount namespace", err)
	}
	s, root, pkg, _ := monorepo(t, "")
	content := standing(t, s, root).Content
	beside := content.places()[1:]
	check(t, os.RemoveAll(pkg))
	watch, covers, err := content.watch(content.live, beside)
	if err != nil || len(beside) != 1 || len(covers) != 1 || covers[0].Dir != content.live {
		t.Fatalf("%d places, covers %+v, %v", len(beside), covers, err)
	}
	if watch.Close() {
		t.Error("something was moved")
	}
	check(t, os.RemoveAll(content.live))
	if _, _, err := content.watch(content.live, beside); err == nil {
		t.Error("the project's own is not missed")
	}
}

// A project may keep its .gauntlet in that of another one.
func TestE6AGauntletWithinAnother(t *testing.T) {
	if err := enclave.Available(); err != nil {
		environtest.Missing(t, "private mount namespace", err)
	}
	s, root, pkg, _ := monorepo(t, "")
	check(t, os.Rename(filepath.Join(pkg, ".gauntlet"), filepath.Join(root, ".gauntlet/pkg")))
	check(t, os.Symlink("../.gauntlet/pkg", filepath.Join(pkg, ".gauntlet")))
	check(t, errors.Join(s.Approve(root, noon), s.Approve(pkg, noon)))
	checktest.Write(t, filepath.Join(root, ".gauntlet/pkg/check.sh"), "echo edited\n")
	checktest.Write(t, filepath.Join(root, ".gauntlet/check.sh"), "echo edited\n")
	for dir, call := range map[string]string{root: "sh .gauntlet/check.sh; sh pkg/.gauntlet/check.sh", pkg: "sh ../.gauntlet/check.sh; sh .gauntlet/check.sh"} {
		if r := runIn(standing(t, s, dir).Content, dir, call); r.Tail != "approved\napproved" {
			t.Errorf("%s: %s: %s", dir, r, r.Tail)
		}
	}
}

// A main worktree that looks like the folder around a bare repository is still one, while it has a .gauntlet.
func TestE6TheMainWorktreeOfARepositoryMadeBare(t *testing.T) {
	s, root, pkg, linked := monorepo(t, `sh "$(git rev-parse --git-common-dir)/../.gauntlet/check.sh"`)
	gittest.At(t, root).Git("config", "core.bare", "true")
	check(t, errors.Join(os.Remove(filepath.Join(root, ".git/index")), s.Approve(pkg, noon)))
	put(t, root, "check.sh", "echo edited\n")
	content := standing(t, s, filepath.Join(linked, "pkg")).Content
	content.available = func() error { return enclave.ErrUnavailable }
	if r := runIn(content, filepath.Join(linked, "pkg"), "sh .gauntlet/more.sh"); !errors.Is(r.Err, ErrWithheld) {
		t.Errorf("%s: %s", r, r.Tail)
	}
}
