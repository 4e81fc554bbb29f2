package driver

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// InHook is the driver for a hook. What it starts waits for the end of this process: until then
// Claude Code waits too. Few hooks start a watcher, so the program is not looked for before.
func InHook(stateDir, globalConfig string, log func(format string, args ...any)) *Driver {
	d := newDriver(stateDir, globalConfig, log, process.DetachAfter)
	d.StartWatch = func() error {
		if err := d.watchedByUs(); err != nil {
			return err
		}
		return d.StartWatch()
	}
	return d
}

// Outside is the driver for everything else. It reads a client's screen as the global config
// says; one that is invalid counts as empty, as it does for hooks.
func Outside(stateDir, globalConfig string, log func(format string, args ...any)) *Driver {
	d := newDriver(stateDir, globalConfig, log, process.Detach)
	if err := d.watchedByUs(); err != nil {
		log("cannot watch over the queues: %v", err)
	}
	if global, err := config.LoadGlobal(globalConfig); err == nil {
		d.Screen = global.Terminal
	}
	return d
}

func newDriver(stateDir, globalConfig string, log func(format string, args ...any), detach detacher) *Driver {
	return &Driver{
		StateDir:  stateDir,
		ConfigDir: filepath.Dir(globalConfig),
		Environ:   os.Environ(),
		Now:       time.Now,
		Log:       log,
		Drive: func(session string) error {
			stopgate, err := program.Stopgate()
			if err != nil {
				return err
			}
			return Start(detach, stateDir, os.Environ(), stopgate, session)
		},
		Send: func() error {
			stopgated, err := program.Find("stopgated", os.Environ())
			if err != nil {
				return err
			}
			return startLogged(process.Detach, stateDir, "wake.log", os.Environ(), stopgated, "wake-send")
		},
	}
}

// watchedByUs has the program that this one is, or comes with, watch over the queues.
func (d *Driver) watchedByUs() error {
	stopgate, err := program.Stopgate()
	if err == nil {
		d.Watched(stopgate, os.Environ())
	}
	return err
}

// Watched has the program stopgate watch over the queues, with this environment.
func (d *Driver) Watched(stopgate string, env []string) {
	d.Watcher = []string{stopgate, "queue", "watch"}
	d.StartWatch = func() error { return startLogged(process.Detach, d.StateDir, driverLog, env, d.Watcher...) }
}

// driverLog is where those write who type and watch.
const driverLog = "driver.log"

// detacher starts a process that outlives this one.
type detacher func(args, env []string, log *os.File) error

// Start starts a process of the program stopgate that delivers the session's active command.
func Start(detach detacher, stateDir string, env []string, stopgate, session string) error {
	return startLogged(detach, stateDir, driverLog, env, stopgate, "queue", "drive", "--session", session)
}

// startLogged starts a process in the background, with a log for what it says.
func startLogged(detach detacher, stateDir, log string, env []string, args ...string) error {
	file, err := logfile.Open(stateDir, log)
	if err != nil {
		return err
	}
	defer file.Close()
	return detach(args, env, file)
}

// Type types a message into a session, as a queue of one command. The key keeps it from being
// typed twice.
func (d *Driver) Type(ctx context.Context, session, key, text string) error {
	if d.queues().HasKey(session, key) {
		return nil
	}
	_, err := d.Create(ctx, Order{Session: session, Commands: []string{text}, Key: key})
	return err
}
