package trust

import (
	"slices"
	"strings"
)

// Change is a file that is not as approved.
type Change struct {
	Path   string   // slash-separated, below the directory that was approved
	Before *Version // nil: it was not approved
	After  *Version // nil: it is gone
}

// Version is a file at one time.
type Version struct {
	Data []byte
	Exec bool
}

// Changes are the files that differ from what was approved, by their names.
func (s Standing) Changes() (all []Change, err error) {
	if s.Content == nil {
		return nil, nil
	}
	live, err := readTree(s.live)
	if err != nil {
		return nil, err
	}
	return s.ChangesTo(Snapshot{files: live}), nil
}

// ChangesTo are those between what was approved and a snapshot: what a person agrees to is what is approved then.
func (s Standing) ChangesTo(snapshot Snapshot) (all []Change) {
	if s.Content == nil {
		return nil
	}
	files := map[string]*Change{}
	at := func(path string) *Change {
		if files[path] == nil {
			files[path] = &Change{Path: path}
		}
		return files[path]
	}
	for _, f := range s.Content.files {
		at(f.Path).Before = &Version{f.Data, f.Exec}
	}
	for _, f := range snapshot.files {
		at(f.Path).After = &Version{f.Data, f.Exec}
	}

	for _, c := range files {
		if c.Before == nil || c.After == nil || c.Before.Exec != c.After.Exec || string(c.Before.Data) != string(c.After.Data) {
			all = append(all, *c)
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all
}
