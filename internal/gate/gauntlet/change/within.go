package change

import (
	"context"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// within keeps the commits that are part of the history of tip, with the files that they touched, and
// those whose content it has all the same: a remote that squashes or rebases what it merges makes
// other commits of them. Of these only the files count that tip has so.
func (w *Worktree) within(ctx context.Context, commits []string, tip string) (here []string, touched map[string][]string, err error) {
	if tip == "" || len(commits) == 0 {
		return nil, nil, nil
	}
	outside, err := w.repo.Outside(ctx, commits, tip)
	if err != nil {
		return nil, nil, err
	}
	wrote, err := w.repo.Wrote(ctx, commits)
	if err != nil {
		return nil, nil, err
	}

	beyond := map[string]map[string]git.Blob{}
	for _, id := range outside {
		if beyond[id] = wrote[id]; beyond[id] == nil {
			beyond[id] = map[string]git.Blob{} // it changed nothing
		}
		delete(wrote, id)
	}
	landed, err := w.squashed(ctx, beyond, written(wrote), tip)
	if err != nil {
		return nil, nil, err
	}
	touched = map[string][]string{}
	for id, files := range wrote {
		touched[id] = slices.Collect(maps.Keys(files))
	}
	maps.Copy(touched, landed)
	here = slices.DeleteFunc(slices.Clone(commits), func(id string) bool { return beyond[id] != nil && touched[id] == nil })
	return here, touched, nil
}

// version is a file with a mode and a content.
type version struct {
	name string
	blob git.Blob
}

func written(wrote map[string]map[string]git.Blob) map[version]bool {
	all := map[version]bool{}
	for _, files := range wrote {
		for name, blob := range files {
			all[version{name, blob}] = true
		}
	}
	return all
}

// squashed are the files that tip has as commits outside of its history made them, or with most of the
// lines that they added, unless they were so where those commits come from, or a commit in its history
// made them so: what was amended or rebased counts once.
func (w *Worktree) squashed(ctx context.Context, beyond map[string]map[string]git.Blob, known map[version]bool, tip string) (map[string][]string, error) {
	names, counted := map[string]bool{}, map[string]bool{}
	for v := range known {
		counted[v.name] = true
	}
	for _, files := range beyond {
		maps.DeleteFunc(files, func(name string, blob git.Blob) bool { return known[version{name, blob}] })
		for name := range files {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	all := slices.Sorted(maps.Keys(names))
	now, err := w.blobs(ctx, tip, all)
	if err != nil {
		return nil, err
	}

	open := false
	for _, files := range beyond {
		maps.DeleteFunc(files, func(name string, made git.Blob) bool {
			return now[name] != made && (counted[name] || now[name] == git.Blob{} || made == git.Blob{})
		})
		open = open || len(files) > 0
	}
	if !open {
		return nil, nil
	}
	return w.sinceForks(ctx, beyond, now, all)
}

// sinceForks are the files of commits that tip has of them, where now is what it has, and not of where they
// come from.
func (w *Worktree) sinceForks(ctx context.Context, beyond map[string]map[string]git.Blob, now map[string]git.Blob, all []string) (landed map[string][]string, err error) {
	from, err := w.forks(ctx, beyond)
	if err != nil {
		return nil, err
	}

	before := map[string]map[string]git.Blob{}
	var mixed []mix
	landed = map[string][]string{}
	for commit, files := range beyond {
		fork := from[commit]
		if len(files) > 0 && before[fork] == nil {
			if before[fork], err = w.blobs(ctx, fork, all); err != nil {
				return nil, err
			}
		}

		for name, made := range files {
			switch then := before[fork][name]; {
			case then == now[name], then == made:
			case now[name] == made, then.Mode != "" && then.Mode != made.Mode && now[name].Mode == made.Mode:
				landed[commit] = append(landed[commit], name)
			default:
				mixed = append(mixed, mix{commit: commit, name: name, then: then.ID, made: made.ID, now: now[name].ID})
			}
		}
	}

	found, err := w.blended(ctx, mixed)
	for _, m := range found {
		landed[m.commit] = append(landed[m.commit], m.name)
	}
	return landed, err
}

// mix is a file that a commit made out of one content, and that has a third one now.
type mix struct{ commit, name, then, made, now string }

// blended are those that now have most of the lines that the commit added: it was merged with what others
// did to the same file.
func (w *Worktree) blended(ctx context.Context, mixed []mix) (found []mix, err error) {
	contents := map[string]map[uint32]bool{}
	for _, m := range mixed {
		contents[m.then], contents[m.made], contents[m.now] = nil, nil, nil
	}
	delete(contents, "")
	ids := slices.Collect(maps.Keys(contents))
	if len(ids) == 0 {
		return nil, nil
	}

	err = w.repo.RawContents(ctx, ids, maxTraced, func(i int, content []byte) { contents[ids[i]] = lineHashes(content, 1) })
	if err != nil {
		return nil, err
	}

	for _, m := range mixed {
		added, kept := 0, 0
		for line := range contents[m.made] {
			if contents[m.then][line] {
				continue
			}
			added++
			if contents[m.now][line] {
				kept++
			}
		}
		if 2*kept > added {
			found = append(found, m)
		}
	}
	return found, nil
}

// blobs are files in a commit. One that it does not have has the zero Blob.
func (w *Worktree) blobs(ctx context.Context, commit string, names []string) (map[string]git.Blob, error) {
	if commit == "" {
		return map[string]git.Blob{}, nil
	}
	return w.repo.Listed(ctx, commit, names...)
}

// forks are the commits that others come from, the first ones that are not among them; empty for those
// that come from none.
func (w *Worktree) forks(ctx context.Context, commits map[string]map[string]git.Blob) (map[string]string, error) {
	all, err := w.repo.Parents(ctx, slices.Collect(maps.Keys(commits)))
	if err != nil {
		return nil, err
	}

	parent := map[string]string{}
	for _, commit := range all {
		parent[commit.ID] = commit.Parent
	}

	from := map[string]string{}
	for id := range commits {
		var line []string // of commits that come from the same one
		fork := id
		for commits[fork] != nil {
			if known, found := from[fork]; found {
				fork = known
				break
			}
			line, fork = append(line, fork), parent[fork]
		}
		for _, id := range line {
			from[id] = fork
		}
	}
	return from, nil
}
