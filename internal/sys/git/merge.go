package git

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Merged is what git makes of two commits by itself.
type Merged struct {
	Files     map[string]Blob // what it has of the files that were asked for
	Conflicts map[string]bool // those that it leaves to a person, whatever Files has of them
}

// Merge merges two commits, and gives what becomes of files below the directory, by their names relative
// to it. The ids must be ones that git gave. Only git itself merges: a driver that attributes name runs nothing, and is
// as if they named none.
//
// Git before 2.38 cannot merge without a work tree, nor can any where contents are missing that were not cloned. There
// each file is merged by itself, and one that a side has renamed is a conflict if the other side changed it.
func (a *Aside) Merge(ctx context.Context, ours, theirs string, names []string) (Merged, error) {
	if err := a.attributes(ctx, ours, a.fromTop(names)); err != nil {
		return Merged{}, err
	}
	out, err := a.repo.output(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	if exit := code(err); exit != 0 && exit != 1 { // 1: with conflicts
		return a.mergeEach(ctx, ours, theirs, names)
	}
	tree, conflicts, _ := strings.Cut(out, "\x00")
	m := Merged{Conflicts: map[string]bool{}}
	for name := range records(conflicts) {
		m.Conflicts[name] = true
	}
	m.Files, err = a.repo.Listed(ctx, tree, names...)
	return m, err
}

// fromTop are names below the directory as they are from the top of the work tree.
func (a *Aside) fromTop(names []string) []string {
	all := make([]string, len(names))
	prefix, _ := filepath.Rel(a.top.dir, a.repo.dir) // the one is below the other
	for i, name := range names {
		all[i] = path.Join(filepath.ToSlash(prefix), name)
	}
	return all
}

// quoted is a path in a list of paths.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// mergeEach is Merge for a git that cannot.
func (a *Aside) mergeEach(ctx context.Context, ours, theirs string, names []string) (Merged, error) {
	if err := a.made(); err != nil {
		return Merged{}, err
	}
	out, err := a.repo.output(ctx, "merge-base", ours, theirs)
	if err != nil {
		return Merged{}, err
	}
	var sides [3]map[string]Blob
	for i, commit := range []string{ours, strings.TrimSpace(out), theirs} {
		if sides[i], err = a.repo.Listed(ctx, commit, names...); err != nil {
			return Merged{}, err
		}
	}
	return a.MergeFiles(ctx, sides[0], sides[1], sides[2], names)
}

// MergeFiles merges each file by itself: two sides of it, and what both come from.
func (a *Aside) MergeFiles(ctx context.Context, ours, base, theirs map[string]Blob, names []string) (Merged, error) {
	m := Merged{map[string]Blob{}, map[string]bool{}}
	for _, name := range names {
		our, from, their := ours[name], base[name], theirs[name]
		result := our
		switch {
		case our == their || their == from:
		case our == from:
			result = their
		case our.Mode == their.Mode && our.Mode == from.Mode && our.Regular():
			id, clean, err := a.mergeFile(ctx, our.ID, from.ID, their.ID)
			if err != nil {
				return m, err
			}
			result.ID, m.Conflicts[name] = id, !clean
		default:
			m.Conflicts[name] = true
		}
		if result != (Blob{}) {
			m.Files[name] = result
		}
	}
	return m, nil
}

// mergeFile merges three contents, in the order of git merge-file, and gives the id of the result.
func (a *Aside) mergeFile(ctx context.Context, ids ...string) (id string, clean bool, err error) {
	if err := a.made(); err != nil {
		return "", false, err
	}
	args := []string{"merge-file", "--stdout", "--quiet"}
	for _, id := range ids {
		content, err := a.repo.output(ctx, "cat-file", "blob", id)
		if err != nil {
			return "", false, err
		}
		if err := os.WriteFile(a.at(id), []byte(content), 0o600); err != nil {
			return "", false, err
		}
		args = append(args, a.at(id))
	}
	merged, err := a.repo.output(ctx, args...)
	if code(err) > 0 { // how many conflicts there are; 255 for what is not text
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	id, err = a.repo.keep(ctx, merged)
	return id, true, err
}
