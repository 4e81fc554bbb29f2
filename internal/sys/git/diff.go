package git

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Changed lists the files below the directory in which two commits or trees
// differ, deleted ones included, relative to the directory. A file that moved
// counts with both its names. Both must be ids that git gave; without to it is the work tree that
// is compared.
func (r Repo) Changed(ctx context.Context, from, to string) ([]string, error) {
	command, sides := compared(from, to)
	return r.names(ctx, slices.Concat(command, []string{"-z", "--name-only", "--no-renames", "--ignore-submodules=none", "--relative"}, sides)...)
}

// compared are the beginning and the end of a command that compares a tree with another one, or
// with the work tree.
func compared(from, to string) (command, sides []string) {
	if to == "" {
		return []string{"diff-index"}, []string{from, "--"}
	}
	return []string{"diff-tree", "-r"}, []string{from, to, "--"}
}

// IgnoredPlaces lists the files and folders of the whole work tree that git ignores, relative to
// the directory. A folder of which nothing else counts is one name that ends in "/".
func (r Repo) IgnoredPlaces(ctx context.Context) ([]string, error) {
	return r.names(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", ":/")
}

// Rule is the line of a file by which git ignores another one. Git names files of the work tree from its top.
type Rule struct {
	Source string
	Line   int // the first is 1
}

// IgnoredBy gives the rules by which git ignores places in the directory, by their names.
func (r Repo) IgnoredBy(ctx context.Context, places []string) (map[string]Rule, error) {
	if len(places) == 0 {
		return nil, nil
	}
	const here = "./" // a name that begins with ":" would be a pattern
	var out strings.Builder
	_, err := r.exec(ctx, strings.NewReader(here+strings.Join(places, "\x00"+here)+"\x00"), &out, func() {}, "check-ignore", "-z", "--verbose", "--no-index", "--stdin")
	if err != nil && code(err) != 1 { // then none is
		return nil, err
	}
	rules := map[string]Rule{}
	for field := range slices.Chunk(slices.Collect(records(out.String())), 4) {
		if len(field) < 4 {
			break
		}
		if line, err := strconv.Atoi(field[1]); err == nil {
			rules[strings.TrimPrefix(field[3], here)] = Rule{field[0], line}
		}
	}
	return rules, nil
}

// Ignores reports whether git ignores a place in the directory.
func (r Repo) Ignores(ctx context.Context, place string) (bool, error) {
	err := r.run(ctx, io.Discard, "check-ignore", "--quiet", "--", "./"+place) // a name that begins with ":" would be a pattern
	if code(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// BranchesWith lists the local branches that have one of some commits. All must be ids that git gave.
func (r Repo) BranchesWith(ctx context.Context, commits ...string) ([]string, error) {
	return r.refsWith(ctx, commits, "refs/heads")
}

// SharedWith lists the branches of remotes and the tags that have one of some commits. All must be ids that git gave.
func (r Repo) SharedWith(ctx context.Context, commits ...string) ([]string, error) {
	return r.refsWith(ctx, commits, "refs/remotes", "refs/tags")
}

func (r Repo) refsWith(ctx context.Context, commits []string, below ...string) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	args := []string{"for-each-ref", "--format=%(refname:short)"}
	for _, commit := range commits {
		args = append(args, "--contains="+commit)
	}
	out, err := r.output(ctx, append(args, below...)...)
	if err != nil {
		return nil, err // a name may be cut off
	}
	return strings.Fields(out), nil
}

// Diff writes how to comes from from, as a unified diff of the files below the
// directory. An empty to is the work tree with its tracked files. A file that
// moved is deleted and added, so both names in a header are the same.
//
// These are git's plumbing commands because they read none of the user's
// settings for how a diff looks and do not refresh the index. So a file that was
// touched and not changed gives a header without a body.
func (r Repo) Diff(ctx context.Context, w io.Writer, from, to string) error {
	return r.diff(ctx, w, from, to)
}

// DiffText is Diff for some files, relative to the directory, which are compared as text
// even where an attribute or a setting of the repository says that they are none.
func (r Repo) DiffText(ctx context.Context, w io.Writer, from, to string, names []string) error {
	const atOnce = 200 // names may be 4 KiB long, and a command line of 2 MiB holds the more
	for names := range slices.Chunk(names, atOnce) {
		if err := r.diff(ctx, w, from, to, names...); err != nil {
			return err
		}
	}
	return nil
}

func (r Repo) diff(ctx context.Context, w io.Writer, from, to string, names ...string) error {
	command, sides := compared(from, to)
	if len(names) > 0 {
		command = append(command, "--text")
	}
	for _, name := range names {
		sides = append(sides, ":(literal)"+name)
	}
	return r.run(ctx, w, slices.Concat(command, unified, sides)...)
}

// unified are the options for a unified diff that looks the same for all users.
var unified = []string{
	"-p", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=none",
	"--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", "--relative",
}

// Staged writes, for a machine, how the index differs from a commit; where that is empty,
// all of the index.
func (r Repo) Staged(ctx context.Context, w io.Writer, head string) error {
	args := []string{"diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", head, "--"}
	if head == "" {
		args = []string{"ls-files", "--stage", "-z"}
	}
	return r.run(ctx, w, args...)
}
