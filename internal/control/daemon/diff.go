package daemon

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const (
	// maxDiff is how much of a diff a person is shown.
	maxDiff = 128 << 10
	// maxNewFile is how much of a file that git does not know yet, and maxNewFiles of how many.
	maxNewFile  = 16 << 10
	maxNewFiles = 20
)

// Diff implements web.Plane: in a worktree that was made for the work all changes since its base, else
// those that are not committed.
func (p *plane) Diff(ctx context.Context, id string) (diff string, cut bool, err error) {
	o, d, err := p.decision(id)
	if err != nil {
		return "", false, err
	}
	ctx, cancel := context.WithTimeout(ctx, detailPatience)
	defer cancel()
	repo, root, from, found := p.compared(ctx, o, d)
	if !found {
		return "", false, nil
	}
	text := &bounded{left: maxDiff}
	if err := repo.Diff(ctx, text, from, ""); err != nil && !errors.Is(err, errFull) && !text.full {
		return "", false, nil // there is none that could be shown
	}
	if status, err := repo.Status(ctx); err == nil {
		for _, name := range status.Untracked[:min(len(status.Untracked), maxNewFiles)] {
			addNewFile(text, root, name)
		}
	}
	return strings.ToValidUTF8(text.String(), "\uFFFD"), text.full, nil
}

// compared is the working tree that a decision is about, and the commit that it is compared with.
func (p *plane) compared(ctx context.Context, o *engine.Owner, d engine.Decision) (repo git.Repo, root, from string, found bool) {
	if w, has := o.WorkspaceOf(d.Step); has && w.Kind == runbook.Worktree && disk.IsDir(w.Dir) {
		repo = git.At(w.Dir, p.opts.Environ)
		from = startOf(ctx, repo, w)
		return repo, w.Dir, from, from != ""
	}
	for _, dir := range present(placesOf(o, d, lastOf(p.opts.StateDir, d.AgentID))) {
		if root, is := paths.GitRoot(dir); is {
			repo = git.At(root, p.opts.Environ)
			from, _, err := repo.Commit(ctx, "HEAD")
			return repo, root, from, err == nil
		}
	}
	return repo, "", "", false
}

// addNewFile adds a file that git does not know yet, as git would show it.
func addNewFile(to *bounded, root, name string) {
	content, err := regular.Read(filepath.Join(root, name), maxNewFile)
	if err != nil || bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content) {
		return
	}
	var b strings.Builder
	b.WriteString("diff --git a/" + name + " b/" + name + "\nnew file\n@@ -0,0 +1 @@\n")
	for line := range strings.Lines(string(content)) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	_, _ = to.Write([]byte(b.String())) // what does not fit is left out
}

// errFull ends a command whose output is long enough.
var errFull = errors.New("it is long enough")

// bounded keeps the beginning of what is written.
type bounded struct {
	bytes.Buffer
	left int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.full = true
		_, _ = b.Buffer.Write(p[:b.left])
		b.left = 0
		return 0, errFull
	}
	b.left -= len(p)
	return b.Buffer.Write(p)
}
