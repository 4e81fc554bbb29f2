package ledger

import (
	"context"
	"maps"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// History knows which gates have ended by themselves, in any worktree of a repository, with
// which command, and how long they took. A command that is in it can run: that it is not found
// or does not end any more is a failure and no obstacle.
type History struct{ path string }

// Finish is the last time that a gate ended by itself.
type Finish struct {
	At time.Time     `json:"at"`
	In time.Duration `json:"in"`
	// Command names what ended. It is empty in an entry of an older stopgate, which counts for
	// every command: an update takes no failure away.
	Command string `json:"command,omitempty"`
}

// Finishes are the last times by job.
type Finishes map[string]Finish

// Of is the last time that a job ended by itself with this command.
func (f Finishes) Of(job, command string) (last Finish, found bool) {
	last, found = f[job]
	if last.Command != "" && last.Command != command {
		return Finish{}, false
	}
	return last, found
}

// OpenHistory is the history of the project at root. Nothing is read or made yet.
func OpenHistory(stateDir, root string) History {
	return History{filepath.Join(stateDir, "history", trust.RepositoryKey(root)+".json")}
}

// Read is the history by job. One that cannot be read is empty: it is made again by the
// next runs.
func (h History) Read() Finishes {
	known, err := statefile.Read[Finishes](h.path, maxSize)
	if err != nil || known == nil {
		return Finishes{}
	}
	return known
}

// Add takes gates that have ended into the history. It writes nothing where that would
// tell nothing new.
func (h History) Add(ctx context.Context, ended Finishes) error {
	if known := h.Read(); !news(known, ended) {
		return nil
	}
	lock := statefile.Lock{Path: h.path + lockfile.Suffix, Patience: lockPatience, What: "the history of gates"}
	read := func() (Finishes, error) { return h.Read(), nil }
	return statefile.Update(ctx, h.path, lock, read, func(known *Finishes) error {
		maps.Copy(*known, ended)
		return nil
	})
}

// news reports whether gates that have ended are not known with their command, or took another
// time: a sync is dear beside a gate of some milliseconds.
func news(known, ended Finishes) bool {
	for job, now := range ended {
		before, found := known[job]
		if !found || now.Command != before.Command || now.In > 2*before.In+time.Second || before.In > 2*now.In+time.Second {
			return true
		}
	}
	return false
}
