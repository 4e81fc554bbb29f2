package daemon

import (
	"bytes"
	"fmt"

	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// maxChanges is how many lines of changes a person is shown.
const maxChanges = 20

// diffstat makes a line for each file of a unified diff that is written to it. Of a diff
// of any size it keeps no more than that.
type diffstat struct {
	lines []string
	files int

	line          []byte // the beginning of the current line
	name          string
	added, gone   int
	binary, hunks bool
}

// maxPrefix is as much of a line as is looked at: a name, at most.
const maxPrefix = 8 << 10

func (d *diffstat) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, more, ended := bytes.Cut(rest, []byte("\n"))
		d.line = append(d.line, line[:min(len(line), maxPrefix-len(d.line))]...)
		if ended {
			d.take(d.line)
			d.line = d.line[:0]
		}
		rest = more
	}
	return len(p), nil
}

// take looks at one line. Within a hunk each has a sign before it, so that no content is
// taken for a header.
func (d *diffstat) take(line []byte) {
	header, is := bytes.CutPrefix(line, []byte("diff --git "))
	switch {
	case is:
		d.flush()
		// Both names are the same: nothing is said to have moved.
		d.name = plain.Line(web.NameIn(string(header)))
	case bytes.HasPrefix(line, []byte("@@ ")):
		d.hunks = true
	case bytes.HasPrefix(line, []byte("Binary files ")) && !d.hunks:
		d.binary = true
	case d.hunks && bytes.HasPrefix(line, []byte("+")):
		d.added++
	case d.hunks && bytes.HasPrefix(line, []byte("-")):
		d.gone++
	}
}

// flush ends the file that is being read. One that was touched and not changed does not
// count.
func (d *diffstat) flush() {
	if d.name != "" && (d.added+d.gone > 0 || d.binary) {
		text := fmt.Sprintf("%s | +%d -%d", d.name, d.added, d.gone)
		if d.binary {
			text = d.name + " | binary"
		}
		d.add(text)
	}
	d.name, d.added, d.gone, d.binary, d.hunks = "", 0, 0, false, false
}

func (d *diffstat) add(line string) {
	d.files++
	if len(d.lines) < maxChanges {
		d.lines = append(d.lines, line)
	}
}

// end are the lines. Where there are too many, the last says so.
func (d *diffstat) end() []string {
	d.flush()
	if more := d.files - maxChanges; more > 0 {
		d.lines[maxChanges-1] = fmt.Sprintf("… and %d more", more+1)
	}
	return d.lines
}
