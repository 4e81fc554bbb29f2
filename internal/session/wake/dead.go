package wake

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	deadDir        = "dead"
	obituarySuffix = ".why.json"
	// maxDead is how many dead letters of an agent are kept.
	maxDead = 100
)

// obituary stands beside a dead letter. It repeats what `status` shows of it, so that
// nobody has to read the letter, which may be damaged.
type obituary struct {
	Kind    Kind      `json:"kind,omitempty"`
	Session string    `json:"session,omitempty"`
	Time    time.Time `json:"timestamp,omitzero"`
	Why     string    `json:"why"`
}

func (l *Letter) obituary(why string) obituary {
	return obituary{Kind: l.Kind, Session: head(l.Session, maxText), Time: l.Time, Why: plain.Line(why)}
}

// bury moves a letter to the dead ones. There its name still tells a repeat of it. It is
// called under the lock.
func (b Box) bury(file letterFile, o obituary) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(b.deadPath(file.stem()+obituarySuffix), text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(b.path(file.name()), b.deadPath(file.name())); err != nil {
		return err
	}
	b.pruneDead()
	return nil
}

func (b Box) deadPath(name string) string { return filepath.Join(b.dir, deadDir, name) }

// dead are the letters that were given up, the oldest first.
func (b Box) dead() []letterFile {
	entries, _ := disk.List(b.path(deadDir)) // nobody waits for these
	return lettersOf(entries)
}

// pruneDead removes the oldest dead letters when there are too many, and what a killed
// process left among them.
func (b Box) pruneDead() {
	files := b.dead()
	for _, file := range files[:max(len(files)-maxDead, 0)] {
		_ = os.RemoveAll(b.deadPath(file.name())) // it may be a directory
		_ = os.Remove(b.deadPath(file.stem() + obituarySuffix))
	}
	litter, _ := filepath.Glob(b.deadPath(litterPrefix + "*"))
	for _, path := range litter {
		_ = os.Remove(path)
	}
}

// deadLetter is what is known of a dead letter.
func (b Box) deadLetter(file letterFile) DeadLetter {
	d := DeadLetter{Path: b.deadPath(file.name()), Why: "unknown"}
	text, err := readRegular(b.deadPath(file.stem()+obituarySuffix), 1<<20)
	var o obituary
	if err == nil && json.Unmarshal(text, &o) == nil {
		d.Kind, d.Session, d.Time, d.Why = o.Kind, o.Session, o.Time, o.Why
	}
	if info, err := os.Lstat(d.Path); err == nil && d.Time.IsZero() {
		d.Time = info.ModTime()
	}
	return d
}
