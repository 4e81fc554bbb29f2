// Package ledger keeps what outlives a run of the gates and must not depend on
// its logs: which gates are open failures, how often in a row runs failed, and
// what has been proven. There is one ledger per worktree, in the state
// directory.
package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

const (
	fileName = "ledger.json"
	// lockPatience is the longest wait for other processes, each of which holds
	// the lock for the milliseconds of a sync.
	lockPatience = 10 * time.Second
	// maxSize is far more than failures and proofs take. What is larger is not
	// ours.
	maxSize = 16 << 20
	// maxDamaged is how many damaged files are kept for whoever looks into it.
	maxDamaged = 9
)

// Ledger is the ledger of one worktree.
type Ledger struct{ dir, root string }

// Open is the ledger of the project at root. Nothing is read or made yet.
func Open(stateDir, root string) *Ledger {
	return &Ledger{filepath.Join(stateDir, "ledger", trust.ProjectKey(root)), root}
}

// IndexFile is where the worktree's private index lies, of package change.
func (l *Ledger) IndexFile() string { return filepath.Join(l.dir, "index") }

func (l *Ledger) path() string { return filepath.Join(l.dir, fileName) }

// Read reads the ledger, which may be changed meanwhile. One that is not there is
// empty. One that is damaged, or of another version, is an empty state that says
// so: what it held is unknown, so every gate has to run.
func (l *Ledger) Read() (State, error) {
	state, _, err := l.read()
	return state, err
}

// read also reports whether the file is sound, as one is that is not there.
func (l *Ledger) read() (state State, sound bool, err error) {
	text, err := regular.Head(l.path(), maxSize+1)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Root: l.root}, true, nil
	}
	if err != nil {
		return State{}, false, fmt.Errorf("read the ledger: %w", err)
	}
	if state, sound = decode(text); !sound {
		state = State{Root: l.root, Damaged: true}
	}
	return state, sound, nil
}

// Update has change change the state, and writes it if that made a difference.
// Nobody else writes in between, and the new state is durable when Update
// returns nil. After any error the ledger is as it was.
func (l *Ledger) Update(ctx context.Context, change func(*State) error) error {
	var sound bool
	var before []byte
	read := func() (state State, err error) {
		if state, sound, err = l.read(); err == nil {
			before, err = encode(state)
		}
		return state, err
	}

	lock := statefile.Lock{Path: filepath.Join(l.dir, "lock"), Patience: lockPatience, What: "the ledger"}
	return statefile.Change(ctx, lock, read, change, func(state State) error {
		after, err := encode(state)
		if err != nil || bytes.Equal(before, after) {
			return err
		}
		if !sound {
			if err := l.keepDamaged(); err != nil {
				return fmt.Errorf("move the damaged ledger aside: %w", err)
			}
		}
		if err := atomicfile.Write(l.path(), after, 0o600); err != nil {
			return fmt.Errorf("write the ledger: %w", err)
		}
		return nil
	})
}

// keepDamaged gives a damaged file a second name before it is replaced. It keeps
// its own until then: between two names nobody would know that there was one.
func (l *Ledger) keepDamaged() error {
	for n := 1; n <= maxDamaged; n++ {
		err := os.Link(l.path(), fmt.Sprintf("%s.damaged-%d", l.path(), n))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
