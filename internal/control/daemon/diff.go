package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

const (
	// maxDiff is how much of a diff a person is shown.
	maxDiff = 128 << 10
	// maxNewFile is how much of a file that git does not know yet, and maxNewFiles of how many.
	maxNewFile  = 16 << 10
	maxNewFiles = 20
)

// Diff implements web.Plane: in a worktree that was made for the work all changes since its base, else
// those that are not committed. What takes long is left out.
func (p *plane) Diff(ctx context.Context, id string) (diff string, cut bool, err error) {
	o, d, err := p.decision(id)
	if err != nil {
		return "", false, err
	}
	found := <-within(ctx, func(ctx context.Context) []string {
		repo, root, from, found := p.compared(ctx, o, d)
		if !found {
			return nil
		}
		text := diffIn(ctx, repo, root, from)
		return []string{text.String(), strconv.FormatBool(text.full)}
	})
	if found == nil {
		return "", false, nil
	}
	return strings.ToValidUTF8(found[0], "\uFFFD"), found[1] == "true", nil
}

// diffIn is how a working tree comes from a commit, with the files that git does not know yet.
func diffIn(ctx context.Context, repo git.Repo, root, from string) *bounded {
	text := &bounded{left: maxDiff}
	if err := repo.Diff(ctx, text, from, ""); err != nil && !text.full {
		return &bounded{}
	}
	if status, err := repo.Status(ctx); err == nil {
		for _, name := range status.Untracked[:min(len(status.Untracked), maxNewFiles)] {
			addNewFile(text, root, name)
		}
	}
	return text
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
	content, err := readInside(root, name)
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

// readInside reads a small regular file in a directory. An agent may have put a link in its place, or in
// that of a directory on the way: nothing outside is read.
func readInside(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxNewFile {
		return nil, errors.Join(err, errFull)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxNewFile))
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
