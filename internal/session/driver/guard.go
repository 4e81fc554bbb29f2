package driver

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// guard has the tmux servers of the queues start another watcher in a while: this one may be
// killed, together with all other processes of ours. A watcher that finds another at work ends at
// once.
func (w *watcher) guard(ctx context.Context, queues []queue.Listed) {
	if len(w.Watcher) == 0 || w.Now().Sub(w.guarded) < w.pace.Guard*2/3 {
		return
	}
	w.guarded = w.Now()
	sockets := map[string]bool{}
	for _, l := range queues {
		if l.Queue.Stopgate != nil && l.Queue.Stopgate.Place != nil {
			sockets[l.Queue.Stopgate.Place.Socket] = true
		}
	}
	for socket := range sockets {
		ctx, cancel := context.WithTimeout(ctx, hookPatience)
		// Without it, which older versions of tmux cannot do, the next hook starts a watcher.
		_ = terminal.Server{Socket: socket, Environ: w.Environ}.RunLater(ctx, w.pace.Guard, w.kept(), w.Watcher)
		cancel()
	}
}

// kept are those variables of ours that say where our files and programs are. No others go into
// the command line of a shell, which everybody can read.
func (w *watcher) kept() (kept []string) {
	for _, name := range []string{"HOME", "PATH", "STOPGATE_STATE_DIR", "OJ_STATE_DIR", "XDG_STATE_HOME", "TMPDIR", "TMUX_TMPDIR"} {
		if value := environ.Get(w.Environ, name); value != "" && !strings.Contains(value, "\n") {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}
