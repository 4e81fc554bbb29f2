// Package workspace makes and removes the working trees and folders that pipelines and agents have for
// themselves. Each is known by the name of its directory, and is made once under it: made again, it is
// found, or made anew out of what a killed process left.
//
//	NAME/       the worktree or the folder
//	NAME.json   what is known of it, written before anything is made and after everything is removed
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Root is where the workspaces lie.
func Root(stateDir string) string { return filepath.Join(paths.Canonical(stateDir), "workspaces") }

// atOnce is how many workspaces are made or removed at the same time. Each writes as fast as the disk
// takes it, so that more of them take no less time.
const atOnce = 4

// longest is how long it may take to make a workspace, or to look for work in one. A file system or a
// server that does not answer must not hold up a pipeline unseen.
const longest = time.Hour

// Workspaces are those below a root. Only one process works with them: the daemon, which holds the lock
// on the state directory.
type Workspaces struct {
	root    string // absolute, without links
	environ []string
	turns   chan struct{}
	erase   func(dir string) error // removeAll; tests have it fail
	limit   time.Duration          // longest; tests have less

	mu    sync.Mutex
	repos map[string]*sync.Mutex // by their common directory
}

var _ effect.Workspaces = (*Workspaces)(nil)

// New are the workspaces in the state directory. The environment is git's.
func New(stateDir string, environ []string) *Workspaces {
	return &Workspaces{root: Root(stateDir), environ: environ, turns: make(chan struct{}, atOnce), erase: removeAll, limit: longest, repos: map[string]*sync.Mutex{}}
}

// record is what is known of a workspace.
type record struct {
	Owner   string                `json:"owner"`
	Dir     string                `json:"dir"`
	Kind    runbook.WorkspaceKind `json:"kind"`
	Project string                `json:"project"`
	State   state                 `json:"state"`

	// Of a worktree.
	Repo     string `json:"repo,omitempty"` // the top of the worktree that it was made from
	Branch   string `json:"branch,omitempty"`
	Branched bool   `json:"branched,omitempty"` // the branch is made with it
	Commit   string `json:"commit,omitempty"`   // that it starts from
}

// state is how far a workspace is. In one that is not ready no step has run.
type state string

const (
	making   state = "making"
	ready    state = "ready"
	removing state = "removing"
)

func (w *Workspaces) file(dir string) string {
	return filepath.Join(w.root, filepath.Base(dir)+".json")
}

const maxRecord = 64 << 10

// read is what is known of a workspace; the zero value where there is none.
func (w *Workspaces) read(dir string) (record, error) {
	r, err := statefile.Read[record](w.file(dir), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	return r, err
}

func (w *Workspaces) write(r record) error { return statefile.Write(w.file(r.Dir), r) }

// held is the workspaces while one of them is worked on.
type held struct {
	*Workspaces
	lock *os.File
}

// patience is how long git may go on of a daemon that was killed.
const patience = 10 * time.Minute

// hold waits for one's turn, and for what a killed daemon has left running.
func (w *Workspaces) hold(ctx context.Context, dir string) (in held, done func(), err error) {
	select {
	case w.turns <- struct{}{}:
	case <-ctx.Done():
		return held{}, nil, context.Cause(ctx)
	}
	path := filepath.Join(w.root, filepath.Base(dir)+lockfile.Suffix)
	lock, release, err := lockfile.Hold(ctx, path, patience)
	if err != nil {
		<-w.turns
		return held{}, nil, cmp.Or(context.Cause(ctx), err)
	}
	return held{w, lock}, func() {
		if !disk.Exists(w.file(dir)) {
			_ = os.Remove(path) // there is nothing to lock any more
		}
		release()
		<-w.turns
	}, nil
}

// alone does something to the worktrees of a repository while no other worktree of it is made or removed:
// git fails where it finds one that is not whole.
func (w *Workspaces) alone(top string, do func() error) error {
	common, _, _ := paths.Repository(top)
	w.mu.Lock()
	turn := w.repos[common]
	if turn == nil {
		turn = &sync.Mutex{}
		w.repos[common] = turn
	}
	w.mu.Unlock()

	turn.Lock()
	defer turn.Unlock()
	return do()
}

// repo is git in a directory. What it does is over before the lock is free.
func (w held) repo(dir string) git.Repo { return git.At(dir, w.environ).Holding(w.lock) }

// Make implements effect.Workspaces.
func (w *Workspaces) Make(ctx context.Context, owner string, t engine.WorkspaceTask) (engine.WorkspaceMade, error) {
	if err := w.check(t.Dir); err != nil {
		return engine.WorkspaceMade{}, err
	}
	in, done, err := w.hold(ctx, t.Dir)
	if err != nil {
		return engine.WorkspaceMade{}, err
	}
	defer done()

	r, err := w.read(t.Dir)
	if err != nil {
		return engine.WorkspaceMade{}, failed("cannot read %s: %v", w.file(t.Dir), err)
	}
	switch there := disk.IsDir(t.Dir); {
	case r.State == ready && there:
		return engine.WorkspaceMade{Commit: r.Commit, Found: true}, nil
	case r.State == "" && disk.Exists(t.Dir):
		return engine.WorkspaceMade{}, failed("%s exists and was not made by stopgate: remove it", t.Dir)
	case r.State != "":
		if err := in.clear(ctx, r); err != nil {
			return engine.WorkspaceMade{}, lasting(ctx, err)
		}
	}
	made, err := in.makeInTime(ctx, owner, t)
	if err == nil {
		return made, nil
	}
	if ctx.Err() != nil { // what there is of it stays for the next try, or for Remove
		return engine.WorkspaceMade{}, context.Cause(ctx)
	}
	if r, found := w.read(t.Dir); found == nil && r.State != "" {
		err = errors.Join(err, in.clear(ctx, r))
	}
	return engine.WorkspaceMade{}, lasting(ctx, err)
}

// check finds out whether a directory is one of the workspaces.
func (w *Workspaces) check(dir string) error {
	if filepath.Dir(dir) != w.root || !plain.IsWord(filepath.Base(dir), ".", 200) || strings.HasPrefix(filepath.Base(dir), ".") {
		return failed("%q is not a directory for workspaces", dir)
	}
	return nil
}

func (w held) makeInTime(ctx context.Context, owner string, t engine.WorkspaceTask) (engine.WorkspaceMade, error) {
	ctx, cancel := w.inTime(ctx)
	defer cancel()
	made, err := w.make(ctx, owner, t)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return made, err
}

// inTime is a context for what takes no longer than the limit.
func (w held) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, w.limit, failed("it took longer than %s", w.limit))
}

func (w held) make(ctx context.Context, owner string, t engine.WorkspaceTask) (engine.WorkspaceMade, error) {
	if err := os.MkdirAll(w.root, 0o700); err != nil {
		return engine.WorkspaceMade{}, err
	}
	r := record{Owner: owner, Dir: t.Dir, Kind: t.Kind, Project: t.Project, State: making}
	switch t.Kind {
	case runbook.Worktree:
		return w.makeWorktree(ctx, r, t)
	case runbook.FolderCopy, runbook.FolderEmpty:
		return w.makeFolder(ctx, r)
	}
	return engine.WorkspaceMade{}, failed("unknown kind of workspace %q", t.Kind)
}

// Remove implements effect.Workspaces.
func (w *Workspaces) Remove(ctx context.Context, t engine.WorkspaceTask) (engine.WorkspaceRemoved, error) {
	if err := w.check(t.Dir); err != nil {
		return engine.WorkspaceRemoved{}, err
	}
	in, done, err := w.hold(ctx, t.Dir)
	if err != nil {
		return engine.WorkspaceRemoved{}, err
	}
	defer done()

	r, err := w.read(t.Dir)
	switch {
	case err != nil:
		return engine.WorkspaceRemoved{}, failed("cannot read %s: %v", w.file(t.Dir), err)
	case r.State == "":
		return engine.WorkspaceRemoved{}, nil // it never was, or is gone
	case r.State == ready && disk.IsDir(r.Dir):
		kept := in.lost(ctx, r)
		if ctx.Err() != nil {
			return engine.WorkspaceRemoved{}, context.Cause(ctx)
		}
		if kept != "" {
			return engine.WorkspaceRemoved{Kept: kept}, nil
		}
	}
	r.State = removing
	if err := w.write(r); err != nil {
		return engine.WorkspaceRemoved{}, err
	}
	note := in.left(ctx, r)
	if err := in.clear(ctx, r); err != nil {
		return engine.WorkspaceRemoved{}, lasting(ctx, err)
	}
	return engine.WorkspaceRemoved{Note: note}, nil
}

// clear removes a workspace with everything in it, and what is known of it.
func (w held) clear(ctx context.Context, r record) error {
	if err := w.erase(r.Dir); err != nil {
		return fmt.Errorf("%w; remove it with: rm -r %s", err, r.Dir)
	}
	if r.Kind == runbook.Worktree {
		if err := w.alone(r.Repo, func() error { return w.clearWorktree(ctx, r) }); err != nil {
			return err
		}
	}
	return disk.Remove(w.file(r.Dir))
}

// removeAll is os.RemoveAll, also where a directory may not be written to, as in Go's module cache.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) // where that fails, removing does too
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Sweep forgets workspaces that are gone and that no owner needs: a person has removed them.
// Files go too that a killed daemon was about to write.
func (w *Workspaces) Sweep(ctx context.Context, now time.Time, needed func(owner string) bool) error {
	disk.Prune(w.root, now.Add(-time.Hour), func(name string) bool { return !strings.HasPrefix(name, ".stopgate-") })
	entries, err := disk.List(w.root)
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), ".json")
		if !is {
			continue
		}
		r, unread := w.read(filepath.Join(w.root, name))
		if unread != nil || filepath.Base(r.Dir) != name || disk.Exists(r.Dir) || needed(r.Owner) {
			continue
		}
		err = errors.Join(err, w.forget(ctx, r))
	}
	return err
}

func (w *Workspaces) forget(ctx context.Context, r record) error {
	in, done, err := w.hold(ctx, r.Dir)
	if err != nil {
		return err
	}
	defer done()
	return in.clear(ctx, r)
}

func failed(format string, args ...any) error {
	return &errand.Failure{Why: fmt.Sprintf(format, args...)}
}

// lasting is an error as one that trying again does not change. A person can resume what it fails.
func lasting(ctx context.Context, err error) error {
	var failure *errand.Failure
	if errors.As(err, &failure) || ctx.Err() != nil {
		return err
	}
	return failed("%s", plain.Line(err.Error()))
}
