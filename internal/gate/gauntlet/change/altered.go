package change

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// Altered lists the files of the project that are not as they were in a tree that was kept, whatever git
// says about them: it takes no notice of a line's end, of an executable bit or of a link where a setting or
// an attribute tells it so, nor of a change to a file that it does not track. What git itself has written since
// then, to bring other commits here, is left out: those commits count or not by who made them. So is what comes and goes
// without any work, see passing; idle means that nothing else differs.
func (w *Worktree) Altered(ctx context.Context, t Tree, kept string) (names []string, idle bool, err error) {
	files, before, err := w.kept(kept)
	if err != nil {
		return nil, false, err
	}
	pairs := slices.DeleteFunc(differing(files, t.files), func(p pair) bool { return !w.holds(p.name()) })
	if len(pairs) == 0 {
		return nil, false, nil
	}
	now := w.heads(ctx, t.repositories)
	repositories := maps.Clone(before)
	maps.Copy(repositories, now)
	in := map[string][]pair{}
	for _, p := range pairs {
		name := repositoryOf(p.name(), repositories)
		in[name] = append(in[name], p)
	}

	idle = true
	for name, pairs := range in {
		from, found := before[name]
		if !found && now[name] != "" {
			from = git.EmptyTree(now[name]) // it is new, as a submodule is that came with a pull
		}
		origin := origin{w: w, repo: w.repo, from: from, to: now[name]}
		if name != "" {
			origin.repo, origin.prefix = git.At(w.abs(name), w.environ), name+"/"
		}
		brought, err := origin.brought(ctx, pairs)
		if err != nil {
			return nil, false, err
		}
		passing, err := origin.passing(ctx, pairs)
		if err != nil {
			return nil, false, err
		}
		for i, p := range pairs {
			idle = idle && passing[i]
			if !brought[i] && !passing[i] {
				names = append(names, p.name())
			}
		}
	}
	slices.Sort(names)
	return names, idle, nil
}

// origin is what a repository has brought into the tree between two commits.
type origin struct {
	w        *Worktree
	repo     git.Repo
	prefix   string // of its files in the tree
	from, to string // either is empty where it is not known
}

// brought tells which files are as git has written them.
func (o origin) brought(ctx context.Context, pairs []pair) (map[int]bool, error) {
	if o.from == "" || o.to == "" || o.from == o.to {
		return nil, nil
	}
	names, err := o.repo.Changed(ctx, o.from, o.to)
	if err != nil {
		return nil, err
	}
	moved := map[string]bool{}
	for _, name := range names {
		moved[o.prefix+name] = true
	}
	blobs, err := o.repo.Blobs(ctx)
	if err != nil {
		return nil, err
	}

	brought := map[int]bool{}
	converted := map[int]git.Blob{} // the bytes are not the blob's, and may be what git makes of it
	for i, p := range pairs {
		blob, tracked := blobs[strings.TrimPrefix(p.name(), o.prefix)]
		switch {
		case !moved[p.name()]:
		case p.is.path == "" || !tracked:
			brought[i] = p.is.path == "" && !tracked
		case !p.fits(blob):
		case o.w.isBlob(ctx, p.name(), blob):
			brought[i] = true
		default:
			converted[i] = blob
		}
	}
	return brought, o.written(ctx, pairs, converted, brought)
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

// written tells which files have the bytes that git writes for their blobs, by its filters and ends of lines.
func (o origin) written(ctx context.Context, pairs []pair, blobs map[int]git.Blob, brought map[int]bool) error {
	return o.each(ctx, pairs, blobs, func(i int, content []byte) { brought[i] = sha256.Sum256(content) == pairs[i].is.sum })
}

// each calls do for some files with the bytes that git writes for their blobs.
func (o origin) each(ctx context.Context, pairs []pair, blobs map[int]git.Blob, do func(i int, content []byte)) error {
	if len(blobs) == 0 {
		return nil
	}
	dir := o.w.abs(o.prefix)
	at, err := o.repo.Locate(ctx, "", "HEAD")
	if err != nil {
		return err
	}
	which := slices.Sorted(maps.Keys(blobs))
	stored := make([]git.Stored, len(which))
	for n, i := range which {
		stored[n] = git.Stored{Blob: blobs[i], Path: at.Prefix(dir) + o.local(pairs[i])}
	}
	return o.repo.Contents(ctx, stored, maxRead, func(n int, content []byte) { do(which[n], content) })
}
