package stop

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Turn is what blocks are counted for: one prompt of one agent.
type Turn struct {
	Session  string
	Prompt   string
	Subagent string // empty for the main agent
}

// Counter keeps, on disk, how often each keeper blocked each turn. It is what
// ends a loop, so a block counts only when it is written down.
type Counter struct{ dir string }

// NewCounter keeps the counts below the state directory.
func NewCounter(stateDir string) Counter { return Counter{filepath.Join(stateDir, "blocks")} }

// tally is the count of one turn.
type tally struct {
	Prompt   string         `json:"prompt"`
	Subagent string         `json:"agent,omitempty"`
	Blocks   map[string]int `json:"blocks"` // by keeper
	Last     time.Time      `json:"last"`
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
	lock := statefile.Lock{Path: filepath.Join(c.dir, lockName), Patience: lockPatience, What: "the block counter"}
	read := func() ([]tally, error) { return c.load(turn.Session) }
	err = statefile.Update(context.Background(), c.path(turn.Session), lock, read, func(tallies *[]tally) error {
		t := tally{Prompt: turn.Prompt, Subagent: turn.Subagent, Blocks: map[string]int{}}
		if i := slices.IndexFunc(*tallies, func(t tally) bool { return t.of(turn) }); i >= 0 {
			if !fresh {
				t = (*tallies)[i]
			}
			*tallies = slices.Delete(*tallies, i, i+1)
		}
		if refusal = refuse(t.Blocks); refusal != "" {
			return statefile.ErrKeep
		}

		t.Blocks[keeper]++
		t.Last = now.UTC()
		all := append(*tallies, t) // the newest are at the end
		*tallies = all[max(0, len(all)-maxTallies):]
		return nil
	})
	return refusal, err
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
	isLock := func(name string) bool { return name == lockName } // one that is removed no longer locks
	disk.Prune(c.dir, now.Add(-30*24*time.Hour), isLock)
}

func (t tally) of(turn Turn) bool { return t.Prompt == turn.Prompt && t.Subagent == turn.Subagent }

// load takes a file that was damaged from outside for none: the next block writes it anew.
func (c Counter) load(session string) ([]tally, error) {
	tallies, err := statefile.Read[[]tally](c.path(session), maxKept)
	if err != nil && !statefile.IsDamaged(err) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
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
	return filepath.Join(c.dir, digest.Hex(session)[:32]+".json")
}
