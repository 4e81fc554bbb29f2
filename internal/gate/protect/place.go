package protect

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Place is a project as one session sees it.
type Place struct {
	Project  *keeper.Project
	StateDir string
	Environ  []string
	Now      func() time.Time
	// Session is the first session that this one goes on from, Since when it began, and
	// Prompted whether its first prompt was seen.
	Session  string
	Since    change.Start
	Prompted bool
	Log      func(format string, args ...any) // nil: nothing is logged
}

func (p Place) logf(format string, args ...any) {
	if p.Log != nil {
		p.Log(format, args...)
	}
}

// Protects reports whether a project protects anything.
func Protects(project *keeper.Project) bool {
	return project != nil && project.Config != nil && len(project.Config.Protect.Patterns) > 0
}

func (p Place) config() config.Protect { return p.Project.Config.Protect }

func (p Place) worktree() *change.Worktree {
	return change.Open(p.Project.Root, p.Project.Config.Gauntlet.LogDir, "", p.Environ, p.Now)
}

func (p Place) repo() git.Repo { return git.At(paths.Canonical(p.Project.Root), p.Environ) }

func (p Place) abs(name string) string {
	return filepath.Join(p.Project.Root, filepath.FromSlash(name))
}

// protects reports whether a file of the project is protected. What is approved as a whole,
// by trust, is not approved a second time.
func (p Place) protects(name string) bool {
	return p.judges(name) && slices.ContainsFunc(p.config().Patterns, func(pattern string) bool { return gauntlet.Covers(pattern, name) })
}

// judges reports whether a name is one that can be protected.
func (p Place) judges(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return name != "" && name != "." && top != ".." && top != ".git" && (top != paths.GauntletDir || p.Project.Approval == "")
}

// names lists the protected files that there are, and of them those whose changes git was
// told not to see. A file that git ignores is protected only by its own name: patterns would
// find it in folders of packages and caches. With errInner they are not all.
func (p Place) names(ctx context.Context) (names, hidden []string, err error) {
	listing, err := p.repo().Files(ctx)
	if err != nil {
		return nil, nil, err
	}
	inner, err := p.inner(ctx, listing)
	for _, name := range slices.Concat(listing.Tracked, listing.Untracked, inner, p.config().Patterns) {
		if p.protects(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), listing.Hidden, err
}

// isModule reports whether a path is the work tree of a repository. Without a .git of its
// own, git would answer for the repository around it.
func isModule(path string) bool {
	return isFolder(path) && disk.Exists(filepath.Join(path, ".git"))
}

// moduleOf is the submodule that a file lies in, by the names of its folders; empty where it
// lies in none.
func (p Place) moduleOf(name string) string {
	for i, r := range name {
		if r == '/' && isModule(p.abs(name[:i])) {
			return name[:i]
		}
	}
	return ""
}

// present is the content of a file as it is now, with its state, where it is small enough to
// be read.
func (p Place) present(name string) ([]byte, change.State, bool) {
	path := p.abs(name)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, change.State{}, os.IsNotExist(err)
	}
	switch {
	case info.IsDir():
		return nil, change.State{}, true
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return []byte(target), change.State{Kind: "l", Sum: digest.Hex(target)}, err == nil
	case !info.Mode().IsRegular() || info.Size() > maxContent:
		return nil, change.State{}, false
	}
	content, err := regular.ReadNoFollow(path, maxContent)
	kind := "f"
	if info.Mode()&0o111 != 0 {
		kind = "x"
	}
	return content, change.State{Kind: kind, Sum: digest.Hex(content)}, err == nil
}

// maxKept is far more than what is kept of a session and a project with a million protected files.
const maxKept = 1 << 30

// maxContent is the largest file whose text is looked at.
const maxContent = 1 << 20
