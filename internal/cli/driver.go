package cli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// newDriver makes what sees to sessions. after means that what it starts has to wait
// for the end of this process, as it does in a hook: until then the client waits too.
func newDriver(stateDir, globalConfig string, after bool) *driver.Driver {
	detach := process.Detach
	if after {
		detach = process.DetachAfter
	}
	return &driver.Driver{
		StateDir:  stateDir,
		ConfigDir: filepath.Dir(globalConfig),
		Environ:   os.Environ(),
		Now:       time.Now,
		Log:       logToStderr,
		Drive: func(session string) error {
			program, err := ourselves()
			if err != nil {
				return err
			}
			return driver.Start(detach, stateDir, os.Environ(), program, session)
		},
		Send: func() error {
			program, err := findProgram("stopgated", os.Environ())
			if err != nil {
				return err
			}
			return startLogged(process.Detach, stateDir, "wake.log", program, "wake-send")
		},
	}
}

// ourselves is the program stopgate, also for stopgated.
func ourselves() (string, error) {
	self, err := os.Executable()
	if err == nil && called(self) == "stopgated" {
		return findProgram("stopgate", os.Environ())
	}
	return self, err
}

// driverOutside is for whoever is no hook. A client's screen is read as the global
// config says. One that is invalid counts as empty, as it does for hooks.
func driverOutside(stateDir, globalConfig string) *driver.Driver {
	d := newDriver(stateDir, globalConfig, false)
	if global, err := config.LoadGlobal(globalConfig); err == nil {
		d.Screen = global.Terminal
	}
	return d
}

// TypeInto has a message typed into a session, as a queue of one command. The key keeps
// it from being typed twice.
func TypeInto(stateDir, globalConfig string) func(ctx context.Context, session, key, text string) error {
	d := driverOutside(stateDir, globalConfig)
	return func(ctx context.Context, session, key, text string) error {
		if d.Delivered(session, key) {
			return nil
		}
		_, err := d.Create(ctx, driver.Order{Session: session, Commands: []string{text}, Key: key})
		return err
	}
}

// startLogged starts a process that nobody waits for, with a log for what it says.
func startLogged(detach func(args, env []string, log *os.File) error, stateDir, log string, args ...string) error {
	file, err := logfile.Open(stateDir, log)
	if err != nil {
		return err
	}
	defer file.Close()
	return detach(args, os.Environ(), file)
}
