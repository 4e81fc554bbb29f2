package wake

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

const (
	deadDir        = "dead"
	obituarySuffix = ".why.json"
	// maxDead is how many dead letters of an agent are kept.
	maxDead = 100
)

// DeadLetter is a letter that was given up. What is known of it stands beside it, so that nobody
// has to read the letter, which may be damaged.
type DeadLetter struct {
	Path    string    `json:"-"`
	Kind    Kind      `json:"kind,omitempty"`    // empty where the letter was damaged
	Session string    `json:"session,omitempty"` // likewise
	Time    time.Time `json:"timestamp,omitzero"`
	Why     string    `json:"why"`
}

func (l *Letter) obituary(why string) DeadLetter {
	return DeadLetter{Kind: l.Kind, Session: head(l.Session, maxText), Time: l.Time, Why: plain.Line(why)}
}

// bury moves a letter to the dead ones. There its name still tells a repeat of it. It is
// called under the lock.
func (b Box) bury(file letterFile, o DeadLetter) error {
	if err := statefile.Write(b.deadPath(file.stem()+obituarySuffix), o); err != nil {
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
	removeLitter(b.path(deadDir))
}

// deadLetter is what is known of a dead letter.
func (b Box) deadLetter(file letterFile) DeadLetter {
	text, err := readRegular(b.deadPath(file.stem()+obituarySuffix), 1<<20)
	var d DeadLetter
	if err != nil || json.Unmarshal(text, &d) != nil {
		d = DeadLetter{Why: "unknown"}
	}
	d.Path = b.deadPath(file.name())
	if info, err := os.Lstat(d.Path); err == nil && d.Time.IsZero() {
		d.Time = info.ModTime()
	}
	return d
}
