package transcript

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/lines"
)

// Part is some of a conversation, by places in its transcript. What is before From and what is behind
// Next is in other parts.
type Part struct {
	Events []Placed
	From   int64
	Next   int64 // the end of the last whole line that was read: what comes later begins there
	Size   int64 // of the transcript
}

// Placed is an event with the place of its line.
type Placed struct {
	Event
	At int64
}

const (
	// beforehand is how much is read before a part: a result there is an answer only to who knows
	// that its call was a question.
	beforehand = 256 << 10
	// window is how much is read at first to find the events before a place. Then it is twice as
	// much, and so on.
	window = 512 << 10
	// mostRead bounds what is read for one part, but for a line that is longer.
	mostRead = 16 << 20
)

// After is the part that begins at a place, or at the first line behind it, with so many events or a
// few more: those of one line stay together.
func After(path string, at int64, most int) (Part, error) {
	return part(path, func(file *os.File, size int64) (Part, error) {
		from, err := lineAt(file, min(max(at, 0), size))
		if err != nil {
			return Part{}, err
		}
		p := Part{From: from, Next: from, Size: size}
		err = p.read(file, func() bool { return len(p.Events) < most && p.Next-p.From < mostRead })
		return p, err
	})
}

// Before is the part that ends at a place, or for 0 at the end, with so many events or a few more. It
// may have fewer, or none, although there are some before it.
func Before(path string, at int64, most int) (Part, error) {
	return part(path, func(file *os.File, size int64) (Part, error) {
		end := size
		if at > 0 {
			end = min(at, size)
		}
		for reach := int64(window); ; reach *= 2 {
			from, err := lineAt(file, max(end-reach, 0))
			if err != nil {
				return Part{}, err
			}
			p := Part{From: from, Next: from, Size: size}
			if from >= end && from > 0 { // it is in a line that is longer
				if reach < 2*MaxLine {
					continue
				}
				return Part{From: max(end-reach, 0), Next: end, Size: size}, nil
			}
			err = p.read(file, func() bool { return p.Next < end })
			if err != nil || len(p.Events) >= most || from == 0 || reach >= mostRead {
				return p.last(most), err
			}
		}
	})
}

func part(path string, read func(file *os.File, size int64) (Part, error)) (Part, error) {
	file, err := Open(path)
	if err != nil {
		return Part{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Part{}, fmt.Errorf("read the transcript: %w", err)
	}
	p, err := read(file, info.Size())
	if err != nil {
		return Part{}, fmt.Errorf("read the transcript: %w", err)
	}
	return p, nil
}

// lineAt is where the first line begins that does so at a place or behind it.
func lineAt(file *os.File, at int64) (int64, error) {
	begins, err := lines.EndsAt(file, at)
	if err != nil || begins {
		return at, err
	}
	line, err := lines.NewReader(section(file, at), MaxLine).Next()
	return at + line.Length, err
}

func section(file *os.File, from int64) io.Reader { return io.NewSectionReader(file, from, 1<<62) }

// read adds the events of whole lines as long as more are wanted.
func (p *Part) read(file *os.File, more func() bool) error {
	at, err := lineAt(file, max(p.From-beforehand, 0))
	if err != nil {
		return err
	}
	var c Conversation
	for reader := lines.NewReader(section(file, at), MaxLine); at < p.From || more(); {
		line, err := reader.Next()
		if err != nil || !line.Whole {
			return err
		}
		var events []Event
		if !line.TooLong {
			events = c.Line(line.Text)
		}
		if at >= p.From {
			for _, e := range events {
				p.Events = append(p.Events, Placed{e, at})
			}
			p.Next = at + line.Length
		}
		at += line.Length
	}
	return nil
}

// last is the end of a part, with so many events or a few more.
func (p Part) last(most int) Part {
	if len(p.Events) <= most {
		return p
	}
	p.From = p.Events[len(p.Events)-most].At
	p.Events = slices.DeleteFunc(p.Events, func(e Placed) bool { return e.At < p.From })
	return p
}
