package git

import (
	"context"
	"fmt"
	"strings"
)

// plain reports whether a name from outside can stand where git expects one
// revision. What git would take for an option, a range, an exclusion, a path in a
// tree or a pattern is no revision to us; nor is anything that no ref can be
// named.
func plain(revision string) bool {
	if revision == "" || strings.HasPrefix(revision, "-") || strings.HasPrefix(revision, "^") {
		return false
	}
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`:?*[\`, r) }
	return !strings.Contains(revision, "..") && !strings.ContainsFunc(revision, odd)
}

// Commit resolves a revision to its commit and that commit's first parent, which
// is empty for a root.
func (r Repo) Commit(ctx context.Context, revision string) (id, parent string, err error) {
	if !plain(revision) {
		return "", "", noSuchRef(revision)
	}
	out, err := r.output(ctx, "rev-list", "--parents", "--max-count=1", "--end-of-options", revision, "--")
	ids := append(strings.Fields(out), "", "")
	switch {
	case code(err) == fatal, err == nil && !IsID(ids[0]):
		return "", "", noSuchRef(revision)
	case err != nil:
		return "", "", err
	}
	return ids[0], ids[1], nil
}

// Reachable reports whether commit is part of the history of tip.
func (r Repo) Reachable(ctx context.Context, commit, tip string) (bool, error) {
	if !plain(commit) || !plain(tip) {
		return false, noSuchRef(commit, tip)
	}
	_, err := r.output(ctx, "merge-base", "--is-ancestor", "--end-of-options", commit, tip)
	switch code(err) {
	case 0:
		return true, nil
	case 1:
		return false, nil
	case fatal:
		return false, noSuchRef(commit, tip)
	}
	return false, err
}

// fatal is the exit code with which git says that it can do nothing at all. Of
// a command that was given nothing but revisions it means that one of them is
// none: git has many words for that.
const fatal = 128

func noSuchRef(revisions ...string) error {
	return fmt.Errorf("%w: %s", ErrNoSuchRef, strings.Join(revisions, " or "))
}

// EmptyTree is the id of the tree without files, in the kind of hash that id is.
// Git knows it without having it.
func EmptyTree(id string) string {
	if len(id) == 64 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// IsID reports whether s is an object's id, SHA-1 or SHA-256.
func IsID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
