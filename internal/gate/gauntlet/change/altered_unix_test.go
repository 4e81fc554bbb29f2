//go:build unix

package change

import (
	"os"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// Modes and links count, whatever git is told about them.
func TestAlteredKinds(t *testing.T) {
	tests := map[string]struct {
		before, session func(t *testing.T, r *gittest.Repo)
		want            []string
	}{
		"no longer executable": {
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("config", "core.fileMode", "false")
				chmod(t, r, "run", 0o644)
			},
			want: []string{"run"},
		},
		"executable where git does not look": {
			before:  func(t *testing.T, r *gittest.Repo) { r.Git("config", "core.fileMode", "false") },
			session: func(t *testing.T, r *gittest.Repo) { chmod(t, r, "a", 0o755) },
			want:    []string{"a"},
		},
		"a link that became a file": {
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("config", "core.symlinks", "false")
				r.Remove("link")
				r.Write("link", "a")
			},
			want: []string{"link"},
		},
		"a pull where everything is executable": {
			before: func(t *testing.T, r *gittest.Repo) {
				r.Git("config", "core.fileMode", "false")
				theirs(r, "a", "2\n", "their", "1\n")
				for _, name := range []string{"a", "b", "sub/c", "text", ".gitignore"} {
					chmod(t, r, name, 0o755)
				}
			},
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				chmod(t, r, "a", 0o755)
				chmod(t, r, "their", 0o755)
			},
		},
		"a pull where a person has made one file executable": {
			before: func(t *testing.T, r *gittest.Repo) {
				theirs(r, "their", "1\n")
				chmod(t, r, "b", 0o755)
			},
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				chmod(t, r, "their", 0o755)
			},
			want: []string{"their"},
		},
		"a new file of a pull is executable by the session": {
			before: func(t *testing.T, r *gittest.Repo) { theirs(r, "their", "1\n") },
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Git("config", "core.fileMode", "false")
				chmod(t, r, "their", 0o755)
			},
			want: []string{"their"},
		},
		"a new program of a pull is not, where git did not look before": {
			before: func(t *testing.T, r *gittest.Repo) {
				theirProgram(t, r, "their")
				r.Git("config", "core.fileMode", "false")
			},
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				chmod(t, r, "their", 0o644)
			},
			want: []string{"their"},
		},
		"a pull of a program where nothing is executable": {
			before: func(t *testing.T, r *gittest.Repo) {
				theirProgram(t, r, "their")
				r.Git("config", "core.fileMode", "false")
				chmod(t, r, "run", 0o644)
			},
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				chmod(t, r, "their", 0o644)
			},
		},
		"a pull makes a file executable, the session takes it back": {
			before: func(t *testing.T, r *gittest.Repo) { theirProgram(t, r, "a") },
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Git("config", "core.fileMode", "false")
				chmod(t, r, "a", 0o644)
			},
			want: []string{"a"},
		},
		"a pull that changes kinds": {
			before: func(t *testing.T, r *gittest.Repo) {
				r.Git("switch", "--quiet", "--create", "theirs")
				r.Remove("link", "b")
				r.Write("link", "a file\n")
				check(t, os.Symlink("a", r.Path("b")))
				chmod(t, r, "run", 0o644)
				chmod(t, r, "a", 0o755)
				r.Commit("theirs")
				r.Git("switch", "--quiet", "-")
			},
			session: func(t *testing.T, r *gittest.Repo) { r.Git("merge", "--quiet", "theirs") },
		},
		"a new link of a pull is a file by a setting of the session": {
			before: func(t *testing.T, r *gittest.Repo) {
				r.Git("switch", "--quiet", "--create", "theirs")
				check(t, os.Symlink("b", r.Path("other")))
				r.Commit("theirs")
				r.Git("switch", "--quiet", "-")
			},
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Git("config", "core.symlinks", "false")
				again(r, "other")
			},
			want: []string{"other"},
		},
		"a new file of a pull is a link by the session": {
			before: func(t *testing.T, r *gittest.Repo) { theirs(r, "their", "a") },
			session: func(t *testing.T, r *gittest.Repo) {
				r.Git("merge", "--quiet", "theirs")
				r.Git("config", "core.symlinks", "false")
				r.Remove("their")
				check(t, os.Symlink("a", r.Path("their")))
			},
			want: []string{"their"},
		},
		"a pull of a link where there are none": {
			before: func(t *testing.T, r *gittest.Repo) {
				r.Git("switch", "--quiet", "--create", "theirs")
				check(t, os.Symlink("b", r.Path("other")))
				r.Commit("theirs")
				r.Git("switch", "--quiet", "-")
				r.Git("config", "core.symlinks", "false")
			},
			session: func(t *testing.T, r *gittest.Repo) { r.Git("merge", "--quiet", "theirs") },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := small(t)
			r.Write("run", "true\n")
			chmod(t, r, "run", 0o755)
			check(t, os.Symlink("a", r.Path("link")))
			r.Commit("kinds")
			if test.before != nil {
				test.before(t, r)
			}
			w := open(t, r)
			found := kept(t, w)
			test.session(t, r)
			if got := altered(t, w, found); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// theirProgram makes a branch "theirs" with a program.
func theirProgram(t *testing.T, r *gittest.Repo, name string) {
	t.Helper()
	r.Git("switch", "--quiet", "--create", "theirs")
	r.Write(name, "true\n")
	chmod(t, r, name, 0o755)
	r.Commit("theirs")
	r.Git("switch", "--quiet", "-")
}

func chmod(t *testing.T, r *gittest.Repo, name string, mode os.FileMode) {
	t.Helper()
	check(t, os.Chmod(r.Path(name), mode))
}
