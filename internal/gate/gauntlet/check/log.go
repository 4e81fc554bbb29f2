package check

import (
	"fmt"
	"io"
	"time"
)

// maxLog bounds what a command may leave on the disk. A command that prints without
// end must not fill it; the end of its output is kept in memory anyway.
const maxLog = 256 << 20

// Log writes what a command prints, up to a limit. It never fails: a disk that is
// full ends the log, not the command.
type Log struct {
	to      io.Writer
	written int64
	midLine bool // the output did not end its last line
}

// NewLog is a log that goes to a file.
func NewLog(to io.Writer) *Log { return &Log{to: to} }

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	before := l.written
	l.written += int64(len(p))
	switch {
	case l.written <= maxLog:
		_, _ = l.to.Write(p)
	case before <= maxLog:
		_, _ = l.to.Write(p[:maxLog-before])
		fmt.Fprintf(l.to, "\n[… more than %d MiB; the rest is left out]", maxLog>>20)
	}
	l.midLine = p[len(p)-1] != '\n'
	return len(p), nil
}

func (l *Log) endLine() {
	if l.midLine || l.written > maxLog {
		fmt.Fprintln(l.to)
	}
}

// say writes a line of our own, with the time before it.
func (l *Log) say(now time.Time, format string, args ...any) {
	stamp := now.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	fmt.Fprintf(l.to, "[%s] %s\n", stamp, fmt.Sprintf(format, args...))
}
