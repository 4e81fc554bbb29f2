package git

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What follows asks about many commits at once: a rebase makes thousands, and a process for each
// would take longer than a hook has. Each call takes ids, leaves out those that git does not have, and
// starts one process at most.

// about is what git says of commits, with lines before them; nothing where there are none.
func (r Repo) about(ctx context.Context, commits, before []string, args ...string) (string, error) {
	if len(commits) == 0 {
		return "", nil
	}
	var out strings.Builder
	err := r.feed(ctx, slices.Concat(before, commits), &out, args...)
	return out.String(), err
}

// Outside lists those of some commits that are not part of the history of any tip, which must be ids
// that git gave.
func (r Repo) Outside(ctx context.Context, commits []string, tips ...string) ([]string, error) {
	asked := slices.DeleteFunc(ids(commits), func(id string) bool { return slices.Contains(tips, id) })
	var known []string
	for _, tip := range tips {
		known = append(known, "^"+tip)
	}
	out, err := r.about(ctx, asked, known, "rev-list", "--ignore-missing", "--stdin")
	if err != nil {
		return nil, err
	}
	beyond := map[string]bool{} // with those that the commits come from
	for id := range strings.Lines(out) {
		beyond[strings.TrimSpace(id)] = true
	}
	return slices.DeleteFunc(asked, func(id string) bool { return !beyond[id] }), nil
}

// Made is a commit with its first parent, which is empty for a root.
type Made struct{ ID, Parent string }

// Parents gives the commits, in their order, with their first parents.
func (r Repo) Parents(ctx context.Context, commits []string) (all []Made, err error) {
	lines, err := r.parents(ctx, commits)
	for _, line := range lines {
		all = append(all, Made{line[0], append(line, "")[1]})
	}
	return all, err
}

// AllParents gives the parents of each commit: none of a root, several of a merge.
func (r Repo) AllParents(ctx context.Context, commits []string) (map[string][]string, error) {
	lines, err := r.parents(ctx, commits)
	all := map[string][]string{}
	for _, line := range lines {
		all[line[0]] = line[1:]
	}
	return all, err
}

// parents gives each commit, with its parents behind it.
func (r Repo) parents(ctx context.Context, commits []string) (all [][]string, err error) {
	out, err := r.about(ctx, ids(commits), nil, "rev-list", "--no-walk=unsorted", "--parents", "--ignore-missing", "--stdin")
	for line := range strings.Lines(out) {
		if field := strings.Fields(line); len(field) > 0 && IsID(field[0]) {
			all = append(all, field)
		}
	}
	return all, err
}

// Touched gives the files below the directory that each commit changed, relative to the directory. Of
// a merge they are those that it changed itself.
func (r Repo) Touched(ctx context.Context, commits []string) (map[string][]string, error) {
	wrote, err := r.Wrote(ctx, commits)
	files := map[string][]string{}
	for commit, ids := range wrote {
		if len(ids) > 0 {
			files[commit] = slices.Sorted(maps.Keys(ids))
		}
	}
	return files, err
}

// Held gives the contents that files got by the commits of tip that another one does not have, by their
// names relative to the directory. Both must be ids that git gave. Of very many files it tells some.
func (r Repo) Held(ctx context.Context, from, tip string, names []string) (map[string][]Blob, error) {
	args := []string{"log", "-z", "--raw", "--no-abbrev", "--format=", "--no-renames", "--full-history", "--relative", "--no-show-signature", tip, "^" + from, "--"}
	out, err := r.output(ctx, append(args, literal(names[:min(len(names), atOnce)])...)...)
	if err != nil {
		return nil, err
	}
	held := map[string][]Blob{}
	var blob Blob
	for record := range records(out) {
		if field := strings.Fields(record); strings.HasPrefix(record, ":") && len(field) == 5 && blob == (Blob{}) {
			blob = Blob{Mode: field[1], ID: field[3]}
		} else {
			held[record] = append(held[record], blob)
			blob = Blob{}
		}
	}
	return held, nil
}

// Past is a commit's place in history.
type Past struct {
	Parents []string
	Email   string // of the committer
}

// History gives the commits that tips come from, as far as they are not part of the history of
// from and were made since a moment. A commit that is older hides those that it comes from.
func (r Repo) History(ctx context.Context, tips []string, from string, since time.Time) (map[string]Past, error) {
	var before []string
	if IsID(from) && strings.Trim(from, "0") != "" {
		before = []string{"^" + from}
	}
	const most = 10_000
	out, err := r.about(ctx, ids(tips), before, "log", "--ignore-missing", "--stdin", "--max-count="+strconv.Itoa(most),
		"--since="+strconv.FormatInt(since.Unix(), 10), "--no-color", "--no-show-signature", "--format=%H %ce%x09%P")
	if err != nil {
		return nil, err
	}
	history := map[string]Past{}
	for line := range strings.Lines(out) {
		about, parents, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if id, email, _ := strings.Cut(about, " "); IsID(id) {
			history[id] = Past{strings.Fields(parents), email}
		}
	}
	return history, nil
}

// DiffEach writes how each commit comes from its first parent, as Diff does, with a line before each
// that has nothing but its id. All files are compared as text, as by DiffText.
func (r Repo) DiffEach(ctx context.Context, w io.Writer, commits []Made) error {
	lines := make([]string, len(commits))
	for i, commit := range commits {
		lines[i] = strings.TrimSuffix(commit.ID+" "+commit.Parent, " ")
	}
	return r.feed(ctx, lines, w, slices.Concat([]string{"diff-tree", "--stdin", "-r", "--root", "--text"}, unified)...)
}

// ids are those of some names that can be ids, each once.
func ids(names []string) (all []string) {
	seen := map[string]bool{}
	for _, name := range names {
		if IsID(name) && !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	return all
}
