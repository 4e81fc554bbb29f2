package statusline

import (
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Place is where the line is asked for.
type Place struct {
	StateDir string
	Environ  []string
	Now      func() time.Time
}

// Look gathers the view. What cannot be read is left out.
func (p *Place) Look(in hook.StatusLine) View {
	v := View{USD: event.Cost{USD: in.Cost.USD}.Plus(event.Cost{}).USD}
	root := p.project(in)
	if r, found := stop.Last(p.StateDir, in.SessionID); found {
		v.Stop = stops.Of(r)
		if root == "" {
			root = r.Project
		}
	}
	if v.Project = root != ""; v.Project {
		if recess, on := stop.InRecess(p.StateDir, root, p.Now()); on {
			v.Off = recess.Until
		}
		if state, err := ledger.Open(p.StateDir, root).Read(); err == nil {
			v.Open = len(state.Open)
		}
	}
	v.Done, v.Queued = p.queue()
	v.Reviews = p.reviews(in.SessionID)
	return v
}

// project is the root of the project that the session works in; empty where there is none.
func (p *Place) project(in hook.StatusLine) string {
	root, _ := paths.ProjectRoot(paths.HasConfig, in.Workspace.Current, in.CWD, in.Workspace.Project)
	return root
}

// queue is how far the queue of the session's terminal is.
func (p *Place) queue() (done, all int) {
	const most = 1 << 20 // a longer file takes too long to read
	pane, inTmux := terminal.FromEnviron(p.Environ)
	if !inTmux {
		return 0, 0
	}
	instance, known := presence.NewBook(p.StateDir).Load(pane.Server.Socket, pane.PID, pane.ID)
	if !known {
		return 0, 0
	}
	store := queue.NewStore(p.StateDir)
	if info, err := os.Lstat(store.Path(instance.Session)); err != nil || info.Size() > most {
		return 0, 0
	}
	q, err := store.Load(instance.Session)
	if err != nil {
		return 0, 0
	}
	return q.Completed(), len(q.Commands)
}

// reviews is what the supervisor's reviews of the session cost.
func (p *Place) reviews(session string) float64 {
	dir, err := paths.SupervisorDir(func(name string) string { return environ.Get(p.Environ, name) })
	if err != nil {
		return 0
	}
	state, err := supervisor.At(dir).Read(session)
	if err != nil {
		return 0
	}
	return state.Spent.Plus(event.Cost{}).USD
}
