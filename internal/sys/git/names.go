package git

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// Listing is every file that git does not ignore. Names are relative to the
// directory, and those outside it begin with "../".
type Listing struct {
	Tracked   []string // in the index; one name may stand there several times
	Untracked []string // a repository within this one is one name that ends in "/"
	// Hidden are the tracked files whose changes git was told not to see
	// (assume-unchanged, skip-worktree).
	Hidden []string
	// Warning is what git could not look at, if anything. Unread are the folders among it, relative to the top of
	// the work tree; Blind means that there is more of it.
	Warning string
	Unread  []string
	Blind   bool
}

// Files lists the files of the whole work tree.
func (r Repo) Files(ctx context.Context) (Listing, error) {
	return r.FilesWhile(ctx, func() {})
}

// FilesWhile is Files, and calls started when git is at work. It does not where git
// cannot be started.
func (r Repo) FilesWhile(ctx context.Context, started func()) (Listing, error) {
	var out strings.Builder
	warning, err := r.exec(ctx, nil, &out, started, "ls-files", "-z", "-v", "--cached", "--others", "--exclude-standard", "--", ":/")
	if err != nil {
		return Listing{}, err
	}
	list := parseListing(out.String())
	list.warn(warning)
	return list, nil
}

// HasBelow reports whether any of the files is below the directory.
func (l Listing) HasBelow() bool {
	below := func(name string) bool { return !strings.HasPrefix(name, "../") }
	return slices.ContainsFunc(l.Tracked, below) || slices.ContainsFunc(l.Untracked, below)
}

// warn reads what git says beside a list. It is cut off where it is long.
func (l *Listing) warn(text string) {
	if text == "" {
		return
	}
	l.Warning, _, _ = strings.Cut(text, "\n")
	l.Blind = len(text) >= mostOfErrors
	for line := range strings.Lines(text + "\n") {
		match := unread.Get().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if match == nil {
			l.Blind = true
			continue
		}
		l.Unread = append(l.Unread, strings.TrimSuffix(match[1], "/"))
	}
}

// unread is what git says of a folder that it cannot list.
var unread = lazyregexp.New(`^warning: could not open directory '(.+)': .*$`)

func parseListing(out string) (list Listing) {
	list.Tracked = make([]string, 0, strings.Count(out, "\x00"))
	for record := range records(out) {
		tag, name, ok := strings.Cut(record, " ")
		switch {
		case !ok || name == "":
		case tag == "?":
			list.Untracked = append(list.Untracked, name)
		default:
			list.Tracked = append(list.Tracked, name)
			if tag == "S" || tag != strings.ToUpper(tag) {
				list.Hidden = append(list.Hidden, name)
			}
		}
	}
	return list
}

// Status is what differs from HEAD in the index and the work tree below the
// directory. Names are relative to the work tree's root.
type Status struct {
	Changed   []string // staged or not, deleted, or a submodule in which something differs
	Untracked []string // as in a Listing
}

// Status asks for the changes that are not committed.
func (r Repo) Status(ctx context.Context) (Status, error) {
	out, err := r.output(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames", "--", ".")
	if err != nil {
		return Status{}, err
	}
	return parseStatus(out), nil
}

func parseStatus(out string) (status Status) {
	for record := range records(out) {
		if len(record) < 4 || record[2] != ' ' {
			continue
		}
		if kind, name := record[:2], record[3:]; kind == "??" {
			status.Untracked = append(status.Untracked, name)
		} else {
			status.Changed = append(status.Changed, name)
		}
	}
	return status
}

// Sparse reports whether the work tree leaves out tracked files on purpose.
func (r Repo) Sparse(ctx context.Context) (bool, error) {
	out, err := r.output(ctx, "config", "--type=bool", "core.sparseCheckout")
	if code(err) == 1 {
		return false, nil // not set
	}
	return out == "true\n", err
}

// Blob is a tracked file's content as the index has it.
type Blob struct{ Mode, ID string }

// Regular reports whether it is a file's, and not that of a link or a repository.
func (b Blob) Regular() bool { return strings.HasPrefix(b.Mode, "100") }

// IsRepository reports whether it is the commit of a submodule.
func (b Blob) IsRepository() bool { return b.Mode == "160000" }

// Blobs gives the index's content of every file of the work tree, by the names of
// Files.
func (r Repo) Blobs(ctx context.Context) (map[string]Blob, error) {
	out, err := r.output(ctx, "ls-files", "-z", "--stage", "--", ":/")
	if err != nil {
		return nil, err
	}
	return parseBlobs(out), nil
}

// parseBlobs reads "mode id stage<TAB>name" of the index, and "mode type id<TAB>name" of a tree.
func parseBlobs(out string) map[string]Blob {
	blobs := map[string]Blob{}
	for record := range records(out) {
		about, name, _ := strings.Cut(record, "\t")
		field := strings.Fields(about)
		if len(field) != 3 || name == "" {
			continue
		}
		blob := Blob{Mode: field[0], ID: field[1]}
		if !IsID(blob.ID) {
			blob.ID = field[2]
		}
		blobs[name] = blob
	}
	return blobs
}

// records are the texts between NULs. What follows the last NUL was cut off.
func records(out string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			record, rest, ok := strings.Cut(out, "\x00")
			if !ok || !yield(record) {
				return
			}
			out = rest
		}
	}
}

// Untracked reports whether git shows a file in the directory as new: it neither tracks nor ignores
// it.
func (r Repo) Untracked(ctx context.Context, name string) (bool, error) {
	out, err := r.output(ctx, "ls-files", "-z", "--others", "--exclude-standard", "--", ":(literal)"+name)
	return out == name+"\x00", err
}

// Ignored lists the files below the directory that git ignores and does not track.
func (r Repo) Ignored(ctx context.Context) ([]string, error) {
	return r.names(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", ".")
}

// BlobAt is a file's content in a commit or a tree, and whether there is one. The name is
// relative to the directory.
func (r Repo) BlobAt(ctx context.Context, tree, name string) (Blob, bool, error) {
	out, err := r.output(ctx, "ls-tree", "-z", tree, "--", ":(literal)"+name)
	if err != nil {
		return Blob{}, false, err
	}
	blob, found := parseBlobs(out)[name]
	return blob, found, nil
}

// SafeDirectories are the values of safe.directory that hold in the directory, in git's order. Outside
// a repository they are the system's and the user's own.
func (r Repo) SafeDirectories(ctx context.Context) ([]string, error) {
	out, err := r.output(ctx, "config", "--null", "--path", "--get-all", "safe.directory")
	if code(err) == 1 {
		return nil, nil // none is set
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}
