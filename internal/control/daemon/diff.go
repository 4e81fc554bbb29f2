package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const (
	// maxDiff is how much of a diff a person is shown.
	maxDiff = 128 << 10
	// maxNewFile is how much of a file that git does not know yet is shown, and maxNewFiles of how many.
	maxNewFile  = 16 << 10
	maxNewFiles = 20
	// maxNames is how many files are named that are not shown, of those that git knows and of the others.
	maxNames = 100
)

// Diff implements web.Plane: in a worktree that was made for the work all changes since its base, else
// those that are not committed.
func (p *plane) Diff(ctx context.Context, id string) (web.Diff, error) {
	o, d, err := p.decision(id)
	if err != nil {
		return web.Diff{}, err
	}

	type result struct {
		diff web.Diff
		err  error
	}

	made := <-within(ctx, func(ctx context.Context) *result {
		repo, root, from, err := p.compared(ctx, o, d)
		if err != nil || root == "" {
			return &result{err: err}
		}
		diff, err := diffIn(ctx, repo, root, from)
		return &result{diff, err}
	})
	switch {
	case ctx.Err() != nil:
		return web.Diff{}, ctx.Err()
	case made == nil:
		return web.Diff{}, fmt.Errorf("git took longer than %s", detailPatience)
	}
	return made.diff, made.err
}

// diffIn is how a working tree comes from a commit, with the files that git does not know yet. What is not
// shown is named, as far as there is room: an agent must not hide a file from the person who approves.
func diffIn(ctx context.Context, repo git.Repo, root, from string) (web.Diff, error) {
	text := &bounded{left: maxDiff}
	if err := repo.Diff(ctx, text, from, ""); err != nil && !text.full {
		return web.Diff{}, err
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return web.Diff{}, err
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return web.Diff{}, err
	}
	defer inside.Close()

	diff := web.Diff{Text: text.lines(), Cut: text.full}
	if text.full {
		if err := nameRest(ctx, repo, from, &diff); err != nil {
			return web.Diff{}, err
		}
	}
	room := text.left
	named := status.Untracked[:min(len(status.Untracked), maxNames)]
	for i, name := range named {
		body, shown := newFile(inside, name)
		if shown && (i >= maxNewFiles || len(body) > room) {
			body, shown = notShown(fmt.Sprintf("%d bytes", size(inside, name))), false
		}
		if shown {
			room -= len(body)
		}
		diff.Cut = diff.Cut || !shown
		diff.Text += header(name) + "new file\n" + body
	}
	diff.Unnamed += len(status.Untracked) - len(named)
	diff.Cut = diff.Cut || diff.Unnamed > 0
	diff.Text = strings.ToValidUTF8(diff.Text, "\uFFFD")
	return diff, nil
}

// nameRest names the files that were changed and are not in a diff that was cut.
func nameRest(ctx context.Context, repo git.Repo, from string, diff *web.Diff) error {
	changed, err := repo.Changed(ctx, from, "")
	if err != nil {
		return err
	}
	if last := strings.LastIndex("\n"+diff.Text, "\n"+diffHeader); last >= 0 && !strings.Contains(diff.Text[last:], "\n@@ ") {
		diff.Text = diff.Text[:last] // nothing of that file is shown
	}

	shown := map[string]bool{}
	for line := range strings.Lines(diff.Text) {
		shown[line] = true
	}

	named := 0
	for _, name := range changed {
		switch {
		case shown[header(name)]:
		case named == maxNames:
			diff.Unnamed++
		default:
			named++
			diff.Text += header(name) + notShown("changed")
		}
	}
	return nil
}

// diffHeader begins the first line of a diff about a file.
const diffHeader = "diff --git "

func header(name string) string {
	return diffHeader + change.Quote("a/"+name) + " " + change.Quote("b/"+name) + "\n"
}

// compared is the working tree that a decision is about, and the commit that it is compared with. There is
// no root where git keeps none of the places.
func (p *plane) compared(ctx context.Context, o *engine.Owner, d engine.Decision) (repo git.Repo, root, from string, err error) {
	if w, has := o.WorkspaceOf(d.Step); has && w.Kind == runbook.Worktree && disk.IsDir(w.Dir) {
		repo = git.At(w.Dir, p.opts.Environ)
		if from = startOf(ctx, repo, w); from == "" {
			err = errors.New("the commit that the worktree was made from is not known")
		}
		return repo, w.Dir, from, err
	}
	for _, dir := range present(placesOf(o, d, lastOf(p.opts.StateDir, d.AgentID))) {
		if root, is := paths.GitRoot(dir); is {
			repo = git.At(root, p.opts.Environ)
			from, _, err = repo.Commit(ctx, "HEAD")
			return repo, root, from, err
		}
	}
	return repo, "", "", nil
}

// newFile is the rest of a diff about a file that git does not know yet: its lines, as git would show them,
// or what it is where they are not shown.
func newFile(root *os.Root, name string) (body string, shown bool) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return notShown("cannot be read"), false
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			return notShown("link"), false
		}
		return notShown("link to " + change.Quote(target)), false
	case info.IsDir():
		return notShown("folder with a repository of its own"), false
	case !info.Mode().IsRegular():
		return notShown("not a regular file"), false
	case info.Size() > maxNewFile:
		return notShown(fmt.Sprintf("%d bytes", info.Size())), false
	}

	content, err := regular.HeadInNoFollow(root, name, maxNewFile+1)
	switch {
	case err != nil:
		return notShown("cannot be read"), false
	case len(content) > maxNewFile:
		return notShown("it grows"), false
	case bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content):
		return notShown(fmt.Sprintf("binary, %d bytes", len(content))), false
	}

	var b strings.Builder
	b.WriteString("@@ -0,0 +1 @@\n")
	for line := range strings.Lines(string(content)) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String(), true
}

// notShown says in a diff what a file is whose content is not in it.
func notShown(what string) string { return web.NotShown + what + "\n" }

// size is how large a file is.
func size(root *os.Root, name string) int64 {
	info, err := root.Lstat(name)
	if err != nil {
		return 0
	}
	return info.Size()
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

// lines are the whole lines that were kept.
func (b *bounded) lines() string {
	text := b.String()
	return text[:strings.LastIndexByte(text, '\n')+1]
}
