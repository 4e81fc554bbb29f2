package gauntlet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// The log directory uses the names of its files again, and its archive holds three generations.
// What the journal names must stay what it was, so each gate's log is kept in the state directory
// besides. The name begins with the time, so that the order of names is the order of runs.
const (
	// keptFor is how long a log is kept: as long as the journal keeps its records by default.
	keptFor = 30 * 24 * time.Hour
	// mostKept bounds the logs of one project: thirty stops with ten gates each.
	mostKept = 300
	// maxKept bounds one log. Of a longer one the end is kept, which says what went wrong.
	maxKept = 1 << 20
	// keptTime begins the name of a log.
	keptTime = "20060102T150405.000Z"
)

// keepLogs keeps the logs of gates that ran. One that cannot be kept is worth a line in the
// console log and no more.
func (e *execution) keepLogs(gates []GateResult) {
	dir, now := filepath.Join(kept.Dir(e.StateDir), trust.ProjectKey(e.Project.Root)), e.Now()
	for i := range gates {
		g := &gates[i]
		if g.Log == "" {
			continue
		}
		var err error
		if g.kept, err = keepLog(dir, g.Log, g.Job, now); err != nil {
			e.say("note: cannot keep the log of %s: %v", g.Job, err)
		}
		if err := keepFindings(g, now); err != nil {
			e.say("note: cannot keep what %s found: %v", g.Job, err)
		}
		if g.kept != "" && filepath.Dir(g.Log) == e.spareLogs().Path() && filepath.Dir(g.Log) != e.logs.Path() {
			_ = os.Remove(g.Log) // nothing else would: the kept one stays
			g.Log = g.kept
		}
	}
	pruneKept(dir, now)
}

// keepFindings keeps what was open after a review beside its log. The review files in the log directory
// say that only until the next review.
func keepFindings(g *GateResult, now time.Time) error {
	if g.kept == "" || len(g.Violations) == 0 {
		return nil
	}
	found := review.File{Timestamp: now, Status: review.Fail, Violations: g.Violations}
	return atomicfile.Replace(kept.FindingsOf(g.kept), found.Encode(), 0o600)
}

// keepLog keeps a log and says where. Where the name is taken, as by a job whose name looks the
// same, the next millisecond's is.
func keepLog(dir, log, job string, now time.Time) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for ; ; now = now.Add(time.Millisecond) {
		to := filepath.Join(dir, now.UTC().Format(keptTime)+"-"+logdir.Stem(job)+".log")
		if err := keepAs(to, log); !errors.Is(err, fs.ErrExist) {
			return to, err
		}
	}
}

// keepAs keeps a log under a name that must be free: as a second name of the same file where the
// file system can do that and the file is not too long, else as a copy.
func keepAs(to, log string) error {
	info, err := os.Lstat(log)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Size() <= maxKept {
		err := os.Link(log, to)
		if err == nil {
			return sameFile(to, info)
		}
		if errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return copyEnd(to, log)
}

// sameFile takes a name back that leads to something else than the file that was looked at: a
// gate can put a link or a pipe in the place of its log at any moment.
func sameFile(path string, want fs.FileInfo) error {
	got, err := os.Lstat(path)
	if err == nil && !os.SameFile(got, want) {
		_ = os.Remove(path)
		return fmt.Errorf("%s was replaced while it was copied", want.Name())
	}
	return err
}

// copyEnd copies the end of a log.
func copyEnd(to, log string) error {
	text, left, err := regular.TailNoFollow(log, maxKept)
	if err != nil {
		return err
	}
	if left > 0 {
		text = append(fmt.Appendf(nil, "[… %d bytes before this are left out]\n", left), text...)
	}
	return atomicfile.Replace(to, text, 0o600)
}

// PruneLogs removes the logs of gates that have been kept long enough.
func PruneLogs(stateDir string, now time.Time) {
	projects, _ := os.ReadDir(kept.Dir(stateDir)) // there need not be any
	for _, project := range projects {
		dir := filepath.Join(kept.Dir(stateDir), project.Name())
		pruneKept(dir, now)
		_ = os.Remove(dir) // fails while it holds logs
	}
}

// pruneKept removes the logs of one project that are too old or too many, and what a killed
// process has left of a copy.
func pruneKept(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	oldest := now.Add(-keptFor)
	var logs []string // the oldest first
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".log") {
			logs = append(logs, entry.Name())
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(oldest) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
	for i, name := range logs {
		if i < len(logs)-mostKept || name < oldest.UTC().Format(keptTime) {
			_ = os.Remove(filepath.Join(dir, name))
			_ = os.Remove(kept.FindingsOf(filepath.Join(dir, name))) // most have none
		}
	}
}
