package stops

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Filter says which stops are wanted. The zero Filter wants all.
type Filter struct {
	ID      string                 // of the hook call, or a prefix of it; ULIDs also in lower case
	Session string                 // its id, or a prefix of it
	Project func(root string) bool // asked about the stop's project, and the trees it was judged in; nil wants every one
	Since   time.Time              // earlier ones are not wanted; zero wants all
	// Except is a prefix of sessions that are not wanted, unless Session or ID names one.
	Except string
}

// Wants reports whether a stop is wanted. A second call for the same stop is only found by its id.
func (f *Filter) Wants(s *Stop) bool {
	switch {
	case f.ID != "":
		return strings.HasPrefix(s.ID, f.ID) || strings.HasPrefix(s.ID, strings.ToUpper(f.ID))
	case s.Adopted, f.Except != "" && f.Session == "" && strings.HasPrefix(s.Session, f.Except):
		return false
	}
	return strings.HasPrefix(s.Session, f.Session) &&
		!s.Time.Before(f.Since) &&
		(f.Project == nil || f.Project(s.Project) || slices.ContainsFunc(s.Trees, func(t event.Tree) bool { return f.Project(t.Root) }))
}

// Reader reads the stops of a journal. It holds a segment's places and a few dozen records at a
// time, however long the journal is.
type Reader struct {
	Journal *journal.Journal
	Filter  Filter
	// Lost is how many lines of what was read cannot be used: they are damaged, or of a newer
	// stopgate. A stop may be among them.
	Lost int
}

// IsStop tells a stop by the JSON of its record, which is not decoded for that. The first "event"
// with its quotes is the record's own: in a text before it the quotes are escaped.
func IsStop(json []byte) bool {
	_, rest, found := bytes.Cut(json, []byte(`"event":"`))
	return found && (bytes.HasPrefix(rest, []byte(mainStop)) || bytes.HasPrefix(rest, []byte(subagentStop)))
}

// mayBe tells what can be a stop that is wanted, by the JSON of its record: decoding is most of what
// reading costs. What a filter asks for is looked for only where it is written in one way.
func (f *Filter) mayBe() func(json []byte) bool {
	var parts [][]byte
	if plain.IsWord(f.ID, "", 100) {
		parts = append(parts, []byte(`"call":"`+f.ID), []byte(`"call":"`+strings.ToUpper(f.ID)))
	} else if f.ID == "" && plain.IsWord(f.Session, "", 200) {
		parts = append(parts, []byte(`"session":"`+f.Session))
	}
	return func(json []byte) bool {
		return IsStop(json) && (parts == nil || slices.ContainsFunc(parts, func(part []byte) bool { return bytes.Contains(json, part) }))
	}
}

// Newest returns the stops that are wanted, the newest first. One that was received and not answered
// stands where it was received.
func (r *Reader) Newest() iter.Seq2[*Stop, error] {
	return func(yield func(*Stop, error) bool) {
		answered := map[string]bool{} // calls whose beginning was not read yet
		lost := lostLines{}
		for entry, err := range r.Journal.Backward(journal.Position{}, r.Filter.mayBe()) {
			if err != nil {
				yield(nil, err)
				return
			}

			r.Lost = lost.in(entry)
			s := stopOf(entry.Record)
			switch {
			case s == nil:
				continue
			case entry.Record.Kind == event.Answered:
				answered[s.ID] = true
			case answered[s.ID]:
				delete(answered, s.ID)
				continue
			}

			if r.Filter.Wants(s) && !yield(s, nil) {
				return
			}
		}
	}
}

// lostLines counts the lines of each segment once.
type lostLines struct {
	segment uint64
	before  int // of the segments that were read
	now     int // of the one that is being read
}

// in is how many lines were lost up to the segment of an entry.
func (l *lostLines) in(entry journal.Entry) int {
	if entry.Position.Segment != l.segment {
		l.segment, l.before = entry.Position.Segment, l.before+l.now
	}
	l.now = entry.Lost
	return l.before + l.now
}

// Oldest returns the stops that are wanted in the order in which they were answered, and then those
// that were not.
func (r *Reader) Oldest() iter.Seq2[*Stop, error] {
	return func(yield func(*Stop, error) bool) {
		open := map[string]*Stop{}
		for entry, err := range r.Journal.Select(journal.Position{}, r.Filter.mayBe()) {
			if err != nil {
				yield(nil, err)
				return
			}
			if entry.Newer > 0 || entry.Damage != nil {
				r.Lost++
			}
			s := stopOf(entry.Record)
			switch {
			case s == nil:
				continue
			case entry.Record.Kind == event.Received:
				open[s.ID] = s
				continue
			}
			delete(open, s.ID)
			if r.Filter.Wants(s) && !yield(s, nil) {
				return
			}
		}

		for _, s := range inOrder(open) {
			if r.Filter.Wants(s) && !yield(s, nil) {
				return
			}
		}
	}
}

// stopOf is the stop of a record, if there is a record.
func stopOf(r *event.Record) *Stop {
	if r == nil {
		return nil
	}
	return Of(r)
}

// inOrder are stops by their time.
func inOrder(open map[string]*Stop) []*Stop {
	all := make([]*Stop, 0, len(open))
	for _, s := range open {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Stop) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Find returns the stops whose id begins so, the newest first and at most that many: one where the id
// is whole.
func Find(j *journal.Journal, id string, most int) (found []*Stop, err error) {
	if id == "" {
		return nil, nil
	}
	if made, whole := journal.TimeOf(strings.ToUpper(id)); whole {
		s, err := at(j, strings.ToUpper(id), made)
		if err != nil {
			return nil, err
		}
		if s != nil {
			return []*Stop{s}, nil
		}
		most = 1
	}
	r := Reader{Journal: j, Filter: Filter{ID: id}}
	for s, err := range r.Newest() {
		if err != nil {
			return found, err
		}
		if found = append(found, s); len(found) >= most {
			break
		}
	}
	return found, nil
}

// at finds the stop with an id that was made at a time, from there on. It is nil where it is not there.
func at(j *journal.Journal, id string, made time.Time) (found *Stop, err error) {
	begin, err := j.Around(made)
	if err != nil {
		return nil, err
	}
	names := func(json []byte) bool { return bytes.Contains(json, []byte(id)) }
	for entry, err := range j.Select(begin, names) {
		if err != nil {
			return nil, err
		}
		if entry.Record == nil || entry.Record.Call != id {
			continue
		}
		if s := Of(entry.Record); s != nil {
			found = s
		}
		if entry.Record.Kind == event.Answered {
			break
		}
	}
	return found, nil
}
