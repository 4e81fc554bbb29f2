package change

import (
	"context"
	"crypto/sha256"
	"path"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// origin is a repository from which files have come into a tree since it was kept.
type origin struct {
	*passage
	repo    git.Repo
	name    string // the folder of the tree that it is in; empty: the tree's own
	within  string // where the project lies in it
	from    string // the commit that HEAD was; empty: not known
	isNew   bool
	revised map[string]git.Revision // what another commit is HEAD for, by path

	ways  *ways
	kinds *kinds
}

// path is where git has a file of the tree.
func (o *origin) path(name string) string {
	if o.name != "" {
		return strings.TrimPrefix(name, o.name+"/")
	}
	return path.Join(o.within, name)
}

// arrived notes which of some files are as git has written them, and gives those that it has converted.
func (o *origin) arrived(ctx context.Context, pairs []pair, which []int, brought []bool) (converted []int, err error) {
	var plain []int
	for _, i := range which {
		p := pairs[i]
		blob := o.revised[o.path(p.name())].To
		if blob.Mode == "" || blob.IsRepository() {
			continue
		}
		fits, err := o.fits(ctx, p.is.stat.kind(), kindOf(blob))
		if err != nil {
			return nil, err
		}
		switch {
		case !fits:
		case o.w.isBlob(ctx, p.name(), blob):
			plain = append(plain, i)
		default:
			converted = append(converted, i)
		}
	}
	if len(plain)+len(converted) == 0 {
		return nil, nil
	}

	ways, err := o.conversion(ctx)
	if err != nil {
		return nil, err
	}
	if !ways.found {
		return nil, o.unconverted(ctx, pairs, plain, brought)
	}
	for _, i := range plain {
		brought[i] = true
	}
	return converted, o.written(ctx, pairs, converted, brought)
}

// written notes which files have the bytes that git writes for their blobs, by its filters and ends of lines.
func (o *origin) written(ctx context.Context, pairs []pair, which []int, brought []bool) error {
	blob := func(i int) git.Blob { return o.revised[o.path(pairs[i].name())].To }
	return o.contents(ctx, pairs, which, blob, func(i int, content []byte) {
		brought[i] = sha256.Sum256(content) == pairs[i].is.sum
	})
}

// contents calls each for some files with the bytes that git writes for their blobs.
func (o *origin) contents(ctx context.Context, pairs []pair, which []int, blob func(i int) git.Blob, each func(i int, content []byte)) error {
	stored := make([]git.Stored, len(which))
	for n, i := range which {
		stored[n] = git.Stored{Blob: blob(i), Path: o.path(pairs[i].name())}
	}
	return o.repo.Contents(ctx, stored, maxRead, func(n int, content []byte) { each(which[n], content) })
}

// unconverted notes which files git did not convert before either: where the session has changed how git writes files,
// only those are still what others made of them.
func (o *origin) unconverted(ctx context.Context, pairs []pair, which []int, brought []bool) error {
	var ids []string
	var old []int
	for _, i := range which {
		if blob := o.revised[o.path(pairs[i].name())].From; pairs[i].was.path != "" && blob.Mode != "" && !blob.IsRepository() {
			ids, old = append(ids, blob.ID), append(old, i)
		} else {
			brought[i] = true // it is new
		}
	}
	return o.repo.RawContents(ctx, ids, maxRead, func(n int, content []byte) {
		i := old[n]
		brought[i] = sha256.Sum256(content) == pairs[i].was.sum
	})
}

// ways are how git writes files, and whether it did so when the tree was kept.
type ways struct {
	git.ConversionMark
	found bool
}

// conversion asks for it once. A repository that is new has no settings of its own, or else the session has made them;
// an older program has kept none.
func (o *origin) conversion(ctx context.Context) (*ways, error) {
	if o.ways != nil {
		return o.ways, nil
	}
	now, err := o.repo.ConversionMark(ctx)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil { // git before 2.26 does not say whose a setting is
		o.ways = &ways{git.ConversionMark{FileMode: true, Symlinks: true}, true}
		return o.ways, nil
	}
	was, known := o.was.Settings[o.name]
	if o.isNew {
		was, known = o.was.Settings[""]
		was.Own = ""
	}
	o.ways = &ways{now, !known || was == settings{now.User, now.Own}}
	return o.ways, nil
}

// kinds are those that files had in the tree that was kept, and those that git had for them.
type kinds struct {
	any   map[byte]bool    // git had such a file
	same  map[byte]bool    // and it was one in the tree
	other map[[2]byte]bool // and it was another one there
}

// fits reports whether git can have made a file of a kind of a blob of another one. It cannot, unless the file system
// has no executable bits, as others of its files showed, or the settings that the session found say so.
func (o *origin) fits(ctx context.Context, kind, blob byte) (bool, error) {
	if kind == blob {
		return true, nil
	}
	if o.kinds == nil {
		had, err := o.had(ctx)
		if err != nil {
			return false, err
		}
		o.kinds = had
	}
	ways, err := o.conversion(ctx)
	switch {
	case err != nil:
		return false, err
	case o.kinds.other[[2]byte{blob, kind}] && !o.kinds.same[blob]:
		return true, nil
	case blob == 'l':
		return ways.found && !ways.Symlinks && kind == 'f', nil
	}
	return ways.found && !ways.FileMode && kind != 'l' && !o.kinds.any[blob], nil
}

// had compares the files of the tree that was kept with their blobs.
func (o *origin) had(ctx context.Context) (*kinds, error) {
	had := &kinds{map[byte]bool{}, map[byte]bool{}, map[[2]byte]bool{}}
	if o.isNew {
		return had, nil
	}

	blobs, err := o.repo.Listed(ctx, o.from)
	if err != nil {
		return nil, err
	}

	for i := range o.was.files {
		e := &o.was.files[i]
		if repositoryOf(e.path, o.was.heads) != o.name {
			continue
		}
		blob, tracked := blobs[strings.TrimPrefix(e.path, o.name+"/")]
		if !tracked {
			continue
		}
		had.any[kindOf(blob)] = true
		if kind := e.stat.kind(); kind == kindOf(blob) {
			had.same[kind] = true
		} else {
			had.other[[2]byte{kindOf(blob), kind}] = true
		}
	}
	return had, nil
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
