package change

import (
	"context"
	"crypto/sha256"
	"path"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// isEditors reports whether an editor gives such a name to the files that it has beside the one that is open: swap
// files, backups, locks, and 4913, with which vim tries whether it can write.
func isEditors(name string) bool {
	if strings.HasSuffix(name, "/") {
		return false // a folder
	}
	name = path.Base(name)
	swap := len(name) > 5 && name[0] == '.' && strings.HasPrefix(path.Ext(name), ".sw") && len(path.Ext(name)) == 4
	return swap || name == "4913" || strings.HasPrefix(name, ".#") ||
		len(name) > 1 && strings.HasSuffix(name, "~") || len(name) > 2 && name[0] == '#' && strings.HasSuffix(name, "#")
}

// passing tells which files came or went without any work: those of an editor that is open, and those that a sparse
// checkout leaves out, or shows again, as they were committed.
func (g *passage) passing(ctx context.Context, pairs []pair) ([]bool, error) {
	passing := make([]bool, len(pairs))
	in := map[string][]int{}
	for i, p := range pairs {
		name := repositoryOf(p.name(), g.now)
		in[name] = append(in[name], i)
	}
	for name, which := range in {
		o, err := g.origin(ctx, name)
		if err != nil {
			return nil, err
		}
		if err := o.passing(ctx, pairs, which, passing); err != nil {
			return nil, err
		}
	}
	return passing, nil
}

func (o *origin) passing(ctx context.Context, pairs []pair, which []int, passing []bool) error {
	var editors, sparse []int
	isSparse := o.now[o.name] != "" && o.isSparse()
	for _, i := range which {
		switch p := pairs[i]; {
		case isEditors(p.name()):
			editors = append(editors, i)
		case isSparse && (p.was.path == "" || p.is.path == ""):
			sparse = append(sparse, i)
		}
	}
	if len(editors)+len(sparse) == 0 {
		return nil
	}
	blobs, before, err := o.tracked(ctx, pairs, which)
	if err != nil {
		return err
	}

	for _, i := range editors {
		name := o.local(pairs[i])
		passing[i] = blobs[name] == git.Blob{} && before[name] == git.Blob{}
	}
	return o.shown(ctx, pairs, sparse, blobs, before, passing)
}

// tracked are the files that the index has, and those of some pairs that the commit from before had. A folder without a
// commit has none.
func (o *origin) tracked(ctx context.Context, pairs []pair, which []int) (now, before map[string]git.Blob, err error) {
	if o.now[o.name] == "" {
		return nil, nil, nil
	}
	if now, err = o.repo.Blobs(ctx); err != nil || o.from == "" {
		return now, nil, err
	}
	names := make([]string, len(which))
	for n, i := range which {
		names[n] = o.local(pairs[i])
	}
	before, err = o.repo.Listed(ctx, o.from, names...)
	if o.name != "" && ctx.Err() == nil {
		err = nil // another clone may have taken the place of one within the tree
	}
	return now, before, err
}

// isSparse reports whether the repository has patterns of a sparse checkout. They stay when it is turned off.
func (o *origin) isSparse() bool {
	gitDir, found := paths.GitDir(o.w.abs(o.name))
	return found && disk.Exists(filepath.Join(gitDir, "info", "sparse-checkout"))
}

// shown notes which files a sparse checkout leaves out now, or left out before, and nothing else has become of them: they
// are in the index as they were in the tree, or as they are at the commit from before.
func (o *origin) shown(ctx context.Context, pairs []pair, which []int, blobs, before map[string]git.Blob, passing []bool) error {
	var same []int
	var left map[string]bool
	for _, i := range which {
		name := o.local(pairs[i])
		blob, tracked := blobs[name]
		if !tracked || kindOf(blob) != pairs[i].either().stat.kind() {
			continue
		}
		if pairs[i].is.path == "" && left == nil {
			var err error
			if left, err = o.leftOut(ctx); err != nil {
				return err
			}
		}
		if pairs[i].is.path == "" && left[name] || pairs[i].was.path == "" && before[name] == blob {
			same = append(same, i)
		}
	}
	if len(same) == 0 {
		return nil
	}

	ways, err := o.conversion(ctx)
	if err != nil || !ways.found {
		return err // what git would write by settings of the session's own tells nothing
	}
	blob := func(i int) git.Blob { return blobs[o.local(pairs[i])] }
	return o.contents(ctx, pairs, same, blob, func(i int, content []byte) {
		passing[i] = sha256.Sum256(content) == pairs[i].either().sum
	})
}

// leftOut are the tracked files that a sparse checkout leaves out. The same mark without one is a way to hide that a file
// was deleted.
func (o *origin) leftOut(ctx context.Context) (map[string]bool, error) {
	left := map[string]bool{}
	if sparse, err := o.repo.Sparse(ctx); err != nil || !sparse {
		return left, err
	}
	files, err := o.repo.Files(ctx)
	for _, name := range files.Hidden {
		left[name] = true
	}
	return left, err
}

// local is a file's name below the directory in which git is asked.
func (o *origin) local(p pair) string { return strings.TrimPrefix(p.name(), o.name+"/") }

// either is the one file of a pair that has no other.
func (p pair) either() entry {
	if p.is.path == "" {
		return p.was
	}
	return p.is
}
