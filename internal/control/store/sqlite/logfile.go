package sqlite

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// logFile is the write-ahead log, as far as the writer cares for it itself: it makes each
// commit durable. SQLite would call fsync, which also writes down when the file was
// changed and costs twice as much as fdatasync here.
type logFile struct {
	path     string
	datasync func(*os.File) error // tests and benchmarks have their own
	file     *os.File             // opened once: it stays the same while the database is open
	failed   error                // the first sync that failed
}

// sync makes what is committed durable. After a failure the kernel takes for written what
// is not, so that no later sync can be believed: nothing is appended any more until the
// database is opened again.
func (l *logFile) sync() (err error) {
	if l.file == nil {
		if l.file, err = os.OpenFile(l.path, os.O_RDWR, 0); err == nil {
			err = atomicfile.SyncDir(filepath.Dir(l.path)) // it may have been made just now
		}
	}
	if err == nil {
		err = l.datasync(l.file)
	}
	if err != nil {
		l.failed = fmt.Errorf("the log could not be synced; restart to see what is there: %w", err)
	}
	return l.failed
}

func (l *logFile) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}
