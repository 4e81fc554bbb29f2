package change

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Record is what some files of a project were at one moment. It keeps no content, only
// what tells one content from another. Git is not asked what has changed since then: an agent
// can tell it not to see a change.
type Record struct{ entries []entry }

// State is what counts of a file: a regular one (f), one that can be executed (x) or a
// link (l), and the hash of its bytes or of the link's target; or that it cannot be read. The
// zero State is that of a file that does not exist.
type State struct {
	Kind string `json:"kind,omitempty"`
	Sum  string `json:"sum,omitempty"`
}

// Exists reports whether there is a file.
func (s State) Exists() bool { return s != State{} }

// Unreadable is the kind of what is in a file's place and cannot be read as one: a folder,
// a pipe, or a file without permission.
const Unreadable = "unreadable"

func (e *entry) state() State {
	if !e.stat.exists() {
		return State{}
	}
	return State{string(e.stat.kind()), hex.EncodeToString(e.sum[:])}
}

// Difference is a file that is not as it was.
type Difference struct {
	Path    string
	Was, Is State
}

// unsettled is a time that no file has: what bears it never vouches for a content.
const unsettled = -1

// maxRead is the largest file that is read. A larger one is told apart by its stat alone:
// hashing a sparse file of a terabyte would take longer than a hook has.
const maxRead = 256 << 20

// Record reads files of the project by their names. Those that do not exist, and folders,
// are left out.
func (w *Worktree) Record(ctx context.Context, names []string) (Record, error) {
	names = slices.Compact(slices.Sorted(slices.Values(names))) // the caller's stay as they are
	dir, err := openFolder(w.root)
	if err != nil {
		return Record{}, err
	}
	defer dir.close()

	var large []entry
	names = slices.DeleteFunc(names, func(name string) bool {
		s, err := dir.lstat(name)
		huge := err == nil && s.isA(typeRegular) && s.size > maxRead
		if huge {
			large = append(large, entry{path: name, stat: s})
		}
		return huge
	})

	s := &snapshot{dir: dir, at: w.now()}
	files, _, err := s.read(ctx, names)
	if err != nil {
		return Record{}, err
	}

	for i := range files {
		if !files[i].stat.settled(s.at) {
			files[i].stat.mtime = unsettled
		}
	}
	return newRecord(append(files, large...)), nil
}

func newRecord(entries []entry) Record {
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return Record{entries}
}

// Names lists the files of the record, sorted.
func (r Record) Names() []string {
	names := make([]string, len(r.entries))
	for i := range r.entries {
		names[i] = r.entries[i].path
	}
	return names
}

// Has reports whether the record has a file.
func (r Record) Has(name string) bool {
	_, found := r.find(name)
	return found
}

// State is what a file was; zero where the record does not have it.
func (r Record) State(name string) State {
	if i, found := r.find(name); found {
		return r.entries[i].state()
	}
	return State{}
}

func (r Record) find(name string) (int, bool) {
	return slices.BinarySearchFunc(r.entries, name, func(e entry, name string) int { return strings.Compare(e.path, name) })
}

// With is the record with other states of some files, as they are known from elsewhere.
func (r Record) With(states map[string]State) (Record, error) {
	out := slices.DeleteFunc(slices.Clone(r.entries), func(e entry) bool {
		_, other := states[e.path]
		return other
	})

	for name, state := range states {
		if !state.Exists() {
			continue
		}
		e := entry{path: name, stat: stat{mtime: unsettled}}
		switch state.Kind {
		case "f":
			e.stat.mode = typeRegular | 0o644
		case "x":
			e.stat.mode = typeRegular | 0o755
		case "l":
			e.stat.mode = typeLink | 0o777
		default:
			return Record{}, errors.New("unknown kind of file " + state.Kind)
		}
		if n, err := hex.Decode(e.sum[:], []byte(state.Sum)); err != nil || n != len(e.sum) {
			return Record{}, errors.New("invalid hash " + state.Sum)
		}
		out = append(out, e)
	}
	return newRecord(out), nil
}

// Filter is the record of those files that keep wants.
func (r Record) Filter(keep func(name string) bool) Record {
	return Record{slices.DeleteFunc(slices.Clone(r.entries), func(e entry) bool { return !keep(e.path) })}
}

// Differences lists the files of a record that are not as they were, and those of more
// that the record does not have and that exist. A file whose stat is that of the record
// is not read again.
func (w *Worktree) Differences(ctx context.Context, r Record, more []string) (all []Difference, err error) {
	dir, err := openFolder(w.root)
	if err != nil {
		return nil, err
	}
	defer dir.close()

	buf := make([]byte, 128<<10)
	look := func(name string, known *entry) error {
		was := State{}
		if known != nil {
			if s, err := dir.lstat(name); err == nil && s == known.stat {
				return nil // as nearly all are
			}
			was = known.state()
		}
		is, err := dir.state(ctx, name, known, buf)
		if err == nil && is != was {
			all = append(all, Difference{name, was, is})
		}
		return err
	}

	for i := range r.entries {
		if err := look(r.entries[i].path, &r.entries[i]); err != nil {
			return nil, err
		}
	}
	for _, name := range more {
		if r.Has(name) {
			continue
		}
		if err := look(name, nil); err != nil {
			return nil, err
		}
	}

	slices.SortFunc(all, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// state is what a file is now. A folder in its place counts as a missing file. An error means that ctx
// ended.
func (f folder) state(ctx context.Context, name string, known *entry, buf []byte) (State, error) {
	s, err := f.lstat(name)
	switch {
	case err == nil && (!s.exists() || s.isA(typeDirectory)):
		return State{}, nil
	case err == nil && known != nil && known.stat == s:
		return known.state(), nil
	case err == nil && s.isA(typeRegular) && s.size > maxRead:
		return State{Kind: Unreadable, Sum: fmt.Sprintf("%d bytes, too large to read", s.size)}, nil
	}
	now, err := f.read(ctx, name, known, buf)
	if ctx.Err() != nil {
		return State{}, context.Cause(ctx)
	}
	if err != nil {
		return State{Kind: Unreadable}, nil
	}
	return now.state(), nil
}

// Encode makes bytes of a record, for DecodeRecord.
func (r Record) Encode() []byte { return encodeIndex(r.entries) }

// DecodeRecord reads what Encode made. Damage is an error.
func DecodeRecord(data []byte) (Record, error) {
	entries, err := decodeIndex(data)
	return Record{entries}, err
}
