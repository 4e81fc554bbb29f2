package change

import (
	"context"
	"crypto/sha256"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// ruleChange is a file of rules that is not as a session found it.
type ruleChange struct {
	now, then  []string // its lines
	in         string   // the repository within the tree that it is for; empty: the tree's own
	everywhere bool     // it is for all of them
	unlisted   bool     // it ignores itself, so no commit has brought it
}

// ruleChanges are files of rules as they are named in rules.
type ruleChanges map[string]ruleChange

// newlyIgnored are the files that were written since a session began, and that git ignores by rules that it did not have
// then. Git is asked only where a file of rules has changed.
func (w *Worktree) newlyIgnored(ctx context.Context, scope Scope, p Position, t Tree, since Start) (names []string) {
	changes := w.changedRules(t, since)
	if len(changes) == 0 {
		return nil
	}
	if p.Git {
		var files []string
		names = w.ignoredIn(ctx, "", changes, since, func(key string) bool { return w.touched(ctx, scope, p, &files, key) })
	}
	for _, name := range t.repositories {
		if w.holds(name) {
			names = append(names, w.ignoredIn(ctx, name, changes, since, func(key string) bool { return w.touchedWithin(ctx, name, since, key) })...)
		}
	}
	return names
}

// changedRules are the files of rules that are not as the session found them. Where that is not known, they are those that
// were written since then, or that as new a configuration names: nothing of them counts as found.
func (w *Worktree) changedRules(t Tree, since Start) ruleChanges {
	then, known := w.keptRules(since.Rules)
	repositories := map[string]string{}
	for _, name := range t.repositories {
		repositories[name] = ""
	}
	changes := ruleChanges{}
	add := func(key, text string) {
		changes[key] = ruleChange{now: linesOf(text), then: linesOf(then[key]), in: repositoryOf(key, repositories), unlisted: text != "" && !t.Has(key)}
	}

	for i := range t.files {
		e := &t.files[i]
		if path.Base(e.path) != ignoreFile || !e.stat.isA(typeRegular) {
			continue
		}
		if known && sha256.Sum256([]byte(then[e.path])) != e.sum || !known && e.stat.mtime >= since.Time.UnixNano() {
			add(e.path, textOf(w.abs(e.path)))
		}
	}
	for key := range then {
		if !filepath.IsAbs(key) && !t.Has(key) { // it is gone, or ignores itself
			add(key, textOf(w.abs(key)))
		}
	}
	for _, name := range w.unlistedRules(t) {
		if _, found := then[name]; !found && (known || newer(w.abs(name), since.Time)) {
			add(name, textOf(w.abs(name)))
		}
	}
	for _, s := range w.sources(t) {
		key, text := sourceKey(s.file), textOf(s.file)
		isNew := func(file string) bool { return newer(file, since.Time) }
		if known && text != then[key] || !known && (isNew(s.file) || slices.ContainsFunc(s.by, isNew)) {
			changes[key] = ruleChange{now: linesOf(text), then: linesOf(then[key]), in: s.in, everywhere: s.everywhere}
		}
	}
	maps.DeleteFunc(changes, func(_ string, c ruleChange) bool { return !c.says() })
	return changes
}

// says reports whether a change may have git ignore more than before: a line is new that is more than a remark, or an
// exception is gone.
func (c ruleChange) says() bool {
	for i, line := range c.now {
		if line != "" && line[0] != '#' && c.isNew(i) {
			return true
		}
	}
	return c.lost(-1, -1)
}

// ignoredIn are the files of newlyIgnored in the tree's own repository, or in one within it. touched reports whether the
// session has changed a .gitignore: others that are new came with the commits of others.
func (w *Worktree) ignoredIn(ctx context.Context, in string, changes ruleChanges, since Start, touched func(key string) bool) (names []string) {
	if !slices.ContainsFunc(slices.Collect(maps.Values(changes)), func(c ruleChange) bool { return c.everywhere || c.in == in }) {
		return nil
	}
	repo, top, prefix := w.repo, w.abs(w.up()), ""
	if in != "" {
		repo, top, prefix = git.At(w.abs(in), w.environ), w.abs(in), in+"/"
	}
	places, _ := repo.IgnoredPlaces(ctx) // it is only told
	places = slices.DeleteFunc(places, func(place string) bool { return !w.isWritten(prefix+place, since) })
	by, _ := repo.IgnoredBy(ctx, places)

	for _, place := range places {
		rule, found := by[place]
		cause := changes.cause(prefix+place, w.ruleKey(rule.Source, top), rule.Line)
		if found && cause != "" && (filepath.IsAbs(cause) || changes[cause].unlisted || touched(cause)) {
			names = append(names, prefix+place)
		}
	}
	return names
}

// isWritten reports whether a place of the project was written, or came there, since a session began.
func (w *Worktree) isWritten(place string, since Start) bool {
	name := strings.TrimSuffix(place, "/")
	if !w.holds(name) {
		return false
	}
	dir, err := openFolder(w.root)
	if err != nil {
		return false
	}
	defer dir.close()
	s, err := dir.lstat(name)
	return err == nil && max(s.mtime, s.ctime) >= since.Time.UnixNano()
}

// ruleKey is the name in rules of the file that git reads a rule from. Git names those of a work tree from its top.
func (w *Worktree) ruleKey(file, top string) string {
	if filepath.IsAbs(file) {
		return sourceKey(file)
	}
	file = filepath.Join(top, filepath.FromSlash(file))
	if rel, err := filepath.Rel(w.root, file); err == nil && filepath.Base(file) == ignoreFile {
		return filepath.ToSlash(rel)
	}
	return sourceKey(file)
}

// cause is the changed file of rules by which a place is ignored: the one with the rule, if that is new or has lost an
// exception, or one nearer to the place that has. It is empty where the rule is an old one.
func (c ruleChanges) cause(place, key string, line int) string {
	change, found := c[key]
	if found && change.isNew(line-1) {
		return key
	}
	for _, other := range slices.Sorted(maps.Keys(c)) {
		change, dir := c[other], strings.TrimSuffix(other, ignoreFile)
		nearer := filepath.IsAbs(key) || len(other) > len(key)
		if !filepath.IsAbs(other) && other != key && nearer && strings.HasPrefix(place, dir) && change.lost(-1, -1) {
			return other
		}
	}
	return ""
}

// isNew reports whether a line was not there before, or is no longer followed by an exception.
func (c ruleChange) isNew(line int) bool {
	if line < 0 || line >= len(c.now) {
		return true // it is being written
	}
	at := slices.Index(c.then, c.now[line])
	return at < 0 || c.lost(at, line)
}

// lost reports whether an exception that followed a line does not follow it any more.
func (c ruleChange) lost(then, now int) bool {
	return slices.ContainsFunc(c.then[then+1:], func(line string) bool {
		return strings.HasPrefix(line, "!") && !slices.Contains(c.now[now+1:], line)
	})
}

// linesOf are the lines of a file of rules.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \t\r\n"))
	}
	return lines
}

// touched reports whether the session has changed a .gitignore of the tree's own repository: it is not as committed, or in
// a commit of the session. files are those that it has changed, which are asked for if they are not known. Those above the project are not: they have changed if they are not as at the base.
func (w *Worktree) touched(ctx context.Context, scope Scope, p Position, files *[]string, key string) bool {
	if strings.HasPrefix(key, "../") {
		blob, found, err := w.repo.BlobAt(ctx, p.MergeBase, key)
		return err == nil && !(found && w.isBlob(ctx, key, blob))
	}
	if *files == nil {
		now, err := w.uncommitted(ctx, p)
		made, failed := w.made(ctx, scope, p)
		if err != nil || failed != nil {
			return true // in doubt it is told
		}
		*files = slices.Concat([]string{}, now.changed, now.untracked, now.concealed, scope.Altered, made)
	}
	return slices.Contains(*files, key)
}

// touchedWithin reports whether a .gitignore of a repository within the tree is not as at its HEAD, or is in a commit that
// was made there since the session began.
func (w *Worktree) touchedWithin(ctx context.Context, in string, since Start, key string) bool {
	repo, name := git.At(w.abs(in), w.environ), strings.TrimPrefix(key, in+"/")
	status, err := repo.Status(ctx)
	if err != nil || slices.Contains(status.Changed, name) || slices.Contains(status.Untracked, name) {
		return true
	}
	wrote, err := repo.Wrote(ctx, MadeAt(w.abs(in), Start{Time: since.Time}))
	return err != nil || slices.ContainsFunc(slices.Collect(maps.Values(wrote)), func(files map[string]git.Blob) bool {
		_, found := files[name]
		return found
	})
}
