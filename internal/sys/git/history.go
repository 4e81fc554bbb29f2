package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Listed gives the files below the directory that a commit or tree has, relative to the
// directory. It must be an id that git gave. With names those are among what is given.
func (r Repo) Listed(ctx context.Context, tree string, names ...string) (map[string]Blob, error) {
	if len(names) > atOnce {
		names = nil // all of them take one process, too
	}
	out, err := r.output(ctx, slices.Concat([]string{"ls-tree", "-r", "-z", tree, "--"}, literal(names))...)
	if err != nil {
		return nil, err
	}
	return parseBlobs(out), nil
}

// literal are names as git takes them where it expects patterns.
func literal(names []string) (patterns []string) {
	for _, name := range names {
		patterns = append(patterns, ":(literal)"+name)
	}
	return patterns
}

// atOnce is how many names a command line holds in any case.
const atOnce = 256

// Hash gives the ids that git would store regular files under, by their names relative to
// the directory. All of them must be there.
func (r Repo) Hash(ctx context.Context, names []string) (ids []string, err error) {
	return r.hash(ctx, names)
}

// HashRaw gives the ids of regular files as they are, without what git would make of them to store them.
func (r Repo) HashRaw(ctx context.Context, names []string) (ids []string, err error) {
	return r.hash(ctx, names, "--no-filters")
}

func (r Repo) hash(ctx context.Context, names []string, options ...string) (ids []string, err error) {
	for part := range slices.Chunk(names, atOnce) {
		out, err := r.output(ctx, slices.Concat([]string{"hash-object"}, options, []string{"--"}, part)...)
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.Fields(out)...)
	}
	if len(ids) != len(names) {
		return nil, fmt.Errorf("git hash-object: %d ids for %d files", len(ids), len(names))
	}
	return ids, nil
}

// Dated is a commit with the time at which it was made.
type Dated struct {
	ID   string
	Time time.Time
}

// Beyond lists the commits of tip that none of the others has, the newest first and no more
// than most. With remotes, those that a remote-tracking branch has are left out as well. All
// must be ids that git gave.
func (r Repo) Beyond(ctx context.Context, tip string, others []string, remotes bool, most int) (commits []Dated, err error) {
	args := slices.Concat([]string{"rev-list", "--timestamp", "--max-count=" + strconv.Itoa(most), tip, "--not"}, others)
	if remotes {
		args = append(args, "--remotes")
	}
	out, err := r.output(ctx, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		stamp, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at, ok := date(id, stamp); ok {
			commits = append(commits, Dated{id, at})
		}
	}
	return commits, nil
}

// date reads the time of a commit, in seconds.
func date(id, stamp string) (at time.Time, ok bool) {
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	return time.Unix(seconds, 0), err == nil && IsID(id)
}

// Authored gives the times at which commits were written first, which picking them again
// does not change. All must be ids that git gave.
func (r Repo) Authored(ctx context.Context, commits []string) (map[string]time.Time, error) {
	times := map[string]time.Time{}
	if len(commits) == 0 {
		return times, nil
	}
	out, err := r.output(ctx, slices.Concat([]string{"rev-list", "--no-walk=unsorted", "--format=%H %at"}, commits, []string{"--"})...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		id, stamp, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at, ok := date(id, stamp); ok {
			times[id] = at
		}
	}
	return times, nil
}

// Differs lists the tracked files below the directory, relative to it, whose content in the
// work tree may not be that of a commit. It must be an id that git gave.
func (r Repo) Differs(ctx context.Context, commit string) ([]string, error) {
	return r.names(ctx, "diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", "--relative", commit, "--")
}
