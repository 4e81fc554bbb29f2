package hub

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Ended is why a hub ended, where it could not run.
type Ended struct {
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
}

func endedPath(stateDir string) string { return filepath.Join(member.HubDir(stateDir), "ended.json") }

// noteEnd keeps why the hub ended, for those who wonder why it does not run; nil is that it runs, or was ended.
func (h *hub) noteEnd(why error) {
	err := os.Remove(endedPath(h.StateDir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if why != nil {
		err = statefile.Write(endedPath(h.StateDir), Ended{why.Error(), h.Now().UTC()})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the directory is gone: the machine has left
		h.Log.Error("cannot note how the hub ended", "error", err)
	}
}

// LastEnd is why this machine's hub does not run; its reason is empty where that is not known.
func LastEnd(stateDir string) Ended {
	end, err := statefile.Read[Ended](endedPath(stateDir), 64<<10)
	if err != nil {
		return Ended{}
	}
	return end
}
