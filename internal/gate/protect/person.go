package protect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// At gives protected files as they are, for a person who names them.
func (p Place) At(ctx context.Context, names []string) (all []Touch, err error) {
	for _, name := range names {
		if !p.protects(name) && !p.isTarget(ctx, name) {
			return nil, fmt.Errorf("%s is not protected in this project", plain.Name(name))
		}
	}
	found, err := p.worktree().Differences(ctx, change.Record{}, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t := Touch{Path: name, What: Deleted}
		if i := slices.IndexFunc(found, func(d change.Difference) bool { return d.Path == name }); i >= 0 {
			t.What, t.Is = Changed, found[i].Is
		}
		if t.Is.Kind == change.Unreadable {
			return nil, fmt.Errorf("cannot read %s, so it cannot be approved", plain.Name(name))
		}
		all = append(all, t)
	}
	return all, nil
}

// isTarget reports whether a protected link leads to a file, which may be deleted.
func (p Place) isTarget(ctx context.Context, name string) bool {
	links, _, err := p.names(ctx)
	return err == nil && slices.ContainsFunc(links, func(link string) bool {
		way, _ := p.way(link)
		return slices.Contains(way, name)
	})
}

// Waiting is what a session has touched in a worktree, and a person is to look at.
type Waiting struct {
	Place   Place
	Touches []Touch
	Before  map[string]string // the old texts, where they are known
}

// Root is the worktree's project.
func (w Waiting) Root() string { return w.Place.Project.Root }

// Wait lists what waits for a person in the worktrees of a project's repository, as the files
// are now: only what an agent has stopped with, since a session may be in the middle of
// something.
func (p Place) Wait(ctx context.Context, locate func(root string) *keeper.Project) (all []Waiting) {
	dir := filepath.Join(p.StateDir, "protect", "sessions")
	entries, _ := os.ReadDir(dir) // there need not be any
	for _, entry := range entries {
		m, err := statefile.Read[memory](filepath.Join(dir, entry.Name(), "memory.json"), maxKept)
		if err != nil || len(m.Open) == 0 || trust.RepositoryKey(m.Root) != trust.RepositoryKey(p.Project.Root) {
			continue
		}
		project := locate(m.Root)
		if !Protects(project) {
			continue
		}
		place := p
		place.Project, place.Session = project, m.Session
		if w := place.still(ctx, m); len(w.Touches) > 0 {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b Waiting) int { return strings.Compare(a.Root(), b.Root()) })
	return all
}

// still looks again at what waits, and gives what is left of it.
func (p Place) still(ctx context.Context, m memory) Waiting {
	w := Waiting{Place: p, Before: map[string]string{}}
	b, err := p.load()
	if err != nil {
		return w
	}
	found, _ := p.look(ctx, b) // those that cannot be compared wait for no approval
	for _, t := range found {
		if !slices.ContainsFunc(m.Open, func(o Touch) bool { return o.Path == t.Path }) {
			continue
		}
		w.Touches = append(w.Touches, t)
	}
	p.contents(ctx, b, w.Touches, func(t *Touch, before string) { w.Before[t.Path] = before })
	return w
}

var (
	// ErrMoved means that a file is no longer what a touch says.
	ErrMoved = errors.New("the file has changed again; review it again")
	// ErrNoText means that there is nothing to show of a file.
	ErrNoText = errors.New("no text")
)

// Text is the text of a file as a touch has it.
func (p Place) Text(t Touch) (string, error) {
	text, state, ok := p.present(t.Path)
	switch {
	case !ok || strings.Contains(string(text), "\x00"):
		return "", ErrNoText
	case state != t.Is:
		return "", ErrMoved
	}
	return string(text), nil
}

// Missing lists the patterns that name no file.
func (p Place) Missing(ctx context.Context) (patterns []string, err error) {
	names, _, err := p.names(ctx)
	if err != nil && !errors.Is(err, errInner) {
		return nil, err
	}
	for _, pattern := range p.config().Patterns {
		covered := func(name string) bool {
			return disk.Exists(p.abs(name)) && gauntlet.Covers(pattern, name)
		}
		if !slices.ContainsFunc(names, covered) {
			patterns = append(patterns, pattern)
		}
	}
	return patterns, nil
}

// Doubts are what a person may not know of the entries under protect: a pattern for files at the top where
// there are such files in folders, as in a .gitignore, and links whose content is not compared.
func (p Place) Doubts(ctx context.Context) (notes []string, err error) {
	listing, err := p.repo().Files(ctx)
	if err != nil {
		return nil, err
	}
	files := slices.Concat(listing.Tracked, listing.Untracked)

	count := func(pattern string) (n int) {
		for _, name := range files {
			if p.judges(name) && gauntlet.Covers(pattern, name) {
				n++
			}
		}
		return n
	}

	for _, pattern := range p.config().Patterns {
		if strings.Contains(pattern, "/") || !strings.ContainsAny(pattern, "*?[{") {
			continue
		}
		if top, all := count(pattern), count("**/"+pattern); all > top {
			notes = append(notes, fmt.Sprintf("%s matches %s at the top of the project; **/%s matches %d, in all folders", plain.Name(pattern), plain.Count(top, "file"), plain.Name(pattern), all))
		}
	}

	for _, name := range files {
		if !p.protects(name) || !p.isLink(name) {
			continue
		}
		if _, inside := p.way(name); !inside {
			notes = append(notes, plain.Name(name)+" is a link that does not lead to a file of the project: only the link itself is compared")
		}
	}
	return notes, nil
}

func (p Place) isLink(name string) bool {
	info, err := os.Lstat(p.abs(name))
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
