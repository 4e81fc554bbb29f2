package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Merged is what git makes of two commits by itself.
type Merged struct {
	Files     map[string]Blob // what it has of the files that were asked for
	Conflicts map[string]bool // those that it leaves to a person, whatever Files has of them
}

// Merge merges two commits, and gives what becomes of files below the directory, by their names relative
// to it. Nothing is left behind: what git writes on the way goes to a folder of its own. The ids must be
// ones that git gave.
//
// Git before 2.38 cannot merge without a work tree. There each file is merged by itself, and one
// that a side has renamed is a conflict if the other side changed it.
func (r Repo) Merge(ctx context.Context, ours, theirs string, names []string) (Merged, error) {
	common, _, found := paths.Repository(r.dir)
	if !found {
		return Merged{}, ErrNotRepository
	}
	dir, err := os.MkdirTemp("", "stopgate-merge-")
	if err != nil {
		return Merged{}, err
	}
	defer os.RemoveAll(dir)

	aside := r
	aside.env = append(r.env[:len(r.env):len(r.env)], "GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoted(filepath.Join(common, "objects")))
	out, err := aside.output(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	switch code(err) {
	case 0, 1: // 1: with conflicts
	case 129: // the option is unknown
		return r.mergeFiles(ctx, dir, ours, theirs, names)
	default:
		return Merged{}, err
	}
	tree, conflicts, _ := strings.Cut(out, "\x00")
	m := Merged{Conflicts: map[string]bool{}}
	for name := range records(conflicts) {
		m.Conflicts[name] = true
	}
	m.Files, err = aside.Listed(ctx, tree, names...)
	return m, err
}

// quoted is a path in a list of paths.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// mergeFiles is Merge for a git that cannot. dir is for what it needs on the way.
func (r Repo) mergeFiles(ctx context.Context, dir, ours, theirs string, names []string) (Merged, error) {
	m := Merged{map[string]Blob{}, map[string]bool{}}
	out, err := r.output(ctx, "merge-base", ours, theirs)
	if err != nil {
		return m, err
	}
	var sides [3]map[string]Blob // as merge-file names them: ours, base, theirs
	for i, commit := range []string{ours, strings.TrimSpace(out), theirs} {
		if sides[i], err = r.Listed(ctx, commit, names...); err != nil {
			return m, err
		}
	}
	for _, name := range names {
		our, base, their := sides[0][name], sides[1][name], sides[2][name]
		result := our
		switch {
		case our == their || their == base:
		case our == base:
			result = their
		case our.Mode == their.Mode && our.Mode == base.Mode && our.Regular():
			id, clean, err := r.mergeFile(ctx, dir, our.ID, base.ID, their.ID)
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

// mergeFile merges three contents, and gives the id of the result.
func (r Repo) mergeFile(ctx context.Context, dir string, ids ...string) (id string, clean bool, err error) {
	args := []string{"merge-file", "--stdout", "--quiet"}
	for _, id := range ids {
		content, err := r.output(ctx, "cat-file", "blob", id)
		if err != nil {
			return "", false, err
		}
		path := filepath.Join(dir, id)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return "", false, err
		}
		args = append(args, path)
	}
	merged, err := r.output(ctx, args...)
	if code(err) > 0 { // how many conflicts there are; 255 for what is not text
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	var out strings.Builder
	_, err = r.exec(ctx, strings.NewReader(merged), &out, func() {}, "hash-object", "--stdin")
	return strings.TrimSpace(out.String()), true, err
}
