package protect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// maxInner bounds how many files and folders of repositories inside the project are listed,
// which takes a second or so.
const maxInner = 200_000

// errInner means that the files of the project itself are known, and not all of those in
// repositories inside it.
var errInner = errors.New("repositories inside the project")

// inner lists the files of repositories inside the project: submodules, and what git init made
// in a folder. To git each is one name; tests in them are run all the same. A linked worktree of the
// project's own repository is a tree of its own, with its own base, and is judged as one.
func (p Place) inner(ctx context.Context, listing git.Listing) ([]string, error) {
	in := inside{place: p, left: maxInner}
	err := in.modules(ctx, listing.Tracked, 3)
	for _, name := range listing.Untracked {
		folder, is := strings.CutSuffix(name, "/")
		if err == nil && is && !strings.HasPrefix(name, "../") && !paths.IsWorktreeOf(p.abs(folder), p.Project.Root) {
			err = in.walk(ctx, folder)
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errInner, err)
	}
	return in.names, err
}

// inside collects the names of files in repositories inside the project.
type inside struct {
	place Place
	names []string
	left  int // how many more files and folders are looked at
}

// modules collects the files of submodules, as deep as depth, as their repositories list them.
// Where one cannot, or has no .git any more, all that is in the folder counts.
func (in *inside) modules(ctx context.Context, tracked []string, depth int) error {
	for _, name := range tracked {
		if strings.HasPrefix(name, "../") || !isFolder(in.place.abs(name)) {
			continue
		}
		if err := in.module(ctx, name, depth); err != nil {
			return err
		}
	}
	return nil
}

func (in *inside) module(ctx context.Context, folder string, depth int) error {
	if depth == 0 {
		return in.walk(ctx, folder)
	}
	files, err := in.place.listed(ctx, folder)
	if err != nil {
		return in.walk(ctx, folder)
	}
	if err := in.count(len(files)); err != nil {
		return err
	}
	in.names = append(in.names, files...)
	return in.modules(ctx, files, depth-1)
}

func (in *inside) count(n int) error {
	if in.left -= n; in.left < 0 {
		return fmt.Errorf("more than %d files", maxInner)
	}
	return nil
}

// listed are the files that the repository in a folder does not ignore.
func (p Place) listed(ctx context.Context, folder string) (files []string, err error) {
	if !isModule(p.abs(folder)) {
		return nil, git.ErrNotRepository
	}
	listing, err := git.At(p.abs(folder), p.Environ).Files(ctx)
	if err != nil {
		return nil, err
	}
	for _, file := range slices.Concat(listing.Tracked, listing.Untracked) {
		if !strings.HasPrefix(file, "../") {
			files = append(files, folder+"/"+strings.TrimSuffix(file, "/"))
		}
	}
	return files, nil
}

// walk collects every file below a folder, except what belongs to git. It follows no link.
func (in *inside) walk(ctx context.Context, folder string) error {
	entries, err := os.ReadDir(in.place.abs(folder))
	if errors.Is(err, os.ErrNotExist) {
		return nil // gone in between
	}
	for _, err := range []error{err, context.Cause(ctx), in.count(len(entries))} {
		if err != nil {
			return err
		}
	}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		switch {
		case entry.Name() == ".git":
		case entry.IsDir():
			if err := in.walk(ctx, name); err != nil {
				return err
			}
		default:
			in.names = append(in.names, name)
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
