package change

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Alterations are how a tree differs from one that was kept.
type Alterations struct {
	Files []string // see Altered
	Moved []string // all that is not as it was, as a Scope has it
	Idle  bool     // something differs, but only what comes and goes without any work
}

// Altered lists the files of the project that are not as they were in a tree that was kept, whatever git
// says about them: it takes no notice of a line's end, of an executable bit or of a link where a setting or
// an attribute tells it so, nor of a change to a file that it does not track. What git itself has written since
// then, to bring other commits here, is left out: those commits count or not by who made them. So is what comes and goes
// without any work, see passing.
func (w *Worktree) Altered(ctx context.Context, t Tree, since Baseline) (a Alterations, err error) {
	was, err := w.kept(since)
	if err != nil {
		return Alterations{}, err
	}
	pairs := differing(was.files, t.files)
	g := passage{w: w, was: was, now: w.heads(ctx, t.repositories), origins: map[string]*origin{}}
	a.Moved = g.moved(pairs)
	if !slices.ContainsFunc(pairs, func(p pair) bool { return w.holds(p.name()) }) {
		return a, nil
	}

	brought, err := g.brought(ctx, pairs)
	if err != nil {
		return Alterations{}, err
	}
	passing, err := g.passing(ctx, pairs)
	if err != nil {
		return Alterations{}, err
	}
	a.Idle = true
	for i, p := range pairs {
		if !w.holds(p.name()) {
			continue
		}
		a.Idle = a.Idle && passing[i]
		if !brought[i] && !passing[i] {
			a.Files = append(a.Files, p.name())
		}
	}
	return a, nil
}

// passage is what git has done to a tree since it was kept, in each repository that was or is in it.
type passage struct {
	w       *Worktree
	was     keptTree
	now     map[string]string // HEAD of each repository
	origins map[string]*origin
}

// moved lists the files that differ or that the session had altered before, and the repositories that were not there,
// are gone or are at another commit.
func (g *passage) moved(pairs []pair) []string {
	names := slices.AppendSeq(make([]string, 0, len(pairs)), maps.Keys(g.was.Own))
	for _, p := range pairs {
		names = append(names, p.name())
	}
	for name, head := range g.now {
		if was, before := g.was.heads[name]; name != "" && (!before || was != head) {
			names = append(names, name)
		}
	}
	for name := range g.was.heads {
		if _, after := g.now[name]; !after {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// brought tells which files are as git has written them. What a file was belongs to the repository that had it then, and
// what it is to the one that has it now: a folder may have become a submodule, and a submodule a folder.
func (g *passage) brought(ctx context.Context, pairs []pair) ([]bool, error) {
	brought := make([]bool, len(pairs))
	arrived := map[string][]int{}
	for i, p := range pairs {
		from, to := repositoryOf(p.name(), g.was.heads), repositoryOf(p.name(), g.now)
		if p.was.path != "" && (p.is.path == "" || from != to) {
			left, err := g.left(ctx, from, p.name())
			if err != nil {
				return nil, err
			}
			if !left {
				continue
			}
		}
		if p.is.path == "" {
			brought[i] = true
		} else {
			arrived[to] = append(arrived[to], i)
		}
	}

	var converted []int
	for name, which := range arrived {
		o, err := g.origin(ctx, name)
		if err != nil {
			return nil, err
		}
		by, err := o.arrived(ctx, pairs, which, brought)
		if err != nil {
			return nil, err
		}
		converted = append(converted, by...)
	}
	g.doubt(pairs, converted, brought)
	return brought, nil
}

// left reports whether git has taken a file away from a repository, or the repository with it.
func (g *passage) left(ctx context.Context, from, name string) (bool, error) {
	link := false
	for from != "" {
		if _, there := g.now[from]; there {
			break
		}
		name, from, link = from, repositoryOf(from, g.was.heads), true
	}
	o, err := g.origin(ctx, from)
	if err != nil {
		return false, err
	}
	revision := o.revised[o.path(name)]
	if link {
		return revision.From.IsRepository() && !revision.To.IsRepository(), nil
	}
	return revision.From.Mode != "" && (revision.To.Mode == "" || revision.To.IsRepository()), nil
}

// doubt takes back what was said of files that git has converted, where it did so by attributes that it has not brought.
func (g *passage) doubt(pairs []pair, converted []int, brought []bool) {
	own := map[string]bool{} // the files of attributes that the session has written
	for i, p := range pairs {
		if path.Base(p.name()) == ".gitattributes" && !brought[i] {
			own[p.name()] = true
		}
	}
	for _, i := range converted {
		repository := repositoryOf(pairs[i].name(), g.now)
		for dir := path.Dir(pairs[i].name()); brought[i]; dir = path.Dir(dir) {
			file := path.Join(dir, ".gitattributes")
			brought[i] = !own[file] && !g.was.Own[file] || repositoryOf(file, g.now) != repository
			if dir == "." || dir == ".." || strings.HasSuffix(dir, "/..") {
				break
			}
		}
	}
}

// origin is what a repository has brought since the tree was kept.
func (g *passage) origin(ctx context.Context, name string) (*origin, error) {
	if o := g.origins[name]; o != nil {
		return o, nil
	}
	from, known := g.was.heads[name]
	to := g.now[name]
	if !known && to != "" {
		from = git.EmptyTree(to) // it is new, as a submodule is that came with a pull
	}
	o := &origin{passage: g, repo: g.w.in(name), name: name, from: from, isNew: !known}
	g.origins[name] = o
	if name == "" {
		_, o.within, _ = paths.Repository(g.w.root)
	}
	if from == "" || to == "" || from == to {
		return o, nil
	}
	revised, err := o.repo.Revised(ctx, from, to)
	if err != nil && (name == "" || ctx.Err() != nil) {
		return nil, err // one within the tree may have been replaced by another clone, which brings nothing
	}
	o.revised = revised
	return o, nil
}
