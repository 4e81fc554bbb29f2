package protect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gauntlet/change"
	"github.com/stopgate/stopgate/internal/keeper"
	"github.com/stopgate/stopgate/internal/trust"
)

// At gives protected files as they are, for a person who names them.
func (p Place) At(ctx context.Context, names []string) (all []Touch, err error) {
	for _, name := range names {
		if !p.protects(name) {
			return nil, fmt.Errorf("%s is not protected in this project", shown(name))
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
			return nil, fmt.Errorf("%s cannot be read, so nothing of it can be approved", shown(name))
		}
		all = append(all, t)
	}
	return all, nil
}

// Waiting is what a session has touched in a worktree and a person is to look at.
type Waiting struct {
	Place Place `json:"-"`
	Root  string
	Touches
}

// Touches are several, with what each file was.
type Touches struct {
	All    []Touch
	Before map[string]string // the old text, where it is known
}

// Wait lists what waits for a person in the worktrees of a project's repository, as the files
// are now: only what an agent has stopped with, since a session may be in the middle of
// something.
func (p Place) Wait(ctx context.Context, locate func(root string) *keeper.Project) (all []Waiting) {
	dir := filepath.Join(p.StateDir, "protect", "sessions")
	entries, _ := os.ReadDir(dir) // there need not be any
	for _, entry := range entries {
		var m memory
		text, err := os.ReadFile(filepath.Join(dir, entry.Name(), "memory.json"))
		if err != nil || json.Unmarshal(text, &m) != nil || len(m.Open) == 0 || trust.RepositoryKey(m.Root) != trust.RepositoryKey(p.Project.Root) {
			continue
		}
		project := locate(m.Root)
		if !Protects(project) {
			continue
		}
		place := p
		place.Project, place.Session = project, m.Session
		if touches := place.still(ctx, m); len(touches.All) > 0 {
			all = append(all, Waiting{place, m.Root, touches})
		}
	}
	slices.SortStableFunc(all, func(a, b Waiting) int { return strings.Compare(a.Root, b.Root) })
	return all
}

// still looks again at what waits, and gives what is left of it.
func (p Place) still(ctx context.Context, m memory) (out Touches) {
	b, err := p.load()
	if err != nil {
		return out
	}
	p.Since = change.Start{Time: b.Began}
	found, err := p.look(ctx, b)
	if err != nil {
		return out
	}
	out.Before = map[string]string{}
	for _, t := range found {
		if !slices.ContainsFunc(m.Open, func(o Touch) bool { return o.Path == t.Path }) {
			continue
		}
		out.All = append(out.All, t)
		if before, known := p.content(ctx, b, t); known {
			out.Before[t.Path] = before
		}
	}
	return out
}

// Text is the text of a file as a touch has it; false where it is another one by now, or
// none that can be shown.
func (p Place) Text(t Touch) (string, bool) {
	text, state, ok := p.present(t.Path)
	return string(text), ok && state == t.Is && !strings.Contains(string(text), "\x00")
}
