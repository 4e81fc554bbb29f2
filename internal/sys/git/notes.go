package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TreeOf is the tree of a commit, which must be an id that git gave.
func (r Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	out, err := r.output(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
	return strings.TrimSpace(out), err
}

// Setting is a setting of git's that holds in the directory; empty where it is not set. With asPath it
// is a path, in which ~ stands for a home.
func (r Repo) Setting(ctx context.Context, name string, asPath bool) (string, error) {
	args := []string{"config", "--null", "--get", name}
	if asPath {
		args = slices.Insert(args, 1, "--type=path")
	}
	out, err := r.output(ctx, args...)
	if code(err) == 1 {
		return "", nil // not set
	}
	return strings.TrimSuffix(out, "\x00"), err
}

// CanCommit reports whether git knows in whose name it writes; the error says what is missing.
func (r Repo) CanCommit(ctx context.Context) error {
	_, err := r.output(ctx, "var", "GIT_COMMITTER_IDENT")
	return err
}

// Committer is the address in whose name git makes commits here; empty where it knows none.
func (r Repo) Committer(ctx context.Context) string {
	out, _ := r.output(ctx, "var", "GIT_COMMITTER_IDENT") // NAME <ADDRESS> TIME ZONE
	_, rest, _ := strings.Cut(out, "<")
	address, _, _ := strings.Cut(rest, ">")
	return address
}

// TooLargeError is a text in git that is larger than its reader takes.
type TooLargeError struct{ Size, Most int64 }

func (e *TooLargeError) Error() string { return fmt.Sprintf("%d bytes, more than %d", e.Size, e.Most) }

// Raw is the content of a blob as git has it, whatever attributes say. It must be an id that git gave.
func (r Repo) Raw(ctx context.Context, blob string, most int64) (string, error) {
	size, err := r.output(ctx, "cat-file", "-s", blob)
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil || n > most {
		return "", &TooLargeError{n, most}
	}
	return r.output(ctx, "cat-file", "blob", blob)
}

// Note is the note of a commit under a ref below refs/notes; empty where there is none. The commit must
// be an id that git gave.
func (r Repo) Note(ctx context.Context, ref, commit string, most int64) (string, error) {
	out, err := r.output(ctx, "notes", "--ref="+ref, "list", commit)
	id := strings.TrimSpace(out)
	if code(err) == 1 || err == nil && id == "" {
		return "", nil // git has no other code for it
	}
	if err != nil {
		return "", err
	}
	text, err := r.Raw(ctx, id, most)
	if err != nil {
		return "", fmt.Errorf("the note: %w", err)
	}
	return text, nil
}

// SetNote replaces the note of a commit. The text is stored before the note names it: killed in the
// middle, we leave the note as it was.
func (r Repo) SetNote(ctx context.Context, ref, commit, text string) error {
	var out strings.Builder
	if _, err := r.exec(ctx, strings.NewReader(text), &out, func() {}, "hash-object", "-w", "--stdin"); err != nil {
		return err
	}
	return r.change(ctx, "notes", "--ref="+ref, "add", "--force", "--reuse-message="+strings.TrimSpace(out.String()), commit)
}
