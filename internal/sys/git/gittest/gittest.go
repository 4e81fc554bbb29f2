// Package gittest makes repositories for tests: with a fixed identity, and out of
// reach of the configuration of whoever runs them.
package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// Repo is a repository in a temporary directory.
type Repo struct {
	t   testing.TB
	Dir string
	Env []string
}

// Environ is an environment in which git finds no configuration.
func Environ(t testing.TB) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=", // its thirteen sample hooks take most of the time of git init
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A U Thor", "GIT_COMMITTER_EMAIL=author@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// Dir is a new directory without links in its path.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	checktest.OK(t, err)
	return dir
}

// New makes an empty repository on branch main. The options are those of git
// init.
func New(t testing.TB, options ...string) *Repo {
	t.Helper()
	r := At(t, Dir(t))
	r.Git(append([]string{"init", "--quiet", "--initial-branch=main"}, options...)...)
	return r
}

// At works in a directory that is or will be a repository.
func At(t testing.TB, dir string) *Repo {
	t.Helper()
	environtest.Need(t, "git")
	return &Repo{t, dir, Environ(t)}
}

// Git runs git and gives its output without the last newline.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

// Try is Git for a command that may fail.
func (r *Repo) Try(args ...string) (string, error) {
	// Submodules come from directories beside the repository, and no repository lives long enough to be packed.
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// Path is where a file lies.
func (r *Repo) Path(name string) string { return filepath.Join(r.Dir, filepath.FromSlash(name)) }

// Write writes files, given as name and content in turn.
func (r *Repo) Write(namesAndContents ...string) {
	r.t.Helper()
	for i := 0; i < len(namesAndContents); i += 2 {
		path := r.Path(namesAndContents[i])
		checktest.OK(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		checktest.OK(r.t, os.WriteFile(path, []byte(namesAndContents[i+1]), 0o644))
	}
}

// Remove removes files or folders.
func (r *Repo) Remove(names ...string) {
	r.t.Helper()
	for _, name := range names {
		checktest.OK(r.t, os.RemoveAll(r.Path(name)))
	}
}

// Commit commits everything and gives the commit's id.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.Git("rev-parse", "HEAD")
}

// Origin makes HEAD what the remote's default branch, main, was when it was last
// fetched.
func (r *Repo) Origin() {
	r.t.Helper()
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
}
