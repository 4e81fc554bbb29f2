package git

import (
	"context"
	"path/filepath"
	"strings"
)

// OriginMain is the ref that is tried where nobody named a base and the remote
// does not say what its default branch is.
const OriginMain = "refs/remotes/origin/main"

// Location is where a directory stands in its repository.
type Location struct {
	GitDir string // absolute
	Inside bool   // the directory is part of the work tree
	Up     string // from the directory to the work tree's root: "", "../", …

	Head          string // commit; empty before the first one
	HasOriginMain bool

	Complete bool   // the base was found, and what follows is known
	Base     string // commit
	Merge    string // merge base of base and tip; empty where there is none
	Tip      string // commit
	Branch   string // full ref, or HEAD when detached
	BaseRef  string // full ref that base stands for; empty if it is none
}

// Prefix is the path of the directory that was located, from the work tree's root: "" or "a/b/".
func (l Location) Prefix(dir string) string {
	rel, err := filepath.Rel(filepath.Join(dir, filepath.FromSlash(l.Up)), dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// Locate asks for everything at once. The revision base may be empty; tip is what
// base is compared with, usually HEAD. That one of them does not exist is not an
// error: the location is then not Complete.
func (r Repo) Locate(ctx context.Context, base, tip string) (Location, error) {
	args := []string{
		"rev-parse", "--absolute-git-dir", "--is-inside-work-tree", "--show-cdup",
		"HEAD", "--glob=refs/remotes/origin/[m]ain", // a pattern may lead to nothing
	}
	switch {
	case base == "":
		args = append(args, "HEAD...HEAD", "--symbolic-full-name", "HEAD")
	case plain(base) && plain(tip):
		args = append(args, base+"..."+tip, "--symbolic-full-name", "HEAD", base)
	}
	out, err := r.output(ctx, append(args, "--")...)
	location, ok := parseLocation(out)
	if code(err) == fatal && ok {
		return location, nil // it got as far as the revision that does not exist
	}
	return location, err
}

// parseLocation reads as much as git printed before it met what does not exist.
// The git directory may contain newlines; none of the lines after it can be
// anything but what they are.
func parseLocation(out string) (l Location, ok bool) {
	end := max(strings.LastIndex(out, "\ntrue\n"), strings.LastIndex(out, "\nfalse\n"))
	if end < 0 {
		return Location{}, false
	}

	l.GitDir = out[:end]
	answer, rest, _ := strings.Cut(out[end+1:], "\n")
	l.Inside = answer == "true"
	lines := strings.Split(rest, "\n")
	if l.Inside {
		l.Up, lines = lines[0], lines[1:]
	}

	var ids, refs []string
	for _, line := range lines {
		switch common, excluded := strings.CutPrefix(line, "^"); {
		case excluded && l.Merge == "" && IsID(common):
			l.Merge = common // of several git takes the first as well
		case IsID(line):
			ids = append(ids, line)
		case line == "--":
			l.Complete = len(ids) >= 3
		case line == "HEAD", strings.HasPrefix(line, "refs/"):
			refs = append(refs, line)
		}
	}
	l.set(ids, refs)
	return l, true
}

// set takes the ids in the order in which git prints them: HEAD, origin/main if
// it exists, tip, base.
func (l *Location) set(ids, refs []string) {
	if n := len(ids); n > 0 {
		l.Head = ids[0]
		l.HasOriginMain = n == 2 || n == 4
		if l.Complete {
			l.Tip, l.Base = ids[n-2], ids[n-1]
		}
	}
	refs = append(refs, "", "")
	l.Branch, l.BaseRef = refs[0], refs[1]
}

// UnbornBranch is the short name of the branch that the first commit will make.
func (r Repo) UnbornBranch(ctx context.Context) (string, error) {
	out, err := r.output(ctx, "symbolic-ref", "--short", "HEAD")
	return strings.TrimSuffix(out, "\n"), err
}
