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
	"time"

	"github.com/gofrs/flock"

	"github.com/stopgate/stopgate/internal/atomicfile"
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
	// lockPatience is the longest wait for another hook of the same session,
	// which holds the lock for about a millisecond.
	lockPatience = 2 * time.Second
)

// Blocks is how often each keeper has blocked the turn.
func (c Counter) Blocks(turn Turn) (map[string]int, error) {
	tallies, err := c.load(turn.Session)
	if err != nil {
		return nil, err
	}
	if t := find(tallies, turn); t != nil {
		return t.Blocks, nil
	}
	return nil, nil
}

// Add counts one more block by the keeper.
func (c Counter) Add(turn Turn, keeper string, now time.Time) error {
	return c.change(turn.Session, func(tallies []tally) []tally {
		t := find(tallies, turn)
		if t == nil {
			tallies = append(tallies, tally{Prompt: turn.Prompt, Agent: turn.Agent, Blocks: map[string]int{}})
			t = &tallies[len(tallies)-1]
		}
		t.Blocks[keeper]++
		t.Last = now.UTC()
		if len(tallies) > maxTallies {
			tallies = tallies[len(tallies)-maxTallies:]
		}
		return tallies
	})
}

// Reset forgets a turn.
func (c Counter) Reset(turn Turn) error {
	return c.change(turn.Session, func(tallies []tally) []tally {
		kept := tallies[:0]
		for _, t := range tallies {
			if t.Prompt != turn.Prompt || t.Agent != turn.Agent {
				kept = append(kept, t)
			}
		}
		return kept
	})
}

// Forget removes the counts of a session that has ended, and of sessions that
// nobody has heard of for a month.
func (c Counter) Forget(session string, now time.Time) {
	_ = os.Remove(c.path(session))
	_ = os.Remove(c.path(session) + ".lock")
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > 30*24*time.Hour {
			_ = os.Remove(filepath.Join(c.dir, entry.Name()))
		}
	}
}

func find(tallies []tally, turn Turn) *tally {
	for i := range tallies {
		if tallies[i].Prompt == turn.Prompt && tallies[i].Agent == turn.Agent {
			return &tallies[i]
		}
	}
	return nil
}

func (c Counter) change(session string, edit func([]tally) []tally) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	lock := flock.New(c.path(session)+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, time.Millisecond); err != nil {
		return fmt.Errorf("lock the block counter: %w", err)
	}
	defer lock.Close()
	tallies, err := c.load(session)
	if err != nil {
		return err
	}
	text, err := json.Marshal(edit(tallies))
	if err != nil {
		return err
	}
	return atomicfile.Write(c.path(session), append(text, '\n'), 0o600)
}

func (c Counter) load(session string) ([]tally, error) {
	text, err := os.ReadFile(c.path(session))
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
