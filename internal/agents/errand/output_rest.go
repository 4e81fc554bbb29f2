package errand

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// rest is what a command prints when its log is full. The end of it, which often says what went
// wrong, is kept in memory, and written when the command has ended.
type rest struct {
	lines []line
	size  int64 // of those lines
	most  int64
	each  int64 // what stands before a line in the log

	out struct { // what was left out
		lines int
		bytes int64
	}
}

// restSize is how much of a log is for the end of an output. It is memory of each process that
// runs such a command.
func restSize(limit int64) int64 { return min(limit/4, 1<<20) }

// announcement is for those who follow the log.
func (r *rest) announcement(limit int64) string {
	return fmt.Sprintf("[stopgate: the output has reached the limit of %s (retention.log_size); its last %s is written when the command ends]",
		plain.Size(limit), plain.Size(r.most))
}

// add keeps a line, and forgets the oldest ones for it.
func (r *rest) add(l line) {
	r.lines = append(r.lines, l)
	r.size += r.each + l.size()
	for r.size > r.most && len(r.lines) > 1 {
		first := r.lines[0]
		r.lines[0] = line{} // its bytes are not kept
		r.lines = r.lines[1:]
		r.size -= r.each + first.size()
		r.out.lines++
		r.out.bytes += first.size() + first.more
	}
}

// size is how long a line is, as far as it is kept.
func (l line) size() int64 { return int64(len(l.raw)) + 1 }

// printRest writes what was kept of the rest, behind how much was left out.
func (o *output) printRest() {
	if o.rest == nil {
		return
	}
	r := o.rest
	o.rest = nil
	if r.out.lines > 0 {
		text := fmt.Sprintf("[stopgate: %s of output left out here: %s]", plain.Size(r.out.bytes), plain.Count(r.out.lines, "line"))
		o.put(Line(r.lines[0].at, o.spec.Label, text))
	}
	for _, l := range r.lines {
		o.put(Line(l.at, o.spec.Label, l.text()))
	}
}
