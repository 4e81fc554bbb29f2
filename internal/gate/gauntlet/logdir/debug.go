package logdir

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// DebugLog is a log of runs for somebody who looks for a fault. The zero value
// logs nothing. What cannot be written is left out: no run fails for its sake.
type DebugLog struct {
	path    string
	maxSize int64
}

// DebugLog is the directory's debug log. When it has reached maxSize bytes it
// becomes .debug.log.1 and a new one is begun.
func (d Dir) DebugLog(maxSize int64) DebugLog { return DebugLog{d.file(debugName), maxSize} }

// debugName is the debug log; an older one has .1 at its end.
const debugName = ".debug.log"

// Printf appends a line.
func (l DebugLog) Printf(now time.Time, format string, args ...any) {
	if l.path == "" {
		return
	}
	file, err := l.open()
	if err != nil {
		return
	}
	defer file.Close()
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", `\n`)
	fmt.Fprintf(file, "[%s] %s\n", now.UTC().Format("2006-01-02T15:04:05.000Z"), text)
}

func (l DebugLog) open() (*os.File, error) {
	file, err := appendFile(l.path)
	if err != nil || !l.full(file) {
		return file, err
	}
	defer file.Close()
	l.rotate(file)
	return appendFile(l.path)
}

func (l DebugLog) full(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Size() >= l.maxSize
}

// rotate sets the log aside, once: of several processes that find it full, only
// the one that has its lock, and finds it in its place, does.
func (l DebugLog) rotate(file *os.File) {
	if mine, err := tryLock(file, true); err != nil || !mine {
		return
	}
	open, err := file.Stat()
	if err != nil {
		return
	}
	if there, err := os.Lstat(l.path); err == nil && os.SameFile(open, there) {
		_ = os.Rename(l.path, l.path+".1")
	}
}
