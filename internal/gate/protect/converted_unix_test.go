//go:build unix

package protect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// pulled is a session in which a colleague's version of a protected test was pulled.
func pulled(t *testing.T, before, theirs string, prepare func(r *gittest.Repo)) *both {
	t.Helper()
	b := &both{Repo: gittest.New(t), t: t}
	b.Write("tests/a", before, "src", "1\n")
	if prepare != nil {
		prepare(b.Repo)
	}
	b.Commit("base")
	b.Git("branch", "theirs")
	b.theirs("tests/a", theirs)
	b.begin(".")
	b.Git("merge", "-q", "--ff-only", origin)
	return b
}

// What git would store says nothing about the bytes that the tests are run with.
func TestE20WhatGitDoesNotSeeAfterAPull(t *testing.T) {
	for name, do := range map[string]func(b *both){
		"a clean filter": func(b *both) {
			b.Git("config", "filter.x.clean", "git cat-file blob HEAD:tests/a")
			b.Write(".git/info/attributes", "tests/a filter=x\n", "tests/a", "weak\n")
		},
		"a filter both ways": func(b *both) {
			b.Git("config", "filter.x.clean", "git cat-file blob HEAD:tests/a")
			b.Git("config", "filter.x.smudge", "echo weak")
			b.Write(".gitattributes", "tests/a filter=x\n")
			b.Remove("tests/a")
			b.Git("checkout", "-q", "tests/a")
		},
		"a filter of the user": func(b *both) {
			b.Git("config", "--global", "filter.x.smudge", "echo weak")
			b.Git("config", "--global", "filter.x.clean", "git cat-file blob HEAD:tests/a")
			b.Git("config", "--global", "core.attributesFile", b.Path("more"))
			b.Write("more", "tests/a filter=x\n")
			b.Remove("tests/a")
			b.Git("checkout", "-q", "tests/a")
		},
		"committed attributes": func(b *both) {
			b.Git("config", "filter.x.smudge", "echo weak")
			b.Git("config", "filter.x.clean", "git cat-file blob HEAD:tests/a")
			b.Write(".gitattributes", "tests/a filter=x\n")
			b.Commit("mine")
			b.Remove("tests/a")
			b.Git("checkout", "-q", "tests/a")
		},
		"committed attributes, without a program": func(b *both) {
			b.Write(".gitattributes", "tests/a text eol=crlf\n")
			b.Commit("mine")
			b.Remove("tests/a")
			b.Git("checkout", "-q", "tests/a")
		},
		"ident": func(b *both) {
			b.Write(".git/info/attributes", "tests/a ident\n", "tests/a", "theirs\n$Id: skip all $\n")
		},
		"ident, as git writes it": func(b *both) {
			b.Write(".git/info/attributes", "tests/a ident\n")
			b.Remove("tests/a")
			b.Git("checkout", "-q", "tests/a")
		},
		"ends of lines": func(b *both) {
			b.Git("config", "core.autocrlf", "true")
			b.Write("tests/a", "theirs\r\n$Id$\r\n")
		},
		"an encoding": func(b *both) {
			b.Write(".git/info/attributes", "tests/a text working-tree-encoding=UTF-16LE\n")
			b.Remove("tests/a")
			b.Git("checkout", "-q", "tests/a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := pulled(t, "strong\n", "theirs\n$Id$\n", nil)
			want(t, b.p)
			do(b)
			want(t, b.p, "tests/a changed")
		})
	}
}

// largeFiles keeps tests as Git LFS does.
func largeFiles(r *gittest.Repo) {
	r.Write(".gitattributes", "tests/* filter=lfs diff=lfs merge=lfs -text\n", ".git/lfs/tmp", "")
	at := "cd '" + r.Path(".git/lfs") + "'; "
	r.Git("config", "filter.lfs.smudge", at+"cat $(sed -n 's/oid sha256://p')")
	r.Git("config", "filter.lfs.clean", at+`cat >tmp; sum=$(sha256sum tmp | cut -c1-64); cp tmp $sum; `+
		`printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n' $sum $(wc -c <tmp)`)
}

// What git writes by settings from before the session, and by attributes of others, is theirs.
func TestE20WhatGitConvertsInAPull(t *testing.T) {
	large := "the file itself\n"
	pointer := func(text string) string {
		return "version https://git-lfs.github.com/spec/v1\noid sha256:" + digest.Hex(text) + "\nsize 16\n"
	}
	for name, tt := range map[string]struct {
		prepare func(r *gittest.Repo)
		theirs  string
		is      string
	}{
		"ends of lines":             {func(r *gittest.Repo) { r.Git("config", "core.autocrlf", "true") }, "2\n", "2\r\n"},
		"ends of lines of the user": {func(r *gittest.Repo) { r.Git("config", "--global", "core.autocrlf", "true") }, "2\n", "2\r\n"},
		"their attributes":          {func(r *gittest.Repo) { r.Write(".gitattributes", "tests/* text eol=crlf\n") }, "2\n", "2\r\n"},
		"attributes of a folder":    {func(r *gittest.Repo) { r.Write("tests/.gitattributes", "* text eol=crlf\n") }, "2\n", "2\r\n"},
		"own attributes":            {func(r *gittest.Repo) { r.Write(".git/info/attributes", "tests/* text eol=crlf\n") }, "2\n", "2\r\n"},
		"a filter": {func(r *gittest.Repo) {
			r.Git("config", "filter.rot.clean", "tr a-z b-za")
			r.Git("config", "filter.rot.smudge", "tr b-za a-z")
			r.Git("config", "filter.rot.required", "true")
			r.Write(".gitattributes", "tests/* filter=rot\n")
		}, "b\n", "a\n"},
		"a filter that reads the git directory": {func(r *gittest.Repo) {
			r.Git("config", "filter.key.clean", `sed "s/plain/$(cat "$(git rev-parse --git-dir)/key")/"`)
			r.Git("config", "filter.key.smudge", `sed "s/$(cat "$(git rev-parse --git-dir)/key")/plain/"`)
			r.Write(".gitattributes", "tests/* filter=key\n", ".git/key", "secret\n")
		}, "secret 2\n", "plain 2\n"},
		"a filter that is only for commits": {func(r *gittest.Repo) {
			r.Git("config", "filter.strip.clean", "sed /output/d")
			r.Write(".gitattributes", "tests/* filter=strip\n")
		}, "2\n", "2\n"},
		"a large file": {func(r *gittest.Repo) {
			largeFiles(r)
			r.Write(".git/lfs/"+digest.Hex(large), large)
		}, pointer(large), large},
		"a large file that is left out": {func(r *gittest.Repo) { r.Write(".gitattributes", "tests/* filter=lfs -text\n") }, pointer(large), pointer(large)},
	} {
		t.Run(name, func(t *testing.T) {
			b := pulled(t, "1\n", "0\n", tt.prepare)
			b.push("theirs", func(other *gittest.Repo) {
				other.Write("raw", tt.theirs)
				other.Git("update-index", "--add", "--cacheinfo", "100644,"+other.Git("hash-object", "-w", "--no-filters", "raw")+",tests/a")
				other.Remove("raw")
				other.Git("commit", "-q", "-m", "theirs")
				other.Git("reset", "-q", "--hard")
			})
			b.Git("merge", "-q", "--ff-only", origin)
			if text, err := os.ReadFile(b.Path("tests/a")); string(text) != tt.is || err != nil {
				t.Fatalf("it is %q, %v", text, err)
			}
			want(t, b.p)
			b.Write("tests/a", strings.ToUpper(tt.is)+"x")
			want(t, b.p, "tests/a changed")
		})
	}
}

// A worktree that the session made is held to its commit, and to what was set in the main one before.
func TestE20WhatGitDoesNotSeeInAWorktreeOfTheSession(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(r *gittest.Repo)
		do     func(r, wt *gittest.Repo)
		want   []string
	}{
		"as it is": {nil, func(r, wt *gittest.Repo) {}, nil},
		"a clean filter": {nil, func(r, wt *gittest.Repo) {
			r.Git("config", "filter.x.clean", "git cat-file blob HEAD:tests/a")
			r.Write(".git/info/attributes", "tests/a filter=x\n")
			wt.Write("tests/a", "weak\n")
		}, []string{"tests/a changed"}},
		"ident": {nil, func(r, wt *gittest.Repo) {
			r.Write(".git/info/attributes", "tests/a ident\n")
			wt.Write("tests/a", "strong\n$Id: skip all $\n")
		}, []string{"tests/a changed"}},
		"a filter of the person": {func(r *gittest.Repo) {
			r.Git("config", "filter.x.clean", "sed s/strong/kept/")
			r.Git("config", "filter.x.smudge", "sed s/kept/strong/")
			r.Write(".gitattributes", "tests/a filter=x\n")
		}, func(r, wt *gittest.Repo) {}, nil},
		"other ends of lines": {func(r *gittest.Repo) { r.Git("config", "core.autocrlf", "input") }, func(r, wt *gittest.Repo) {
			wt.Write("tests/a", "strong\r\n$Id$\r\n")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("tests/a", "strong\n$Id$\n")
			if tt.before != nil {
				tt.before(r)
			}
			r.Commit("one")
			r.Origin()
			p := at(t, r, ".", "tests/**")
			check(t, p.Begin(t.Context()))
			dir := gittest.Dir(t) + "/wt"
			r.Git("worktree", "add", "-q", "-b", "wt", dir)
			wt := gittest.At(t, dir)
			tt.do(r, wt)
			wt.Git("add", "-A") // from then on git sees no difference
			q := at(t, wt, ".", "tests/**")
			q.StateDir, q.Since.Reflog = p.StateDir, change.Reflog{}
			want(t, q, tt.want...)
		})
	}
}

// Git before 2.26 does not say where a setting is from. The session has a base all the same, and others' work is theirs.
func TestE20AGitWithoutScopes(t *testing.T) {
	b := &both{Repo: gittest.New(t), t: t}
	b.Write("tests/a", "1\n", "tests/b", "1\n")
	b.Commit("base")
	b.Git("branch", "theirs")
	b.theirs("tests/a", "2\n")
	b.Write("tests/b", "the person's\n")
	b.p = at(t, b.Repo, ".", "tests/**")
	b.p.Environ = gittest.Wrap(t, b.Env, `case "$*" in *--show-scope*) exit 129;; esac; exec "$GIT" "$@"`)
	check(t, b.p.Begin(t.Context()))
	b.Git("merge", "-q", "--ff-only", origin)
	want(t, b.p)
	b.Write("tests/a", "weak\n", "tests/b", "weak\n")
	want(t, b.p, "tests/a changed", "tests/b changed")
}

// What a killed hook left goes away, and nothing else is left.
func TestNothingIsLeftAside(t *testing.T) {
	b := pulled(t, "1\n", "2\n", nil)
	aside := filepath.Join(b.p.StateDir, "protect", "aside")
	old, young := filepath.Join(aside, "old"), filepath.Join(aside, "young")
	for _, folder := range []string{old, young} {
		check(t, os.MkdirAll(filepath.Join(folder, "tree"), 0o700))
	}
	before := time.Now().Add(-2 * time.Hour)
	check(t, os.Chtimes(filepath.Join(old, "tree"), before, before))
	check(t, os.Chtimes(old, before, before))
	begun := filepath.Join(aside, "begun") // by another hook, which has written nothing yet
	check(t, os.Mkdir(begun, 0o700))
	b.Git("config", "core.autocrlf", "true") // the file's bytes are not those of the commit
	b.Remove("tests/a")
	b.Git("checkout", "-q", "tests/a")
	want(t, b.p, "tests/a changed")
	entries, err := os.ReadDir(aside)
	if err != nil || len(entries) != 2 || entries[0].Name() != "begun" || entries[1].Name() != "young" {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// What the agent set does not run, and does not hide what it did.
func TestE20NotesAreMadeWithoutWhatTheAgentSet(t *testing.T) {
	for name, do := range map[string]func(r *gittest.Repo){
		"ends of lines": func(r *gittest.Repo) { r.Git("config", "core.autocrlf", "true") },
		"a filter": func(r *gittest.Repo) {
			r.Git("config", "filter.x.smudge", "touch '"+r.Path("ran")+"'; echo weak")
			r.Write(".gitattributes", "*_test.go filter=x\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("a_test.go", "func TestA(t *testing.T) {}\n")
			r.Commit("one")
			r.Origin()
			p := at(t, r, ".", "**/*_test.go")
			check(t, p.Begin(t.Context()))
			do(r)
			r.Write("a_test.go", "package a\n")
			want(t, p, "a_test.go changed", "deleted test TestA (a_test.go:1)")
			if _, err := os.Stat(r.Path("ran")); err == nil {
				t.Error("the filter ran")
			}
		})
	}
}

// A submodule is written by the settings of its own repository.
func TestE20WhatGitConvertsInASubmodule(t *testing.T) {
	inner := gittest.New(t)
	inner.Write("tests/a", "1\n")
	inner.Commit("one")
	b := &both{Repo: gittest.New(t), t: t}
	b.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "lib")
	b.Commit("base")
	b.Git("branch", "theirs")
	module := gittest.At(t, b.Path("lib"))
	module.Git("config", "core.autocrlf", "true")
	b.begin(".")

	inner.Write("tests/a", "2\n")
	next := inner.Commit("two")
	b.push("theirs", func(other *gittest.Repo) { other.Git("update-index", "--cacheinfo", "160000,"+next+",lib") })
	b.Git("merge", "-q", "--ff-only", origin)
	module.Git("fetch", "-q")
	module.Git("checkout", "-q", next)
	if text, err := os.ReadFile(b.Path("lib/tests/a")); string(text) != "2\r\n" || err != nil {
		t.Fatalf("it is %q, %v", text, err)
	}
	want(t, b.p)
	b.Write("lib/tests/a", "weak\n")
	want(t, b.p, "lib/tests/a changed")
}

// An agent's commit in a submodule that takes a file over is the agent's, as in the project itself: the project around
// it names another one.
func TestE20ASubmoduleWithACommitOfTheSession(t *testing.T) {
	inner := gittest.New(t)
	inner.Write("tests/a", "1\n")
	inner.Commit("one")
	b := &both{Repo: gittest.New(t), t: t}
	b.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "lib")
	b.Commit("base")
	b.Git("branch", "theirs")
	module := gittest.At(t, b.Path("lib"))
	b.begin(".")

	inner.Write("tests/a", "2\n")
	next := inner.Commit("two")
	b.push("theirs", func(other *gittest.Repo) { other.Git("update-index", "--cacheinfo", "160000,"+next+",lib") })
	b.Git("merge", "-q", "--ff-only", origin)
	module.Git("fetch", "-q")
	module.Git("checkout", "-q", next, "--", "tests/a")
	module.Git("commit", "-q", "-m", "mine")
	want(t, b.p, "lib/tests/a changed")
	module.Git("checkout", "-q", next)
	want(t, b.p)
}

// Of a file that was pulled its mode counts too, unless the session found it with that, as on a file system that has no
// modes. Of one that others deleted nothing is theirs.
func TestE20WhatBecomesOfAPulledFile(t *testing.T) {
	runs := func(b *both) { check(t, os.Chmod(b.Path("tests/a"), 0o755)) }
	for name, tt := range map[string]struct {
		before, after func(b *both)
		want          []string
	}{
		"as it came":                       {nil, nil, nil},
		"executable":                       {nil, runs, []string{"tests/a changed"}},
		"executable as before":             {runs, runs, nil},
		"deleted":                          {nil, func(b *both) { b.Remove("tests/a") }, []string{"tests/a deleted"}},
		"one that they deleted is another": {nil, func(b *both) { b.Write("tests/old", "2\n") }, []string{"tests/old changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &both{Repo: gittest.New(t), t: t}
			b.Git("config", "core.autocrlf", "true") // git has other bytes
			b.Git("config", "core.fileMode", "false")
			b.Write("tests/a", "1\n", "tests/old", "1\n")
			b.Commit("base")
			b.Git("branch", "theirs")
			b.push("theirs", func(other *gittest.Repo) {
				other.Write("tests/a", "2\n")
				other.Remove("tests/old")
			})
			if tt.before != nil {
				tt.before(b)
			}
			b.begin(".")
			b.Git("merge", "-q", "--ff-only", origin)
			if tt.after != nil {
				tt.after(b)
			}
			want(t, b.p, tt.want...)
		})
	}
}
