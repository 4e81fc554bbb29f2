package git

import (
	"maps"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// Whatever makes git write other bytes, outside of the tree, is told apart by whose it is.
func TestConversionMark(t *testing.T) {
	var none Settings
	tests := map[string]struct {
		set       func(r *gittest.Repo, home *gittest.Repo)
		user, own bool
	}{
		"nothing":                   {},
		"what every repository has": {set: func(r, _ *gittest.Repo) { r.Git("config", "core.fileMode", "true"); r.Git("config", "user.name", "x") }},
		"ends of lines":             {set: func(r, _ *gittest.Repo) { r.Git("config", "core.autocrlf", "input") }, own: true},
		"ends of lines, globally":   {set: func(r, _ *gittest.Repo) { r.Git("config", "--global", "core.eol", "crlf") }, user: true},
		"a filter":                  {set: func(r, _ *gittest.Repo) { r.Git("config", "filter.x.smudge", "cat") }, own: true},
		"no modes":                  {set: func(r, _ *gittest.Repo) { r.Git("config", "core.fileMode", "0") }, own: true},
		"no links, in a worktree": {set: func(r, _ *gittest.Repo) {
			r.Git("config", "extensions.worktreeConfig", "true")
			r.Git("config", "--worktree", "core.symlinks", "no")
		}, own: true},
		"an included file": {set: func(r, home *gittest.Repo) {
			home.Write("more", "[core]\n\tautocrlf = true\n")
			r.Git("config", "--global", "include.path", "more")
		}, user: true},
		"attributes of the repository": {set: func(r, _ *gittest.Repo) { r.Write(".git/info/attributes", "* text\n") }, own: true},
		"attributes of the user":       {set: func(_, home *gittest.Repo) { home.Write(".config/git/attributes", "* text\n") }, user: true},
		"attributes that a user named": {set: func(r, home *gittest.Repo) {
			home.Write("a", "* text\n")
			r.Git("config", "--global", "core.attributesFile", "~/a")
		}, user: true},
		"attributes that no file holds": {set: func(r, _ *gittest.Repo) { r.Write(".git/info/attributes", "") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			home := *r
			home.Dir = environ.Get(r.Env, "HOME")
			before, err := at(r).ConversionMark(t.Context())
			check(t, err)
			if test.set != nil {
				test.set(r, &home)
			}
			now, err := at(r).ConversionMark(t.Context())
			check(t, err)
			if (now.User != before.User) != test.user || (now.Own != before.Own) != test.own || before.Own != none {
				t.Errorf("before %+v, now %+v", before, now)
			}
			if now.FileMode != (name != "no modes") || now.Symlinks != (name != "no links, in a worktree") {
				t.Errorf("got %+v", now)
			}
		})
	}
}

// Both sides of a file are given, from the top of the work tree.
func TestRevised(t *testing.T) {
	r := gittest.New(t)
	r.Write("gone", "1\n", "sub/same", "1\n", "sub/changed", "1\n")
	from := r.Commit("one")
	r.Remove("gone")
	r.Write("sub/changed", "2\n", "new\nname", "1\n")
	to := r.Commit("two")
	got, err := At(r.Path("sub"), r.Env).Revised(t.Context(), from, to)
	check(t, err)
	blob := func(revision string) Blob { return Blob{Mode: "100644", ID: r.Git("rev-parse", revision)} }
	want := map[string]Revision{
		"gone":        {From: blob(from + ":gone")},
		"sub/changed": {From: blob(from + ":sub/changed"), To: blob(to + ":sub/changed")},
		"new\nname":   {To: blob(to + ":new\nname")},
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
