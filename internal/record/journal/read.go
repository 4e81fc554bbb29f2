package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/lines"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Entry is one line of the journal.
type Entry struct {
	// Record is nil when the line cannot be used; then Newer or Damage says why. It
	// is nil, too, for a line that Select passed over.
	Record *event.Record
	// Position is the end of the line. Reading from there gives the entries
	// after this one.
	Position Position
	// Newer is the version of a line that a newer stopgate wrote.
	Newer int
	// Damage is what is wrong with a line that nobody can read.
	Damage *Damage
	// Lost is how many lines of the entry's segment, as far as it was read, cannot be used. Only Backward tells it.
	Lost int
}

// Damage names bytes that are lost. It ends at its entry's Position.
type Damage struct {
	Start  Position
	Length int64 // with the newline; 0 when whole segments are gone
	Why    string
}

func (d *Damage) String() string {
	if d.Length == 0 {
		return d.Why
	}
	return fmt.Sprintf("%s: the line at byte %d, of %d bytes, %s",
		segmentName(d.Start.Segment), d.Start.Offset, d.Length, d.Why)
}

// ErrPosition says that a position is not one of this journal: it was deleted,
// or the machine lost power before the bytes were on disk. Reading from the
// start of the segment, or from the zero Position, finds everything there is.
var ErrPosition = errors.New("position is not in this journal")

// Read returns the entries after from, in the order of their positions, up to the
// journal's end as it is now. Nothing that happens to a line keeps the ones
// after it from being read; an error ends the sequence.
//
// A last line without newline is damage unless a writer is at work on it.
func (j *Journal) Read(from Position) iter.Seq2[Entry, error] { return j.Select(from, nil) }

// Select is Read for somebody who needs few of many records: of a sound line whose JSON
// is not wanted only the position is told. Decoding is most of what reading costs.
func (j *Journal) Select(from Position, wanted func(json []byte) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := scan{journal: j, at: from, wanted: wanted, yield: yield}
		err := s.pass()
		if err == nil && s.unfinished {
			err = s.settle()
		}
		s.fail(err)
	}
}

// scan goes through the journal and yields entries. Its methods return errStopped
// when the consumer wants no more.
type scan struct {
	journal    *Journal
	at         Position // all lines before it were yielded
	unfinished bool     // the active segment ends with an unfinished line, at at
	wanted     func(json []byte) bool
	yield      func(Entry, error) bool
}

var errStopped = errors.New("stopped")

func (s *scan) fail(err error) {
	if err != nil && !errors.Is(err, errStopped) {
		s.yield(Entry{}, s.journal.explain(err))
	}
}

func (s *scan) emit(e Entry) error {
	s.at = e.Position
	if !s.yield(e, nil) {
		return errStopped
	}
	return nil
}

// pass yields every finished line after s.at. In all segments but the last, which
// nobody writes to any more, the last line counts as finished.
func (s *scan) pass() error {
	numbers, err := s.journal.segments()
	if err != nil {
		return err
	}
	if s.at.Segment > 0 && (len(numbers) == 0 || numbers[len(numbers)-1] < s.at.Segment) {
		return fmt.Errorf("%w: %v is after its end", ErrPosition, s.at)
	}

	read := false // segment s.at.Segment, in this pass
	for i, number := range numbers {
		if number < s.at.Segment {
			continue
		}
		f, err := regular.Open(s.journal.path(segmentName(number)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted just now: a gap before the next one
		}
		if err != nil {
			return err
		}

		err = s.enter(number, read)
		if err == nil {
			err = s.segment(f, i < len(numbers)-1)
		}
		f.Close()
		if err != nil {
			return err
		}
		read = true
	}
	return nil
}

// enter moves to the segment and names those that are gone before it. read tells
// whether the segment the scan stands in was there to be read.
func (s *scan) enter(number uint64, read bool) error {
	if number == s.at.Segment {
		return nil
	}
	first := s.at.Segment
	if read {
		first++
	}
	start := Position{Segment: number}
	if s.at == (Position{}) || first == number {
		s.at = start
		return nil
	}
	return s.emit(Entry{Position: start, Damage: &Damage{
		Start: s.at,
		Why: fmt.Sprintf("%s to %s are gone: removed because of their age or the size of the journal, or deleted by hand",
			segmentName(first), segmentName(number-1)),
	}})
}

// segment yields the lines of f from s.at on. final says that f will not grow.
func (s *scan) segment(f *os.File, final bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := s.check(f, info.Size()); err != nil {
		return err
	}
	return s.lines(io.NewSectionReader(f, s.at.Offset, info.Size()-s.at.Offset), final)
}

func (s *scan) lines(in io.Reader, final bool) error {
	for reader := lines.NewReader(in, maxLine); ; {
		line, err := reader.Next()
		if err != nil {
			return err
		}
		if !line.Whole && (line.Length == 0 || !final) {
			s.unfinished = line.Length > 0
			return nil
		}
		if err := s.line(line); err != nil {
			return err
		}
	}
}

// line yields one line. An empty one is what a scan finds when it starts at the
// end of a torn line that was ended later: nothing is lost with it.
func (s *scan) line(line lines.Line) error {
	start := s.at
	end := Position{start.Segment, start.Offset + line.Length}
	text := bytes.TrimSuffix(line.Text, []byte("\n"))
	if len(text) == 0 && !line.TooLong {
		s.at = end
		return nil
	}
	d := decoded{damage: "is too long for a record"}
	if !line.TooLong {
		d = decode(text, s.wanted)
	}
	e := Entry{Record: d.record, Newer: d.newer, Position: end}
	if d.damage != "" {
		e.Damage = &Damage{Start: start, Length: line.Length, Why: d.damage}
	}
	return s.emit(e)
}

// check refuses to start in the middle of a line. That happens when the machine
// lost power: bytes that were read but never synced are gone, and others take
// their place.
func (s *scan) check(f *os.File, size int64) error {
	at := s.at.Offset
	if at > size {
		return fmt.Errorf("%w: %v is after the segment's end at %d", ErrPosition, s.at, size)
	}
	if at == 0 || at == size {
		return nil
	}
	var around [2]byte
	if _, err := f.ReadAt(around[:], at-1); err != nil {
		return err
	}
	if around[0] != '\n' && around[1] != '\n' {
		return fmt.Errorf("%w: %v is in the middle of a line", ErrPosition, s.at)
	}
	return nil
}
