//go:build unix

package stop

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// gitCalls has a scene call a git that notes each of its calls, and gives a function that tells them.
func (s *scene) gitCalls() (since func() []string) {
	s.t.Helper()
	log := filepath.Join(s.t.TempDir(), "calls")
	s.wrapGit("printf '%s ' \"$@\" >> '" + log + "'; echo >> '" + log + "'")
	return func() (calls []string) {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		for line := range strings.Lines(string(text)) {
			_, command, _ := strings.Cut(line, "core.ignoreCase=")
			calls = append(calls, command)
		}
		return calls
	}
}

// wrapGit has a scene call a git that does something else first.
func (s *scene) wrapGit(first string) {
	s.t.Helper()
	real, err := exec.LookPath("git")
	check(s.t, err)
	bin := s.t.TempDir()
	write(s.t, filepath.Join(bin, "git"), "#!/bin/sh\n"+first+"\nexec '"+real+"' \"$@\"\n")
	check(s.t, os.Chmod(filepath.Join(bin, "git"), 0o755))
	path := environ.Get(s.env, "PATH")
	s.env = append(environ.Without(s.env, func(name string) bool { return name == "PATH" }), "PATH="+bin+string(filepath.ListSeparator)+path)
}

// What a stop on a proven tree costs is what git costs: where the tree stands, and which files there are. All else that
// a stop has to know is remembered from the stops before.
func TestAProvenStopAsksGitTwice(t *testing.T) {
	t.Parallel()
	git := func(s *scene, args ...string) { gittest.At(s.t, s.root).Git(args...) }
	for name, work := range map[string]func(s *scene){
		"no prompt was seen": func(s *scene) {},
		"nothing is committed": func(s *scene) {
			s.prompt("do it", nil)
		},
		"a part is committed": func(s *scene) {
			s.prompt("do it", nil)
			s.commit("h", "")
		},
		"on another branch": func(s *scene) {
			s.prompt("do it", nil)
			git(s, "switch", "-q", "-c", "feature")
			s.commit("h", "")
		},
		"a later prompt": func(s *scene) {
			s.prompt("do it", nil)
			s.commit("h", "")
			s.stop(nil)
			s.prompt("more", nil)
		},
		"protected files": func(s *scene) {
			s.keepers = append(s.keepers, protect.Keeper{StateDir: s.state, Now: s.now})
			s.config(untilGood + "protect: [f]\n")
			s.approve()
			s.prompt("do it", nil)
			s.commit("h", "")
		},
		"below the top of its repository": func(s *scene) {
			check(s.t, os.Rename(s.path(".git"), filepath.Join(filepath.Dir(s.root), ".git")))
			write(s.t, filepath.Join(filepath.Dir(s.root), ".git", "info", "exclude"), "/*\n!/"+filepath.Base(s.root)+"\n")
			git(s, "add", "-A")
			git(s, "commit", "-q", "-m", "moved")
			s.approve()
			s.prompt("do it", nil)
		},
		"several commits": func(s *scene) {
			s.prompt("do it", nil)
			s.commit("h", "")
			s.stop(nil)
			s.commit("h", "2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t)
			work(s)
			write(t, s.path("g"), "1")
			wantAllow(t, s.stop(nil))
			s.stop(nil) // what takes one stop to be known is known then
			since := s.gitCalls()
			wantAllow(t, s.stop(nil))
			if calls := since(); len(calls) != 2 {
				t.Errorf("git was called %d times:\n%s", len(calls), strings.Join(calls, ""))
			}
		})
	}
}

// Git that fails says nothing about a commit: the next stop asks again, and what passed is not told as unchecked later.
func TestACommitThatGitCouldNotCompareIsComparedAgain(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	s.commit("h", "")
	once := filepath.Join(t.TempDir(), "once")
	s.wrapGit(`case "$*" in *" refs/remotes/origin/main...HEAD "*) test -e '` + once + `' || { : > '` + once + `'; exit 128; } ;; esac`)
	passed := func() []string { return footprint.NewStore(s.state).Load("s1").Passed }
	wantAllow(t, s.stop(nil))
	if !exists(once) || len(passed()) > 0 {
		t.Fatalf("git was asked: %t, and has told of %q", exists(once), passed())
	}
	wantAllow(t, s.stop(nil))
	if head := change.HeadOf(s.root); !slices.Equal(passed(), []string{head}) {
		t.Errorf("gates have passed in %q, want %s", passed(), head)
	}
}
