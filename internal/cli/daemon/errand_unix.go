//go:build unix

package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// RunErrand runs "stopgate errand [--terminal] DIR", which only the daemon calls: it is in no help.
func RunErrand(args []string) (code int, isErrand bool) {
	run := errand.Run
	switch {
	case len(args) == 4 && args[1] == "errand" && args[2] == "--terminal":
		run = errand.RunInTerminal
	case len(args) != 3 || args[1] != "errand":
		return 0, false
	}

	if err := run(args[len(args)-1]); err != nil {
		fmt.Fprintf(os.Stderr, "stopgate: %v\n", err)
		return term.ExitFailed, true
	}
	return term.ExitOK, true
}

// leftRunning reports whether something runs that a daemon has started which is gone.
func (p *Daemon) leftRunning() bool {
	dir := filepath.Join(p.stateDir, "errands")
	entries, _ := os.ReadDir(dir) // none: nothing was started
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return errand.Runs(filepath.Join(dir, e.Name())) })
}
