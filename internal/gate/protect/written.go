package protect

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// maxWritten is the largest file that is compared with what git makes of one that it converts.
const maxWritten = 64 << 20

// aside is the repository without what the session may have set: a filter of its own would make any content of a
// file the same as any other. Where it is not known what was set before, only the user's own settings count.
func (p Place) aside(ctx context.Context, b *base) (*git.Aside, error) {
	if b.Conversion == nil {
		b.Conversion = p.conversionOfMain()
	}
	if b.Conversion == nil {
		now := p.userConversion(ctx, p.repo())
		b.Conversion = &now
	}
	return p.asideOf(p.repo(), *b.Conversion, b.Head)
}

// asideOf makes one, and removes what hooks left that were killed: none lives for an hour.
func (p Place) asideOf(repo git.Repo, c git.Conversion, id string) (*git.Aside, error) {
	dir := filepath.Join(p.StateDir, "protect", "aside")
	removeOlder(dir, p.Now().Add(-time.Hour))
	if os.MkdirAll(dir, 0o700) != nil {
		dir = os.TempDir() // files are compared also where nothing can be saved
	}
	return repo.Aside(dir, c, id)
}

// userConversion is what the user has set; nothing where git does not tell that from what the repository sets.
func (p Place) userConversion(ctx context.Context, repo git.Repo) git.Conversion {
	c, err := repo.Conversion(ctx, false)
	if err != nil {
		p.logf("look at how git writes the files of %s: %v", p.Project.Root, err)
	}
	return c
}

// conversionOfMain is what the session found in the main worktree, for one that it has made; nil where that is not
// known.
func (p Place) conversionOfMain() *git.Conversion {
	top, found := paths.MainWorktree(p.Project.Root)
	_, within, known := paths.Repository(p.Project.Root)
	if !found || !known {
		return nil
	}
	project := *p.Project
	project.Root = filepath.Join(top, filepath.FromSlash(within))
	p.Project = &project
	b, err := p.load()
	if err != nil {
		return nil
	}
	return b.Conversion
}

// written tells which files of a work tree are as git writes them.
type written struct {
	repo       git.Repo
	aside      *git.Aside
	attributes string // the commit that has them
}

// same keeps the differences whose files are in the work tree as git has them in a list, or as it writes
// them. prefix is what the list's names lack; stored names its files from the top of the work tree.
func (w written) same(ctx context.Context, listed map[string]git.Blob, stored func(map[string]git.Blob, []string) []git.Stored, prefix string, all []change.Difference) (same []change.Difference) {
	var waiting []change.Difference
	for _, d := range all {
		blob, has := listed[strings.TrimPrefix(d.Path, prefix)]
		switch {
		case !d.Is.Exists():
			if !has {
				same = append(same, d)
			}
		case !has || kindOf(blob.Mode) != d.Is.Kind && d.Is.Kind != d.Was.Kind:
		case d.Is.Kind != change.Unreadable:
			waiting = append(waiting, d)
		}
	}

	asIs := w.asIs(ctx, listed, prefix, waiting)
	var names []string
	var converted []change.Difference
	for _, d := range waiting {
		if asIs[d.Path] {
			same = append(same, d)
			continue
		}
		names, converted = append(names, strings.TrimPrefix(d.Path, prefix)), append(converted, d)
	}
	_ = w.aside.Contents(ctx, w.attributes, stored(listed, names), maxWritten, func(i int, content []byte) { // what cannot be read is not the same
		if sumOf(content) == converted[i].Is.Sum {
			same = append(same, converted[i])
		}
	})
	return same
}

// asIs tells which regular files git has byte by byte, however large they are.
func (w written) asIs(ctx context.Context, listed map[string]git.Blob, prefix string, all []change.Difference) map[string]bool {
	var names []string
	for _, d := range all {
		if d.Is.Kind != "l" {
			names = append(names, strings.TrimPrefix(d.Path, prefix))
		}
	}
	same := map[string]bool{}
	ids, _ := w.repo.HashRaw(ctx, names) // what cannot be read is not the same
	for i, id := range ids {
		same[prefix+names[i]] = id == listed[names[i]].ID
	}
	return same
}

// sumOf is the hash of the file that git makes of a content. Git LFS keeps it in the content.
func sumOf(content []byte) string {
	if sum, is := git.LargeFile(content); is {
		return sum
	}
	return digest.Hex(content)
}

// storedAtTop are files of a repository that is called at its top.
func storedAtTop(listed map[string]git.Blob, names []string) []git.Stored {
	files := make([]git.Stored, len(names))
	for i, name := range names {
		files[i] = git.Stored{Blob: listed[name], Path: name}
	}
	return files
}
