// Package protect looks after the files that a project wants no agent to change without a
// person: tests, build files, settings of linters. It remembers what they were when a
// session began and compares bytes with bytes, whatever git was told about them.
package protect

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// What happened to a protected file.
type What string

// The ways in which a file is touched.
const (
	Changed    What = "changed"
	Deleted    What = "deleted"
	Renamed    What = "renamed"
	Added      What = "added"
	Mode       What = "mode changed"
	Relinked   What = "replaced by a link"
	Unreadable What = "made unreadable"
)

// Touch is a protected file that is not what the agent found.
type Touch struct {
	Path  string       `json:"path"`
	What  What         `json:"what"`
	To    string       `json:"to,omitempty"` // where a renamed file is now
	Was   change.State `json:"was,omitzero"`
	Is    change.State `json:"is,omitzero"`
	Notes []string     `json:"notes,omitempty"` // tests, skips and thresholds
}

// same reports whether two touches are of the same file with the same content now.
func (t Touch) same(o Touch) bool { return t.Path == o.Path && t.Is == o.Is }

// touches makes touches of the differences that count: those that no person approved and
// that did not come with the commits of others.
func touches(all []change.Difference, approved approvals, others map[string]bool) (out []Touch) {
	for _, d := range all {
		if !approved.has(d.Path, d.Is) && !others[d.Path] {
			out = append(out, Touch{Path: d.Path, What: what(d), Was: d.Was, Is: d.Is})
		}
	}
	return out
}

// what says in a word or two how a file differs.
func what(d change.Difference) What {
	switch {
	case !d.Was.Exists():
		return Added
	case !d.Is.Exists():
		return Deleted
	case d.Is.Kind == change.Unreadable:
		return Unreadable
	case d.Is.Kind == "l" && d.Was.Kind != "l":
		return Relinked
	case d.Is.Sum == d.Was.Sum && d.Is.Kind != d.Was.Kind:
		return Mode
	}
	return Changed
}

// renamed tells of the deleted files those that are elsewhere now. states are the files that
// are new.
func renamed(all []Touch, states map[string]change.State) {
	names := make([]string, 0, len(states))
	for name := range states {
		names = append(names, name)
	}
	slices.Sort(names)
	for i := range all {
		if all[i].What != Deleted || all[i].Was.Sum == empty {
			continue
		}
		at := slices.IndexFunc(names, func(name string) bool { return states[name].Sum == all[i].Was.Sum })
		if at >= 0 {
			all[i].What, all[i].To = Renamed, names[at]
		}
	}
}

// empty is the hash of nothing: all empty files look alike.
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// String is a touch on one line.
func (t Touch) String() string {
	if t.What == Renamed {
		return plain.Name(t.Path) + " renamed to " + plain.Name(t.To)
	}
	return plain.Name(t.Path) + " " + string(t.What)
}

// list is the first few of many touches, with what was weakened.
func list(all []Touch) string {
	const files, notes = 10, 10
	touched, weakened := lines(all)
	return strings.Join(append(plain.Few(touched, files), plain.Few(weakened, notes)...), "\n")
}

// lines are the touches, and what was weakened by them.
func lines(all []Touch) (files, notes []string) {
	for _, t := range all {
		files = append(files, t.String())
		notes = append(notes, t.Notes...)
	}
	return files, notes
}
