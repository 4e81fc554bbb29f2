package protect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// base is what the agent found.
type base struct {
	Version int           `json:"v"`
	Root    string        `json:"root"`
	Began   time.Time     `json:"began"`
	Head    string        `json:"head,omitempty"`   // commit; empty before the first one
	Branch  string        `json:"branch,omitempty"` // full ref; empty when detached
	Reflog  change.Reflog `json:"reflog,omitzero"`  // of then; zero where that is not known
	// Unseen means that no prompt of the session was seen: every commit that the base branch
	// does not have counts as the session's.
	Unseen   bool     `json:"unseen,omitempty"`
	Patterns []string `json:"patterns"`
	Files    []byte   `json:"files"` // a change.Record
	// Copies are the contents that no commit has, as far as they are small; Uncopied names the others.
	Copies   map[string][]byte `json:"copies,omitempty"`
	Uncopied []string          `json:"uncopied,omitempty"`
	// Targets are the files that are compared because a protected link leads to them, with the link.
	Targets map[string]string `json:"targets,omitempty"`
	// Conversion is how git wrote files then; nil where that is not known.
	Conversion *git.Conversion `json:"conversion,omitempty"`

	record change.Record
}

const (
	baseVersion = 1
	maxCopy     = 128 << 10
	maxCopies   = 4 << 20 // all together
)

// errNoGit means that nothing can be protected, because there is no repository.
var errNoGit = errors.New("protect needs a git repository")

// Begin remembers what the agent finds at the first prompt of its session. What it finds
// later is another matter, so a base that is there stays.
func (p Place) Begin(ctx context.Context) error {
	if p.Session == "" || !Protects(p.Project) {
		return nil
	}
	if _, err := p.load(); err == nil {
		return nil
	}
	b, err := p.find(ctx)
	if err != nil {
		return err
	}
	return p.store(b)
}

// find looks at the protected files as they are.
func (p Place) find(ctx context.Context) (*base, error) {
	at, err := p.repo().Locate(ctx, "", "HEAD")
	if err != nil {
		return nil, p.noGit(err)
	}
	names, hidden, err := p.names(ctx)
	if err != nil && !errors.Is(err, errInner) {
		return nil, err
	}

	b := p.newBase(at)
	if b.record, err = p.worktree().Record(ctx, names); err != nil {
		return nil, err
	}
	links := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return b.record.State(name).Kind != "l" })
	if b.Targets = p.targets(links); len(b.Targets) > 0 {
		if b.record, err = p.worktree().Record(ctx, slices.AppendSeq(names, maps.Keys(b.Targets))); err != nil {
			return nil, err
		}
	}

	status, err := p.repo().Status(ctx)
	if err != nil {
		return nil, err
	}
	p.copyOf(b, slices.Concat(p.below(at, status.Changed), p.below(at, status.Untracked), hidden))

	if conversion, err := p.repo().Conversion(ctx, true); err != nil { // as with git before 2.26
		p.logf("look at how git writes the files of %s: %v", p.Project.Root, err)
	} else {
		b.Conversion = &conversion
	}
	return b, nil
}

// below makes names relative to the project of those that are relative to the work tree.
func (p Place) below(at git.Location, names []string) (all []string) {
	prefix := at.Prefix(paths.Canonical(p.Project.Root))
	for _, name := range names {
		all = append(all, strings.TrimPrefix(name, prefix))
	}
	return all
}

// copyOf keeps the contents of files that differ from the last commit, for those who are to
// be shown what became of them.
func (p Place) copyOf(b *base, names []string) {
	left := maxCopies
	for _, name := range names {
		if !b.record.Has(name) {
			continue // it is not protected
		}
		content, state, ok := p.present(name)
		if !ok || !state.Exists() || len(content) > min(maxCopy, left) || b.record.State(name) != state {
			b.Uncopied = append(b.Uncopied, name)
			continue
		}
		if b.Copies == nil {
			b.Copies = map[string][]byte{}
		}
		b.Copies[name] = content
		left -= len(content)
	}
}

func (p Place) newBase(at git.Location) *base {
	b := &base{Version: baseVersion, Root: paths.Canonical(p.Project.Root), Began: p.Since.Time, Reflog: p.Since.Reflog, Head: at.Head, Patterns: p.config().Patterns}
	if b.Began.IsZero() {
		b.Began = p.Now().UTC()
	}
	if at.Branch != "HEAD" {
		b.Branch = at.Branch
	}
	return b
}

// holds reports whether a file of the base is compared: it is protected, or a protected link leads to it.
func (p Place) holds(b *base, name string) bool {
	return p.protects(name) || p.protects(b.Targets[name])
}

// derive makes up a base from commits, for a session whose beginning was not seen here: that
// of HEAD when the session began, and where no prompt was seen the merge base.
func (p Place) derive(ctx context.Context) (*base, error) {
	at, err := p.repo().Locate(ctx, "", "HEAD")
	if err != nil {
		return nil, p.noGit(err)
	}
	b := p.newBase(at)
	b.Unseen = !p.Prompted
	if b.Head == "" {
		return b, nil
	}
	if commit, reflog := change.HeadAt(p.Project.Root, p.Since.Time); p.Prompted && commit != "" {
		b.Head, b.Reflog = commit, reflog
		return b, p.fill(ctx, b)
	}
	where, err := p.worktree().Position(ctx, change.Scope{Base: p.Project.Config.Gauntlet.BaseBranch})
	if err != nil {
		return nil, err
	}
	if where.MergeBase != "" { // else what is not committed is all that can be told
		b.Head = where.MergeBase
	}
	return b, p.fill(ctx, b)
}

// fill makes the record of a base from its commit.
func (p Place) fill(ctx context.Context, b *base) error {
	repo := p.repo()
	listed, err := repo.Listed(ctx, b.Head)
	if err != nil {
		return err
	}

	var names, links []string
	for name, blob := range listed {
		if p.protects(name) && blob.Mode != moduleMode {
			names = append(names, name)
		}
		if p.protects(name) && blob.Mode == linkMode {
			links = append(links, name)
		}
	}

	b.Targets = p.targets(links) // a link that leads elsewhere by now is told itself
	for name := range b.Targets {
		if _, has := listed[name]; has {
			names = append(names, name)
		}
	}
	if b.record, err = p.worktree().Record(ctx, names); err != nil {
		return err
	}

	states, err := p.committed(ctx, b, names, listed)
	if err != nil {
		return err
	}
	b.record, err = b.record.With(states)
	return err
}

const (
	moduleMode = "160000"
	linkMode   = "120000"
	execMode   = "100755"
)

// committed gives the states that files have in a commit, for those that are not so in the
// work tree. A file that a sparse checkout leaves out is not deleted.
func (p Place) committed(ctx context.Context, b *base, names []string, listed map[string]git.Blob) (map[string]change.State, error) {
	repo := p.repo()
	differs, err := repo.Differs(ctx, b.Head)
	if err != nil {
		return nil, err
	}
	listing, err := repo.Files(ctx)
	if err != nil {
		return nil, err
	}
	sparse, err := repo.Sparse(ctx)
	if err != nil {
		return nil, err
	}
	protected := map[string]bool{}
	for _, name := range names {
		protected[name] = true
	}
	var other []string
	for _, name := range slices.Concat(differs, listing.Hidden) {
		if !protected[name] {
			continue
		}
		if _, err := os.Lstat(p.abs(name)); sparse && errors.Is(err, fs.ErrNotExist) && slices.Contains(listing.Hidden, name) {
			continue
		}
		other = append(other, name)
	}

	converted := p.converted(ctx, b, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(other, name) }), listed)
	other = append(other, converted...)
	states := map[string]change.State{}
	if len(other) == 0 {
		return states, nil
	}
	aside, err := p.aside(ctx, b)
	if err != nil {
		return nil, err
	}
	defer aside.Close()
	err = aside.Contents(ctx, b.Head, p.stored(listed, other), maxWritten, func(i int, content []byte) {
		if i < len(other)-len(converted) || !p.alike(other[i], content) {
			states[other[i]] = change.State{Kind: kindOf(listed[other[i]].Mode), Sum: sumOf(content)}
		}
	})
	return states, err
}

// converted lists those of some files whose bytes are not those of the commit although git sees no difference: it may
// have converted them, or have been told to.
func (p Place) converted(ctx context.Context, b *base, names []string, listed map[string]git.Blob) (all []string) {
	names = slices.DeleteFunc(names, func(name string) bool {
		kind := b.record.State(name).Kind
		return !listed[name].Regular() || kind != "f" && kind != "x"
	})
	ids, err := p.repo().HashRaw(ctx, names)
	if err != nil {
		p.logf("hash the protected files of %s: %v", p.Project.Root, err)
	}
	for i, id := range ids {
		if id != listed[names[i]].ID {
			all = append(all, names[i])
		}
	}
	return all
}

// alike reports whether a file has a content, whatever its lines end with: an editor may have written them so, long
// before.
func (p Place) alike(name string, content []byte) bool {
	now, _, ok := p.present(name)
	return ok && bytes.Equal(lineFeeds(now), lineFeeds(content))
}

func lineFeeds(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// stored are files of the project as git has them.
func (p Place) stored(listed map[string]git.Blob, names []string) []git.Stored {
	prefix := ""
	root := paths.Canonical(p.Project.Root)
	if top, found := paths.GitRoot(root); found {
		if rel, err := filepath.Rel(top, root); err == nil {
			prefix = rel
		}
	}
	files := make([]git.Stored, len(names))
	for i, name := range names {
		files[i] = git.Stored{Blob: listed[name], Path: path.Join(filepath.ToSlash(prefix), name)}
	}
	return files
}

func kindOf(mode string) string {
	switch mode {
	case linkMode:
		return "l"
	case execMode:
		return "x"
	}
	return "f"
}

// extend adds to a base what patterns name that it does not have.
func (p Place) extend(ctx context.Context, b *base) (*base, error) {
	wider := *b
	wider.Patterns = p.config().Patterns
	if b.Head == "" {
		return &wider, nil
	}
	if err := p.fill(ctx, &wider); err != nil {
		return nil, err
	}
	maps.Copy(wider.Targets, b.Targets)
	known := map[string]change.State{}
	for _, name := range b.record.Names() {
		known[name] = b.record.State(name)
	}
	var err error
	wider.record, err = wider.record.With(known)
	return &wider, err
}

// noGit says why git cannot answer, in words of our own where there is no repository. One that
// is damaged, or was there when the session began, is not none: to git, an empty .git/HEAD is.
func (p Place) noGit(err error) error {
	if !errors.Is(err, git.ErrNotRepository) && !errors.Is(err, git.ErrNotInstalled) {
		return err
	}
	if _, found := paths.GitRoot(paths.Canonical(p.Project.Root)); found || p.Since.Reflog.Size > 0 {
		return err
	}
	return fmt.Errorf("%w (%w)", errNoGit, err)
}

// dir is where what is known of a session and a project is kept.
func (p Place) dir() string {
	return filepath.Join(p.StateDir, "protect", "sessions", digest.Hex(p.Session)[:24]+"-"+trust.ProjectKey(p.Project.Root))
}

func (p Place) baseFile() string { return filepath.Join(p.dir(), "base.json") }

func (p Place) load() (*base, error) {
	b, err := statefile.Read[base](p.baseFile(), maxKept)
	if err != nil {
		return nil, err
	}
	if b.Version != baseVersion {
		return nil, fmt.Errorf("unknown version %d", b.Version)
	}
	b.record, err = change.DecodeRecord(b.Files)
	return &b, err
}

func (p Place) store(b *base) error {
	if p.Session == "" {
		return nil
	}
	b.Files = b.record.Encode()
	return statefile.Write(p.baseFile(), b)
}

// base is what the session is held to. One that is damaged is made up anew. With an error it
// is what is known of it all the same, or nil.
func (p Place) base(ctx context.Context) (*base, error) {
	ctx, cancel := limit(ctx)
	defer cancel()
	b, err := p.load()
	switch {
	case err != nil:
		if b, err = p.derive(ctx); err != nil {
			return nil, err
		}
	case !slices.Equal(b.Patterns, p.config().Patterns):
		wider, err := p.extend(ctx, b)
		if err != nil {
			return b, err
		}
		b = wider
	default:
		now := p.Now()
		_ = os.Chtimes(p.baseFile(), now, now) // else a long session is forgotten
		return b, nil
	}
	if err := p.store(b); err != nil {
		p.logf("record the protected files of %s: %v", p.Project.Root, err) // they are compared all the same
	}
	return b, nil
}

// contents calls each with the touches whose files' texts at the base are known, and the texts.
func (p Place) contents(ctx context.Context, b *base, all []Touch, each func(t *Touch, before string)) {
	var names []string
	var waiting []*Touch
	for i := range all {
		t := &all[i]
		text, copied := b.Copies[t.Path]
		switch {
		case !t.Was.Exists():
			each(t, "")
		case copied:
			each(t, string(text))
		case b.Head != "" && p.moduleOf(t.Path) == "":
			names, waiting = append(names, t.Path), append(waiting, t)
		}
	}
	if len(names) == 0 {
		return
	}

	listed, err := p.repo().Listed(ctx, b.Head, names...)
	if err != nil {
		p.logf("read the protected files of %s: %v", b.Head, err)
		return
	}
	// Of one that a commit does not have nothing is known.
	waiting = slices.DeleteFunc(waiting, func(t *Touch) bool { _, has := listed[t.Path]; return !has })
	names = slices.DeleteFunc(names, func(name string) bool { _, has := listed[name]; return !has })
	aside, err := p.aside(ctx, b)
	if err != nil {
		p.logf("read the protected files of %s: %v", b.Head, err)
		return
	}
	defer aside.Close()
	err = aside.Contents(ctx, b.Head, p.stored(listed, names), maxContent, func(i int, content []byte) {
		if digest.Hex(content) == waiting[i].Was.Sum {
			each(waiting[i], string(content))
		}
	})
	if err != nil {
		p.logf("read the protected files of %s: %v", b.Head, err)
	}
}
