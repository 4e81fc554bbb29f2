package errand

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// The bounds of what is kept of a command's output.
const (
	maxLine   = 4 << 10  // bytes of a line: nobody reads more of it
	maxLog    = 16 << 20 // of one command
	tailLines = 20
	maxTail   = 4 << 10 // it becomes part of an event
)

// output writes what a command prints to a log that others write to as well, so that
// each line is one write. It never fails: a log that cannot be written is no reason to
// stop a command.
type output struct {
	spec Spec
	now  func() time.Time
	log  *os.File // nil while it cannot be opened
	room int      // what the log still takes

	line    []byte // the line that is being printed, as far as it is kept
	long    bool   // it has more
	redrawn bool   // a carriage return came last: what follows takes the line's place
	started bool   // there is a line, even an empty one
	missing int    // lines that the log did not take
	why     error
	tail    []string
}

func newOutput(s Spec, now func() time.Time) *output {
	return &output{spec: s, now: now, room: maxLog}
}

func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		at := bytes.IndexAny(p, "\r\n")
		if at < 0 {
			o.add(p)
			break
		}
		o.add(p[:at])
		if p[at] == '\r' {
			o.redrawn, o.started = true, true
		} else {
			o.endLine()
		}
		p = p[at+1:]
	}
	return n, nil
}

// add adds to the line.
func (o *output) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if o.redrawn {
		o.line, o.long, o.redrawn = o.line[:0], false, false
	}
	o.started = true
	room := maxLine - len(o.line)
	o.long = o.long || len(p) > room
	o.line = append(o.line, p[:min(len(p), room)]...)
}

func (o *output) endLine() {
	text := printable(o.line)
	if o.long {
		text += "…"
	}
	o.line, o.long, o.redrawn, o.started = o.line[:0], false, false, false
	o.keep(text)
	o.print(text)
}

// end ends the last line, and gives the tail.
func (o *output) end() string {
	if o.started {
		o.endLine()
	}
	o.tellMissing()
	text := strings.TrimSpace(strings.Join(o.tail, "\n"))
	if cut := len(text) - maxTail; cut > 0 {
		text = strings.ToValidUTF8(text[cut:], "")
	}
	return text
}

func (o *output) keep(text string) {
	if len(o.tail) == tailLines {
		copy(o.tail, o.tail[1:])
		o.tail = o.tail[:tailLines-1]
	}
	o.tail = append(o.tail, text)
}

// print adds a line to the log.
func (o *output) print(text string) {
	if o.room <= 0 {
		return
	}
	spent := len(text) + 1
	if o.room <= spent {
		text = fmt.Sprintf("[stopgate: more than %d MiB of output; the rest is not kept]", maxLog>>20)
	}
	if !o.tellMissing() {
		o.missing++
		return
	}
	if err := o.append(text); err != nil {
		o.missing, o.why = o.missing+1, err
		return
	}
	o.room -= spent
}

// tellMissing says in the log what is missing from it, and reports whether it could.
func (o *output) tellMissing() bool {
	if o == nil || o.missing == 0 {
		return true
	}
	err := o.append(fmt.Sprintf("[stopgate: output lost here, lines: %d, because: %v]", o.missing, o.why))
	if err == nil {
		o.missing = 0
	}
	return err == nil
}

func (o *output) append(text string) error {
	if o.log == nil {
		if err := os.MkdirAll(filepath.Dir(o.spec.Log), 0o700); err != nil {
			return err
		}
		log, err := os.OpenFile(o.spec.Log, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		o.log = log
	}
	return Append(o.log, Line(o.now(), o.spec.Label, text))
}

func (o *output) close() {
	if o.log != nil {
		_ = o.log.Close() // every line was written by itself
	}
}

// maxOwner is where the log of an owner ends, whose commands may be many.
const maxOwner = 64 << 20

// Append adds lines to an owner's log, in one write, since others write to it as well. One
// that is full says so, and takes no more. A line of which the disk took only a part, from
// us or from another, is ended first. The log must be open for reading as well.
func Append(log *os.File, lines string) error {
	info, err := log.Stat()
	if err != nil {
		return err
	}
	switch size := info.Size(); {
	case size >= maxOwner:
		return nil
	case size+int64(len(lines)) >= maxOwner:
		lines += fmt.Sprintf("[stopgate: this log has %d MiB; nothing more is kept]\n", maxOwner>>20)
	}
	if torn(log, info.Size()) {
		lines = "\n" + lines
	}
	_, err = log.WriteString(lines)
	return err
}

// torn reports whether the last line of a log is not whole.
func torn(log *os.File, size int64) bool {
	var last [1]byte
	n, err := log.ReadAt(last[:], size-1)
	return size > 0 && n == 1 && err == nil && last[0] != '\n'
}

// Line is a line of an owner's log.
func Line(at time.Time, label, text string) string {
	return at.UTC().Format(time.RFC3339) + " [" + label + "] " + text + "\n"
}

// printable leaves out of a line what would steer the terminal of whoever reads it.
func printable(line []byte) string {
	var b strings.Builder
	for text := string(line); text != ""; {
		if rest, ok := plain.CutEscape(text); ok {
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		}
	}
	return strings.TrimRight(b.String(), " \t")
}
