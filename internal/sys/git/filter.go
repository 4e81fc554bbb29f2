package git

import (
	"context"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// known are the clean filters that show what they are for: the hash of a file that is kept elsewhere, or
// the file encrypted. Any other may show whatever it likes.
var known = []string{
	"git-lfs clean -- %f", "git-lfs filter-process",
	`"git-crypt" clean`, "git-crypt clean",
}

var filterKey = lazyregexp.New(`^filter\.(.*)\.(?:clean|process)$`)

// Filtered lists the tracked files below the directory that git sees through a clean
// filter which is not known: what git says about them need not be what they hold.
func (r Repo) Filtered(ctx context.Context) ([]string, error) {
	out, err := r.output(ctx, "config", "-z", "--get-regexp", `^filter\..*\.(clean|process)$`)
	if code(err) == 1 {
		return nil, nil // there is none
	}
	if err != nil {
		return nil, err
	}
	var pathspecs []string
	for record := range records(out) {
		key, command, _ := strings.Cut(record, "\n")
		if driver := filterKey.Get().FindStringSubmatch(key); driver != nil && command != "" && !slices.Contains(known, command) {
			pathspecs = append(pathspecs, ":(attr:filter="+driver[1]+")")
		}
	}
	if len(pathspecs) == 0 {
		return nil, nil
	}
	return r.names(ctx, slices.Concat([]string{"ls-files", "-z", "--"}, pathspecs)...)
}
