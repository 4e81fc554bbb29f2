package change

import (
	"context"
	"crypto/sha256"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// Altered lists the files of the project that are not as they were in a tree that was kept, whatever git
// says about them: it takes no notice of a line's end, of an executable bit or of a link where a setting or
// an attribute tells it so, and no change of a file that it does not track. What git itself has written since
// then, to bring other commits here, is left out: that is told by their authors.
func (w *Worktree) Altered(ctx context.Context, t Tree, kept string) ([]string, error) {
	files, head, err := w.kept(kept)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	for _, p := range differing(files, t.files) {
		if w.holds(p.name()) {
			pairs = append(pairs, p)
		}
	}
	brought, err := w.brought(ctx, pairs, head)
	if err != nil {
		return nil, err
	}
	var names []string
	for i, p := range pairs {
		if !brought[i] {
			names = append(names, p.name())
		}
	}
	return names, nil
}

// brought tells which files are as git has written them since HEAD was a commit.
func (w *Worktree) brought(ctx context.Context, pairs []pair, head string) (map[int]bool, error) {
	now := ""
	if len(pairs) > 0 && head != "" {
		now = w.repo.Head(ctx)
	}
	if now == "" || now == head {
		return nil, nil
	}
	names, err := w.repo.Changed(ctx, head, now)
	if err != nil {
		return nil, err
	}
	moved := map[string]bool{}
	for _, name := range names {
		moved[name] = true
	}
	blobs, err := w.repo.Blobs(ctx)
	if err != nil {
		return nil, err
	}

	brought := map[int]bool{}
	var converted []int // as far as their bytes show, if git has written them
	for i, p := range pairs {
		blob, tracked := blobs[p.name()]
		switch {
		case !moved[p.name()]:
		case p.is.path == "" || !tracked:
			brought[i] = p.is.path == "" && !tracked
		case !p.fits(blob):
		case w.isBlob(ctx, p.name(), blob):
			brought[i] = true
		default:
			converted = append(converted, i)
		}
	}
	return brought, w.written(ctx, pairs, blobs, converted, brought)
}

// fits reports whether git can have made a file of this kind of a blob. Where the file system or a setting has
// no executable bits or links, a file is what it was, or anything if it is new.
func (p pair) fits(blob git.Blob) bool {
	kind := p.is.stat.kind()
	return p.was.path == "" || kind == p.was.stat.kind() || kind == kindOf(blob)
}

// kindOf is the kind of the file that git makes of a blob.
func kindOf(blob git.Blob) byte {
	switch blob.Mode {
	case "120000":
		return 'l'
	case "100755":
		return 'x'
	}
	return 'f'
}

// written tells which of some files have the bytes that git writes for their blobs, by its filters and ends of
// lines.
func (w *Worktree) written(ctx context.Context, pairs []pair, blobs map[string]git.Blob, which []int, brought map[int]bool) error {
	if len(which) == 0 {
		return nil
	}
	at, err := w.repo.Locate(ctx, "", "HEAD")
	if err != nil {
		return err
	}
	stored := make([]git.Stored, len(which))
	for n, i := range which {
		stored[n] = git.Stored{Blob: blobs[pairs[i].name()], Path: at.Prefix(w.root) + pairs[i].name()}
	}
	return w.repo.Contents(ctx, stored, maxRead, func(n int, content []byte) {
		i := which[n]
		brought[i] = sha256.Sum256(content) == pairs[i].is.sum
	})
}
