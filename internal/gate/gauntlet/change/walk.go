package change

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// walk names every file of the project, except what belongs to git.
func (w *Worktree) walk(ctx context.Context) listing {
	walk := walker{w: w}
	err := walk.folder(ctx, ".", -1)
	slices.Sort(walk.list)
	return walk.found(err)
}

func (k *walker) found(err error) listing {
	return listing{names: k.list, why: k.why, unread: k.unread, err: err}
}

// walker collects the names of files, whether or not git ignores them. It
// follows no link, so it comes to an end.
type walker struct {
	w    *Worktree
	list []string
	why  string // a folder that could not be read
	// unread are all of them.
	unread []string
	most   int // how many names are enough; 0: all
}

// folder collects the files below dir, at most depth levels down; -1 is any
// number.
func (k *walker) folder(ctx context.Context, dir string, depth int) error {
	if err := context.Cause(ctx); err != nil || depth == 0 || k.most > 0 && len(k.list) >= k.most {
		return err
	}
	entries, err := os.ReadDir(k.w.abs(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.why = cmp.Or(k.why, reason(dir, err))
		k.unread = append(k.unread, dir)
	}
	for _, e := range entries {
		name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
		switch {
		case e.Name() == ".git", k.w.logs(name):
		case e.IsDir():
			if err := k.folder(ctx, name, depth-1); err != nil {
				return err
			}
		default:
			k.list = append(k.list, name)
		}
	}
	return nil
}
