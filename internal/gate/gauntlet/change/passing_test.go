package change

import (
	"os"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestFilesOfEditors(t *testing.T) {
	for _, name := range []string{".main.go.swp", "deep/.x.swo", ".a.swx", "main.go~", "~~", "#main.go#", ".#main.go", "d/4913"} {
		if !isEditors(name) {
			t.Errorf("%s is a file of an editor", name)
		}
	}
	for _, name := range []string{"main.go", "~", "a~b", "#", "##", "#a", ".swp", "a.swp", ".a.swift", ".sw", "4913.go", "d~/f", "4913/f", "#d#/f", "d~/", ".d.swp/", "4913/"} {
		if isEditors(name) {
			t.Errorf("%s is not a file of an editor", name)
		}
	}
}

// What comes and goes without any work leaves a tree as it was found.
func TestE13WhatComesAndGoesIsNotWork(t *testing.T) {
	sparse := func(r *gittest.Repo) { r.Git("sparse-checkout", "set", "--no-cone", "/*", "!/d/") }
	for name, tt := range map[string]struct {
		before, session func(r *gittest.Repo)
		want            []string // nil: idle
	}{
		"an editor is opened": {session: func(r *gittest.Repo) { r.Write(".f.swp", "1", "d/.#f", "1") }},
		"an editor is closed": {
			before:  func(r *gittest.Repo) { r.Write(".f.swp", "1") },
			session: func(r *gittest.Repo) { r.Remove(".f.swp"); r.Write("f~", "1") },
		},
		"an editor outside of git": {
			before:  func(r *gittest.Repo) { check(t, os.RemoveAll(r.Path(".git"))) },
			session: func(r *gittest.Repo) { r.Write(".f.swp", "1") },
		},
		"an editor and work":             {session: func(r *gittest.Repo) { r.Write(".f.swp", "1", "f", "2") }, want: []string{"f"}},
		"work, and an editor":            {session: func(r *gittest.Repo) { r.Write("f", "2", "f~", "1") }, want: []string{"f"}},
		"a sparse checkout":              {session: sparse},
		"a sparse checkout, turned off":  {before: sparse, session: func(r *gittest.Repo) { r.Git("sparse-checkout", "disable") }},
		"a sparse checkout, other files": {before: sparse, session: func(r *gittest.Repo) { r.Git("sparse-checkout", "set", "--no-cone", "/*", "!/e/") }},
		"a sparse checkout of converted files": {
			before: func(r *gittest.Repo) {
				r.Git("config", "core.autocrlf", "true")
				r.Remove("d/f")
				r.Git("checkout", "--quiet", "d/f")
			},
			session: sparse,
		},
		"a tracked file with such a name": {
			before:  func(r *gittest.Repo) { r.Write("x~", "1"); r.Commit("x") },
			session: func(r *gittest.Repo) { r.Write("x~", "2") },
			want:    []string{"x~"},
		},
		"a file with such a name that is tracked now": {
			session: func(r *gittest.Repo) { r.Write("x~", "1"); r.Git("add", "x~") },
			want:    []string{"x~"},
		},
		"a tracked file with such a name, deleted": {
			before:  func(r *gittest.Repo) { r.Write("x~", "1"); r.Commit("x") },
			session: func(r *gittest.Repo) { r.Git("rm", "--quiet", "x~") },
			want:    []string{"x~"},
		},
		"a file that is deleted and marked": {
			session: func(r *gittest.Repo) { r.Git("update-index", "--skip-worktree", "d/f"); r.Remove("d/f") },
			want:    []string{"d/f"},
		},
		"a file that is deleted and marked, where a sparse checkout was": {
			before:  func(r *gittest.Repo) { sparse(r); r.Git("sparse-checkout", "disable") },
			session: func(r *gittest.Repo) { r.Git("update-index", "--skip-worktree", "d/f"); r.Remove("d/f") },
			want:    []string{"d/f"},
		},
		"a file that a sparse checkout shows again, with another mode": {
			before: sparse,
			session: func(r *gittest.Repo) {
				r.Git("sparse-checkout", "disable")
				check(t, os.Chmod(r.Path("d/f"), 0o755))
			},
			want: []string{"d/f"},
		},
		"a file that a sparse checkout shows again, by a filter of the session": {
			before: sparse,
			session: func(r *gittest.Repo) {
				r.Git("config", "filter.x.smudge", "echo weak")
				r.Write(".git/info/attributes", "d/f filter=x\n")
				r.Git("sparse-checkout", "disable")
			},
			want: []string{"d/f"},
		},
		"a file that is deleted beside a sparse checkout": {
			before:  sparse,
			session: func(r *gittest.Repo) { r.Remove("e/f") },
			want:    []string{"e/f"},
		},
		"a commit behind a sparse checkout": {
			session: func(r *gittest.Repo) { r.Write("d/f", "2\n"); r.Commit("two"); sparse(r) },
			want:    []string{"d/f"},
		},
		"a commit in front of a sparse checkout": {
			before: sparse,
			session: func(r *gittest.Repo) {
				r.Git("sparse-checkout", "disable")
				r.Write("d/f", "2\n")
				r.Git("add", "--all")
			},
			want: []string{"d/f"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("f", "1\n", "d/f", "1\n", "e/f", "1\n")
			r.Commit("one")
			r.Origin()
			if tt.before != nil {
				tt.before(r)
			}
			w := open(t, r)
			found := kept(t, w)
			tt.session(r)
			got, err := w.Altered(t.Context(), tree(t, w), Baseline{"s", found})
			check(t, err)
			if got.Idle != (tt.want == nil) || tt.want != nil && !slices.Equal(got.Files, tt.want) {
				t.Errorf("altered: %q, idle: %t", got.Files, got.Idle)
			}
		})
	}
}
