package change

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// View is what reviewers look at. It is about one moment: what it has found out is not asked again.
type View struct {
	Diff
	// Include reports whether the diff is about a file.
	Include func(name string) bool
	// Elsewhere reports whether the same review looks at a file in another diff; nil: it does not.
	Elsewhere func(name string) bool

	places *places
}

// places are the files of the repository, or of the project where there is none, and those that git ignores.
type places struct{ listed, ignored []string }

// search finds out what became of the lines of a file that is gone: which of them reviewers see, and
// which were written where they do not look.
type search struct {
	w      *Worktree
	view   *View
	dir    folder
	since  time.Time
	wanted map[uint32]bool

	seen, hidden map[uint32]bool
	why          string // the place that has most of them, and why it is hidden
	most         int
	strict       bool            // a folder counts as moved only if it looks so
	arrived      map[string]bool // what is known of folders
}

// moved is where a file's lines went that reviewers do not see, half of them or more; empty: nowhere that we know.
func (w *Worktree) moved(ctx context.Context, view *View, name string, trace Trace, since time.Time) (why string, err error) {
	if view.places == nil {
		if view.places, err = w.places(ctx); err != nil {
			return "", err
		}
	}
	listed, ignored := view.places.listed, view.places.ignored
	dir, err := openFolder(w.root)
	if err != nil {
		return "", err
	}
	defer dir.close()

	s := &search{w: w, view: view, dir: dir, since: since, wanted: set(trace.hashes()), seen: map[uint32]bool{}, hidden: map[uint32]bool{}, arrived: map[string]bool{}}
	s.forget(s.common(listed, path.Ext(name)))
	for _, m := range view.Missing {
		s.hide(ctx, m.Name, m.Why, time.Time{})
	}
	for _, other := range listed {
		s.look(ctx, other)
	}
	s.strict, s.arrived = true, map[string]bool{} // builds fill ignored folders, beside older copies
	for _, other := range ignored {
		if !w.logs(other) {
			s.hide(ctx, other, "git ignores it", since)
		}
	}
	s.logs(ctx)
	return s.verdict(), context.Cause(ctx)
}

func (w *Worktree) places(ctx context.Context) (*places, error) {
	list, err := w.repo.Files(ctx)
	if errors.Is(err, git.ErrNotRepository) || errors.Is(err, git.ErrNotInstalled) {
		found := w.walk(ctx)
		return &places{listed: found.names}, found.err
	}
	if err != nil {
		return nil, err
	}
	ignored, err := w.repo.Ignored(ctx)
	return &places{slices.Concat(list.Tracked, w.withoutWorktrees(list.Untracked)), ignored}, err
}

// look takes a file that git lists.
func (s *search) look(ctx context.Context, name string) {
	nested := strings.HasSuffix(name, "/")
	name = strings.TrimSuffix(name, "/")
	info, err := s.dir.lstat(name)
	if err != nil || !info.exists() || s.w.logs(name) {
		return
	}
	switch outside := strings.HasPrefix(name, "../"); {
	case info.isA(typeLink):
		s.hide(ctx, name, "", s.since)
	case s.view.sights[name] == seen:
		s.see(name)
	case s.view.Elsewhere != nil && !outside && !nested && s.fresh(name, info, s.since) && s.view.Elsewhere(name):
		s.see(name)
	case outside:
		s.hide(ctx, name, "it is outside the project", s.since)
	case nested || info.isA(typeDirectory):
		s.hide(ctx, name, IsRepository, s.since)
	case !s.view.Include(name) && s.fresh(name, info, s.since) && !s.asBefore(ctx, name, info):
		s.hide(ctx, name, "this review does not look there", s.since)
	}
}

// logs takes the log directory, except what runs write there: a log may quote a file.
func (s *search) logs(ctx context.Context) {
	if s.w.logDir == "" {
		return
	}
	walk := walker{w: &Worktree{root: s.w.root}}
	_ = walk.folder(ctx, s.w.logDir, -1) // what cannot be read holds nothing that we can know
	for _, name := range walk.list {
		if !logdir.IsOwn(path.Base(name)) {
			s.hide(ctx, name, "it is in the log directory", s.since)
		}
	}
}

// hide takes a place that reviewers do not see, as far as it was written since a moment: a file, or
// the files of a folder. Of links only those count that lead out of the tree: what is in it is a place
// of its own.
func (s *search) hide(ctx context.Context, name, why string, since time.Time) {
	if ctx.Err() != nil {
		return
	}

	info, err := s.dir.lstat(strings.TrimSuffix(name, "/"))
	depth, most := -1, 0
	if err == nil && info.isA(typeLink) && s.fresh(name, info, since) {
		_, target, lost := s.w.leadsTo(name)
		if lost != nil || filepath.IsLocal(filepath.FromSlash(target)) {
			return
		}
		name, why = target, "it is behind the link "+Quote(name)
		depth, most = 4, 10_000 // enough for a folder of sources, and not all of /proc
		info, err = s.dir.lstat(name)
	}

	switch {
	case err != nil:
	case info.isA(typeDirectory):
		walk := walker{w: s.w, most: most}
		_ = walk.folder(ctx, strings.TrimSuffix(name, "/"), depth) // as above
		for _, file := range walk.list {
			if ctx.Err() != nil {
				return
			}
			if at, err := s.dir.lstat(file); err == nil && at.isA(typeRegular) && s.fresh(file, at, since) {
				s.take(file, why, at)
			}
		}
	case info.isA(typeRegular) && s.fresh(name, info, since):
		s.take(name, why, info)
	}
}

// fresh reports whether a file was written, or came to its place, since a moment. Moving a folder leaves
// no mark on the files in it.
func (s *search) fresh(name string, info stat, since time.Time) bool {
	return since.IsZero() || info.ctime >= since.UnixNano() || s.came(path.Dir(strings.TrimSuffix(name, "/")), since.UnixNano())
}

// came reports whether a folder of the project, or one that it is in, may have been moved since a
// moment. A new entry changes both of a folder's times, a new name only one.
func (s *search) came(dir string, since int64) bool {
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "../") {
		return false
	}
	known, found := s.arrived[dir]
	if !found {
		info, err := s.dir.lstat(dir)
		known = err == nil && info.ctime >= since && (!s.strict || info.ctime > info.mtime) || s.came(path.Dir(dir), since)
		s.arrived[dir] = known
	}
	return known
}

// leadsTo is where a link leads: its path, and the way there from the root.
func (w *Worktree) leadsTo(name string) (real, target string, err error) {
	if real, err = filepath.EvalSymlinks(w.abs(name)); err != nil {
		return "", "", err
	}
	target, err = filepath.Rel(w.root, real)
	return real, filepath.ToSlash(target), err
}

// take notes the lines of a hidden file. A few that it has in common with the one that is gone say
// nothing.
func (s *search) take(name, why string, info stat) {
	lines := s.lines(name, info)
	if len(lines) < s.least() {
		return
	}
	if len(lines) > s.most {
		s.most, s.why = len(lines), "it is in "+Quote(name)+" now: "+why
	}
	for _, line := range lines {
		s.hidden[line] = true
	}
}

// least is how many lines make a file a part of another one: a quarter of them.
func (s *search) least() int {
	if len(s.wanted) <= 2 {
		return 1
	}
	return max(2, (len(s.wanted)+3)/4)
}

// see notes the lines of a file that reviewers see.
func (s *search) see(name string) {
	if info, err := s.dir.lstat(name); err == nil {
		for _, line := range s.lines(name, info) {
			s.seen[line] = true
		}
	}
}

// lines are those of a file that are wanted. Files of the kernel have text, and say that they are empty: none of it was
// moved there.
func (s *search) lines(name string, info stat) (found []uint32) {
	if !info.isA(typeRegular) || info.size == 0 || info.size > maxTraced {
		return nil
	}
	content, err := s.w.head(name, maxTraced)
	if err != nil {
		return nil
	}
	for line := range lineHashes(content, 1) {
		if s.wanted[line] {
			found = append(found, line)
		}
	}
	return found
}

// verdict is where half or more of the lines went that reviewers do not see.
func (s *search) verdict() string {
	rest, found := 0, 0
	for line := range s.wanted {
		if s.seen[line] {
			continue
		}
		rest++
		if s.hidden[line] {
			found++
		}
	}
	if found == 0 || 2*found < rest {
		return ""
	}
	return s.why
}

// common are the lines that several older files of the same kind have, such as a licence or imports:
// they do not tell one file from another.
func (s *search) common(listed []string, ext string) map[uint32]bool {
	const (
		several = 3
		most    = 100 // files; enough to know what is usual
	)
	count, read, common := map[uint32]int{}, 0, map[uint32]bool{}
	for _, name := range listed {
		if read == most {
			break
		}
		info, err := s.dir.lstat(strings.TrimSuffix(name, "/"))
		if path.Ext(name) != ext || err != nil || info.ctime >= s.since.UnixNano() {
			continue
		}
		read++
		for _, line := range s.lines(name, info) {
			if count[line]++; count[line] == several {
				common[line] = true
			}
		}
	}
	return common
}

// forget leaves lines out of what is wanted, unless nothing would be left.
func (s *search) forget(lines map[uint32]bool) {
	if len(lines) == len(s.wanted) {
		return
	}
	for line := range lines {
		delete(s.wanted, line)
	}
}

// asBefore reports whether a file has the bytes that it had at the base, and the base is older than the
// violation: a checkout writes files anew.
func (s *search) asBefore(ctx context.Context, name string, info stat) bool {
	if s.view.base == "" || len(s.lines(name, info)) < s.least() {
		return false
	}
	same, err := s.w.asAtBase(ctx, s.view.Diff, name)
	if err != nil || !same {
		return false
	}
	base, err := s.w.repo.Beyond(ctx, s.view.base, nil, false, 1)
	return err == nil && len(base) == 1 && base[0].Time.Before(s.since.Truncate(time.Second))
}

func set(all []uint32) map[uint32]bool {
	members := map[uint32]bool{}
	for _, one := range all {
		members[one] = true
	}
	return members
}
