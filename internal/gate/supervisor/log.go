package supervisor

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// maxLog is the size at which the log becomes the old log, of which there is
	// one.
	maxLog = 4 << 20
	// maxValue bounds a value in the log, in bytes. It is a summary.
	maxValue = 4 << 10

	oldLogSuffix = ".1"
	logLockName  = ".hook-invocation.lock"
)

// Log appends one line to the log: the time, the event, and keys with values.
// Whatever these hold, it stays one line. The supervisor can work without a log,
// so the error is for telling, not for giving up.
func (d Dir) Log(now time.Time, event string, pairs ...any) error {
	file, err := d.openLog()
	if err != nil {
		return fmt.Errorf("write the supervisor's log: %w", err)
	}
	_, err = file.WriteString(logLine(now, event, pairs))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write the supervisor's log: %w", err)
	}
	return nil
}

func logLine(now time.Time, event string, pairs []any) string {
	var b strings.Builder
	b.WriteString(now.UTC().Format(stampLayout))
	b.WriteByte(' ')
	b.WriteString(plain.Line(event))
	for i, value := range pairs {
		separator := byte('=')
		if i%2 == 0 {
			separator = ' '
		}
		b.WriteByte(separator)
		b.WriteString(logValue(fmt.Sprint(value)))
	}
	b.WriteByte('\n')
	return b.String()
}

// logValue is a value in quotes unless it is clear without.
func logValue(text string) string {
	if len(text) > maxValue {
		text = bounded(text, maxValue) + "…"
	}
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unclear) {
		return strconv.Quote(text)
	}
	return text
}

func unclear(r rune) bool { return r == '"' || r == ' ' || !unicode.IsPrint(r) }

// openLog opens the log for a line. A process that opened it just before another
// one rotated writes its line into the old log.
func (d Dir) openLog() (*os.File, error) {
	file, err := d.openAppend(d.LogFile())
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || info.Size() < maxLog {
		return file, nil
	}
	_ = file.Close() // or Windows could not rename it
	d.rotate()
	return d.openAppend(d.LogFile())
}

// rotate makes the log the old log. Of two that want to, only one does: the
// second would replace the old log by the few lines of the new. Where it fails
// the log goes on growing.
func (d Dir) rotate() {
	unlock, err := lockfile.Acquire(context.Background(), d.join(logLockName), 0)
	if err != nil {
		return
	}
	defer unlock()
	if info, err := os.Lstat(d.LogFile()); err == nil && info.Size() >= maxLog {
		_ = os.Rename(d.LogFile(), d.LogFile()+oldLogSuffix)
	}
}
