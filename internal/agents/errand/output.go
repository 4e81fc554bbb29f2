package errand

import (
	"bytes"
	"cmp"
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
	maxLine   = 4 << 10 // bytes of a line: people read no more of it
	tailLines = 20
	maxTail   = 4 << 10 // it becomes part of an event
	minLog    = 4 * maxLine
)

// LogLimit is how much of a log the output of one command may take, where its spec does not say.
const LogLimit = 16 << 20

// output writes what a command prints to a log that others write to as well, so that
// each line is one write. It never fails: a log that cannot be written is no reason to
// stop a command.
type output struct {
	spec Spec
	now  func() time.Time
	log  *os.File // nil while it cannot be opened
	room int64    // what the log still takes
	rest *rest    // what comes once that is used up; nil before

	line    []byte // the line that is being printed, as far as it is kept
	more    int64  // how many bytes it has besides
	redrawn bool   // a carriage return came last: what follows takes the line's place
	started bool   // there is a line, even an empty one
	missing int    // lines that the log did not take
	why     error
	tail    []line
}

func newOutput(s Spec, now func() time.Time) *output {
	s.LogLimit = max(cmp.Or(s.LogLimit, LogLimit), minLog)
	return &output{spec: s, now: now, room: s.LogLimit - restSize(s.LogLimit)}
}

// line is one that was printed, as far as it is kept.
type line struct {
	at   time.Time
	raw  []byte
	more int64 // bytes that it had besides
}

// text is the line without what would steer a terminal. One that has lost much says so.
func (l line) text() string {
	text := printable(l.raw)
	switch {
	case l.more >= maxLine:
		text += fmt.Sprintf("… [stopgate: %s of this line left out]", plain.Size(l.more))
	case l.more > 0:
		text += "…"
	}
	return text
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
		o.line, o.more, o.redrawn = o.line[:0], 0, false
	}
	o.started = true
	room := min(maxLine-len(o.line), len(p))
	o.more += int64(len(p) - room)
	o.line = append(o.line, p[:room]...)
}

func (o *output) endLine() {
	l := line{at: o.now(), raw: bytes.Clone(o.line), more: o.more}
	o.line, o.more, o.redrawn, o.started = o.line[:0], 0, false, false
	o.keep(l)
	if o.rest != nil {
		o.rest.add(l)
		return
	}
	o.print(l)
}

// end ends the last line, and gives the tail.
func (o *output) end() string {
	if o.started {
		o.endLine()
	}
	o.printRest()
	o.tellMissing()
	var lines []string
	for _, l := range o.tail {
		lines = append(lines, l.text())
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	if cut := len(text) - maxTail; cut > 0 {
		text = strings.ToValidUTF8(text[cut:], "")
	}
	return text
}

func (o *output) keep(l line) {
	if len(o.tail) == tailLines {
		copy(o.tail, o.tail[1:])
		o.tail = o.tail[:tailLines-1]
	}
	o.tail = append(o.tail, l)
}

// print adds a line to the log. One that has no room there is the first of the rest.
func (o *output) print(l line) {
	text := Line(l.at, o.spec.Label, l.text())
	if o.room < int64(len(text)) {
		o.rest = &rest{most: restSize(o.spec.LogLimit), each: int64(len(Line(l.at, o.spec.Label, "")))}
		o.rest.add(l)
		text = Line(l.at, o.spec.Label, o.rest.announcement(o.spec.LogLimit))
	}
	o.put(text)
}

// put adds to the log what has room there, or counts it as missing.
func (o *output) put(text string) {
	if !o.tellMissing() {
		o.missing++
		return
	}
	if err := o.append(text); err != nil {
		o.missing, o.why = o.missing+1, err
		return
	}
	o.room -= int64(len(text))
}

// tellMissing says in the log what is missing from it, and reports whether it could.
func (o *output) tellMissing() bool {
	if o == nil || o.missing == 0 {
		return true
	}
	err := o.append(Line(o.now(), o.spec.Label, fmt.Sprintf("[stopgate: %d lines of output lost: %v]", o.missing, o.why)))
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
	return Append(o.log, text, OwnerLimit(o.spec.LogLimit))
}

func (o *output) close() {
	if o.log != nil {
		_ = o.log.Close() // every line was written by itself
	}
}

// OwnerLimit is where the log of an owner ends, whose commands may be many, by the limit of one.
func OwnerLimit(log int64) int64 { return 4 * cmp.Or(log, LogLimit) }

// Append adds lines to an owner's log, in one write, since others write to it as well. One
// that has so many bytes says so, and takes no more. A line that the disk took only in part, from us
// or from another, is ended first. The log must be open for reading as well.
func Append(log *os.File, lines string, most int64) error {
	info, err := log.Stat()
	if err != nil {
		return err
	}
	switch size := info.Size(); {
	case size >= most:
		return nil
	case size+int64(len(lines)) >= most:
		lines += fmt.Sprintf("[stopgate: this log has %s; further output is dropped]\n", plain.Size(most))
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

// ParseLine takes a line of an owner's log apart. A line that has no label belongs to the one before.
func ParseLine(line string) (at time.Time, label, text string, labelled bool) {
	stamp, rest, found := strings.Cut(line, " [")
	if !found || len(stamp) > len(time.RFC3339) {
		return at, "", line, false
	}
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return time.Time{}, "", line, false
	}
	label, text, labelled = strings.Cut(rest, "] ")
	if !labelled {
		return time.Time{}, "", line, false
	}
	return at, label, strings.TrimSuffix(text, "\n"), true
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
