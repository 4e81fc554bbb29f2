package stop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Turn is what blocks are counted for: one prompt of one agent.
type Turn struct {
	Session string
	Prompt  string
	Agent   string // empty for the main agent
}

// Counter keeps, on disk, how often each keeper blocked each turn. It is what
// ends a loop, so a block counts only when it is written down.
type Counter struct{ dir string }

// NewCounter keeps the counts below the state directory.
func NewCounter(stateDir string) Counter { return Counter{filepath.Join(stateDir, "blocks")} }

// tally is the count of one turn.
type tally struct {
	Prompt string         `json:"prompt"`
	Agent  string         `json:"agent,omitempty"`
	Blocks map[string]int `json:"blocks"` // by keeper
	Last   time.Time      `json:"last"`
}

const (
	// maxTallies bounds a session's file. Turns of one session overlap only by
	// background work, so the newest few are the ones that still matter.
	maxTallies = 64
	// lockPatience is the longest wait for other hooks, each of which holds the
	// lock for the milliseconds of a sync.
	lockPatience = 5 * time.Second
	lockName     = "lock"
	// maxKept is far more than any file has that a stop leaves for the next one.
	maxKept = 16 << 20
)

// Claim counts one more block of the turn by the keeper, unless refuse gives a
// reason against it, which it returns. refuse sees how often each keeper has
// blocked the turn so far; nobody else counts in between. A fresh turn starts at
// none.
func (c Counter) Claim(turn Turn, fresh bool, keeper string, now time.Time, refuse func(blocks map[string]int) string) (refusal string, err error) {
	unlock, err := c.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	tallies, err := c.load(turn.Session)
	if err != nil {
		return "", err
	}
	t := tally{Prompt: turn.Prompt, Agent: turn.Agent, Blocks: map[string]int{}}
	if i := slices.IndexFunc(tallies, func(t tally) bool { return t.of(turn) }); i >= 0 {
		if !fresh {
			t = tallies[i]
		}
		tallies = slices.Delete(tallies, i, i+1)
	}
	if refusal := refuse(t.Blocks); refusal != "" {
		return refusal, nil
	}
	t.Blocks[keeper]++
	t.Last = now.UTC()
	tallies = append(tallies, t) // the newest are at the end
	return "", c.store(turn.Session, tallies[max(0, len(tallies)-maxTallies):])
}

// Blocks is how often each keeper has blocked the turn.
func (c Counter) Blocks(turn Turn) (map[string]int, error) {
	tallies, err := c.load(turn.Session)
	for _, t := range tallies {
		if t.of(turn) {
			return t.Blocks, err
		}
	}
	return nil, err
}

// Forget removes the counts of a session that has ended, and of sessions that
// nobody has heard of for a month.
func (c Counter) Forget(session string, now time.Time) {
	_ = os.Remove(c.path(session))
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.Name() == lockName {
			continue // a lock that is removed no longer locks
		}
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > 30*24*time.Hour {
			_ = os.Remove(filepath.Join(c.dir, entry.Name()))
		}
	}
}

func (t tally) of(turn Turn) bool { return t.Prompt == turn.Prompt && t.Agent == turn.Agent }

func (c Counter) lock() (unlock func(), err error) {
	unlock, err = lockfile.Acquire(context.Background(), filepath.Join(c.dir, lockName), lockPatience)
	if err != nil {
		return nil, fmt.Errorf("lock the block counter: %w", err)
	}
	return unlock, nil
}

func (c Counter) store(session string, tallies []tally) error {
	text, err := json.Marshal(tallies)
	if err != nil {
		return err
	}
	return atomicfile.Write(c.path(session), append(text, '\n'), 0o600)
}

func (c Counter) load(session string) ([]tally, error) {
	text, err := regular.Read(c.path(session), maxKept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tallies []tally
	if json.Unmarshal(text, &tallies) != nil {
		return nil, nil // damaged from outside: the next block writes it anew
	}
	for i := range tallies {
		if tallies[i].Blocks == nil {
			tallies[i].Blocks = map[string]int{}
		}
	}
	return tallies, nil
}

// path is the session's file. The id comes from outside, so its hash is the
// name.
func (c Counter) path(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".json")
}
