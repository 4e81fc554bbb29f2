//go:build unix

package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// linked is an approved project whose .gauntlet is a link to tools/g.
func linked(t *testing.T) (s Store, root string) {
	t.Helper()
	root = t.TempDir()
	check(t, os.MkdirAll(filepath.Join(root, "tools/g"), 0o755))
	check(t, os.Symlink("tools/g", filepath.Join(root, ".gauntlet")))
	put(t, root, "config.yml", "{}\n")
	put(t, root, "check.sh", "echo approved\n")
	s = NewStore(t.TempDir())
	check(t, s.Approve(root, noon))
	return s, root
}

// Only a directory of the project is another one in another worktree.
func TestWhereALinkLedInAnotherWorktree(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	root := filepath.Join(top, "project")
	for _, dir := range []string{"project/tools/g", "shared/g"} {
		check(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for target, want := range map[string]string{
		"tools/g":     "/elsewhere/tools/g",
		"../shared/g": filepath.Join(top, "shared/g"),
	} {
		live := filepath.Join(root, ".gauntlet")
		check(t, os.Symlink(target, live))
		if got := realDir("/elsewhere", linkedDir(root, live)); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
		check(t, os.Remove(live))
	}
}

const callTarget = "sh tools/g/check.sh"

// Commands may name the directory that .gauntlet leads to. Leading it elsewhere does not free the
// files there.
func TestE6WhereALinkLedIsAsApproved(t *testing.T) {
	for name, edit := range map[string]string{
		"another link":         `cp -R tools/g tools/h; echo 'echo edited' > tools/g/check.sh; ln -sfn tools/h .gauntlet`,
		"a directory":          `rm .gauntlet; cp -R tools/g .gauntlet; echo 'echo edited' > tools/g/check.sh`,
		"nothing":              `rm .gauntlet; echo 'echo edited' > tools/g/check.sh`,
		"a link to nowhere":    `ln -sfn nowhere .gauntlet; echo 'echo edited' > tools/g/check.sh`,
		"something is planted": `cp -R tools/g tools/h; echo 'echo edited' > tools/g/more.sh; ln -sfn tools/h .gauntlet`,
		"a file is gone":       `cp -R tools/g tools/h; rm tools/g/check.sh; ln -sfn tools/h .gauntlet`,
	} {
		t.Run(name, func(t *testing.T) {
			s, root := linked(t)
			standing, err := s.Standing(root)
			check(t, err)
			if r := runIn(standing.Content, root, callTarget); standing.State != Approved || r.Tail != "approved" {
				t.Fatalf("%s at first: %s %s", standing.State, r, r.Tail)
			}

			if r := runIn(nil, root, edit); !r.OK() {
				t.Fatalf("%s: %s", r, r.Tail)
			}
			standing, err = s.Standing(root)
			check(t, err)
			if standing.State != Edited {
				t.Errorf("it is %s", standing.State)
			}
			if r := runIn(standing.Content, root, callTarget); !errors.Is(r.Err, ErrWithheld) || r.Ran() {
				t.Errorf("%s: %s", r, r.Tail)
			}

			_, err = s.Restore(root)
			check(t, err)
			standing, err = s.Standing(root)
			check(t, err)
			if r := runIn(standing.Content, root, callTarget); standing.State != Approved || r.Tail != "approved" {
				t.Errorf("%s after restoring: %s %s", standing.State, r, r.Tail)
			}
		})
	}
}

// What does not touch the files where the link led is not an edit: a copy elsewhere, a worktree with a
// link of its own, a branch that does not have the directory.
func TestE6ALinkThatLeadsToACopyIsApproved(t *testing.T) {
	for name, do := range map[string]string{
		"nothing":                  `true`,
		"a copy":                   `cp -R tools/g tools/h; ln -sfn tools/h .gauntlet`,
		"the directory is renamed": `mv tools/g tools/h; ln -sfn tools/h .gauntlet`,
		"a directory instead":      `rm .gauntlet; mv tools/g .gauntlet`,
		"an absolute link":         `ln -sfn "$PWD/tools/g" .gauntlet`,
	} {
		s, root := linked(t)
		if r := runIn(nil, root, do); !r.OK() {
			t.Fatalf("%s: %s: %s", name, r, r.Tail)
		}
		standing, err := s.Standing(root)
		check(t, err)
		if r := runIn(standing.Content, root, "sh .gauntlet/check.sh"); standing.State != Approved || !strings.HasPrefix(r.Tail, "approved") {
			t.Errorf("%s: %s %q: %s %s", name, standing.State, standing.Changed, r, r.Tail)
		}
	}
}

// An approval of an older version does not say where a link led.
func TestE6AnOlderApprovalOfALink(t *testing.T) {
	s, root := linked(t)
	a, key, err := s.load(root)
	check(t, err)
	if a.Real != "tools/g" {
		t.Errorf("it led to %q", a.Real)
	}
	a.Real = ""
	check(t, s.save(key, a))
	if standing, err := s.Standing(root); err != nil || standing.State != Approved {
		t.Errorf("%s, %v", standing.State, err)
	}
}
