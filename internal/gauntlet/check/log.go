package check

import (
	"fmt"
	"io"
	"time"
)

// maxLog bounds what a check may leave on the disk. A command that prints without
// end must not fill it; the end of its output is kept in memory anyway.
const maxLog = 256 << 20

// log writes a check's log: our own lines with the time before them, and the
// output between them as it comes.
type log struct {
	to      io.Writer
	now     func() time.Time
	written int64
	midLine bool // the output did not end its last line
}

func (l *log) say(format string, args ...any) {
	stamp := l.now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	fmt.Fprintf(l.to, "[%s] %s\n", stamp, fmt.Sprintf(format, args...))
}

// Write takes output. It never fails: a disk that is full ends the log, not the
// check.
func (l *log) Write(p []byte) (int, error) {
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

func (l *log) endLine() {
	if l.midLine || l.written > maxLog {
		fmt.Fprintln(l.to)
	}
}
