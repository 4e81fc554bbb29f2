//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestNames(t *testing.T) {
	odd := []string{"a b", "new\nline", "quote\"d", "ta\tb", "back\\slash", "ü", "-dash", "star*", ":colon", "d/e e/f"}
	if runtime.GOOS != "darwin" { // which refuses such names
		odd = append(odd, "bad\xff\xfeutf8")
	}
	slices.Sort(odd)
	repo := gittest.New(t)
	for _, name := range odd {
		repo.Write(name, "one")
	}
	untracked, err := at(repo).Files(t.Context())
	if diff := cmp.Diff(odd, untracked.Untracked); diff != "" || err != nil {
		t.Error("untracked", diff, err)
	}
	head := repo.Commit("one")
	tracked, err := at(repo).Files(t.Context())
	if diff := cmp.Diff(odd, tracked.Tracked); diff != "" || err != nil {
		t.Error("tracked", diff, err)
	}
	changed, err := at(repo).Changed(t.Context(), EmptyTree(head), head)
	if diff := cmp.Diff(odd, changed); diff != "" || err != nil {
		t.Error("committed", diff, err)
	}
	for _, name := range odd {
		repo.Write(name, "two")
	}
	status, err := at(repo).Status(t.Context())
	slices.Sort(status.Changed)
	if diff := cmp.Diff(Status{Changed: odd}, status); diff != "" || err != nil {
		t.Error("status", diff, err)
	}
	blobs, err := at(repo).Blobs(t.Context())
	if len(blobs) != len(odd) || blobs["new\nline"] != (Blob{"100644", "43dd47ea691c90a5fa7827892c70241913351963"}) || err != nil {
		t.Error("blobs", blobs, err)
	}
}

// The index is made stale on purpose: git would like to write it.
func TestNothingIsWritten(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("a", "one", "b", "one")
	repo.Commit("one")
	old := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(repo.Path("a"), old, old))
	repo.Write("b", "two", "c", "new")
	before := gittest.State(t, repo.Dir)
	everyCall(t, at(repo))
	if diff := cmp.Diff(before, gittest.State(t, repo.Dir)); diff != "" {
		t.Error(diff)
	}
	repo.Git("status")
	if cmp.Equal(before, gittest.State(t, repo.Dir)) {
		t.Error("git status writes nothing here, so the test shows nothing")
	}
}

// What a repository's configuration can name, it could have brought along.
func TestConfigurationRunsNothing(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("a.txt", "one\n", ".gitattributes", "*.txt diff=evil\n")
	repo.Commit("one")
	ran := filepath.Join(gittest.Dir(t), "ran")
	script := repo.Path(".git/evil")
	check(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\n"), 0o755))
	check(t, os.Mkdir(repo.Path(".git/hooks"), 0o755))
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction"} {
		check(t, os.Symlink(script, repo.Path(".git/hooks/"+hook)))
	}
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "pager.status", "pager.diff-index", "pager.rev-list", "diff.external", "diff.evil.command",
		"diff.evil.textconv", "core.editor", "core.sshCommand", "credential.helper", "core.askPass", "gpg.program",
	} {
		repo.Git("config", key, script)
	}
	repo.Git("config", "alias.status", "!"+script)
	repo.Git("config", "alias.ls-files", "!"+script)
	repo.Write("a.txt", "two\n")
	everyCall(t, at(repo))
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("ran: %s", text)
	}
}

func TestEndedContextKillsEverything(t *testing.T) {
	repo := gittest.New(t)
	pidFile := filepath.Join(gittest.Dir(t), "pid")
	env := gittest.Wrap(t, repo.Env, `sleep 1000 & echo $! >'`+pidFile+`.new' && mv '`+pidFile+`.new' '`+pidFile+`'; wait`)
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("time is over")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(pidFile); err == nil {
				cancel(over)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := At(repo.Dir, env).Files(ctx); !errors.Is(err, over) {
		t.Fatalf("got %v", err)
	}
	text, err := os.ReadFile(pidFile)
	check(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(t, err)
	for end := time.Now().Add(time.Minute); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// alive reports whether the process runs; one that is dead and not waited for
// does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err != nil || !strings.HasPrefix(after, "Z")
}

func TestGitsOwnMessagesAreKept(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("a", "")
	tests := []struct {
		name, script string
		err, warning string
	}{
		{"dubious ownership", `GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "$GIT" "$@"`, "git ls-files: detected dubious ownership in repository at '" + repo.Dir + "'", ""},
		{"a warning", `echo "warning: could not open directory 'x/': Permission denied" >&2; exec "$GIT" "$@"`, "", "warning: could not open directory 'x/': Permission denied"},
		{"silence", `exit 7`, "git ls-files: exit 7", ""},
		{"killed", `kill -9 $$`, "git ls-files: exit -1", ""},
		{"10 MB of complaints", `head -c 10000000 /dev/zero | tr '\0' 'x' >&2; exit 1`, "git ls-files: " + strings.Repeat("x", 4096), ""},
		{"no UTF-8", `printf 'fatal: \377\n' >&2; exit 1`, "git ls-files: \uFFFD", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := At(repo.Dir, gittest.Wrap(t, repo.Env, tt.script)).Files(t.Context())
			message := ""
			if err != nil {
				message = err.Error()
			}
			if message != tt.err || list.Warning != tt.warning {
				t.Errorf("got %q, %q", message, list.Warning)
			}
		})
	}
}

// A script of the project is as the agent left it, however it is named.
func TestConversionWithoutScriptsOfTheProject(t *testing.T) {
	repo := gittest.New(t)
	link := gittest.Dir(t) + "/link"
	check(t, os.Symlink(repo.Dir, link))
	repo.Git("config", "filter.a.smudge", "'"+repo.Path("tools/x.sh")+"' %f")
	repo.Git("config", "filter.a.clean", "cat")
	repo.Git("config", "--global", "filter.b.process", "sh "+link+"/x.sh")
	repo.Git("config", "filter.c.smudge", "sed s/a/b/")
	for _, own := range []bool{true, false} {
		got, err := at(repo).Conversion(t.Context(), own)
		var want []string
		if own {
			want = []string{"filter.c.smudge=sed s/a/b/"}
		}
		if !slices.Equal(want, got.Settings) || err != nil {
			t.Errorf("own %t: %q, %v", own, got.Settings, err)
		}
	}
}
