package gauntlet

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Running is a gate that runs now.
type Running struct {
	Job   string    `json:"job"`
	Since time.Time `json:"since"`
}

// Now lists the gates of a project that run now, those that have run longest first.
func Now(stateDir, root, logDir string) []Running {
	owner, held, err := logdir.At(logPath(root, logDir)).Held()
	if err != nil || !held {
		return nil
	}
	board, err := statefile.Read[*board](runningFile(stateDir, root), 1<<20)
	if err != nil || board == nil || board.Run != owner.Mark() {
		return nil // of another run, which was killed
	}
	slices.SortFunc(board.Gates, func(a, b Running) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Job, b.Job))
	})
	return board.Gates
}

// board is what a run shows of its gates while they run. It is worth no error and no sync:
// people look at it, and nothing is decided by it.
type board struct {
	Run   string    `json:"run"` // mark of the lock's owner
	Gates []Running `json:"gates"`

	mu      sync.Mutex
	file    string      // empty before the run has the lock, and when it is over
	pending *time.Timer // writes what has changed
}

// boardDelay is how late the board may be. To replace a file takes longer than a quick gate,
// and a person does not look at those.
const boardDelay = 100 * time.Millisecond

func runningFile(stateDir, root string) string {
	return filepath.Join(stateDir, "running", trust.ProjectKey(root)+".json")
}

func (b *board) start(job *Job, now time.Time) {
	b.change(func() { b.Gates = append(b.Gates, Running{job.ID(), now.UTC()}) })
}

func (b *board) end(job *Job) {
	b.change(func() {
		b.Gates = slices.DeleteFunc(b.Gates, func(r Running) bool { return r.Job == job.ID() })
	})
}

func (b *board) change(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	if b.pending == nil {
		b.pending = time.AfterFunc(boardDelay, b.write)
	}
}

func (b *board) write() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = nil
	if b.file == "" {
		return
	}
	if text, err := json.Marshal(b); err == nil {
		_ = atomicfile.Replace(b.file, text, 0o600)
	}
}

// close takes the board away.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = os.Remove(b.file)
	b.file = ""
	if b.pending != nil {
		b.pending.Stop()
	}
}
