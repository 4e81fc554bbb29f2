package daemon

import (
	"errors"
	"os"
)

// There is no daemon here, and the command line refuses what needs one.

func (p *Daemon) leftRunning() bool { return false }

func startDaemon(string, []string, []string, *os.File) (ready *os.File, ended func() string, err error) {
	return nil, nil, errors.ErrUnsupported
}

func become(string, []string, []string) error { return errors.ErrUnsupported }

// RunErrand recognises nothing: the daemon alone calls it.
func RunErrand([]string) (code int, isErrand bool) { return 0, false }
