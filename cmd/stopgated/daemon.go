//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/control/daemon"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// readyVariable names a file descriptor. Whoever starts a daemon in the background reads
// one line of JSON from it: {"ready":true}, or {"error":"…"}.
const readyVariable = "STOPGATED_READY_FD"

// maxThreads is the number of threads at which Go ends the process; its own limit is 10,000. On
// systems other than Linux a thread sleeps for each running command, and a daemon that reached the
// limit would reach it again after its restart.
const maxThreads = 100_000

// runDaemon is the daemon, until a signal or a request ends it. A second signal ends it
// at once, which loses nothing either.
func runDaemon(errOut io.Writer, despite bool) error {
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	config, err := paths.GlobalConfig()
	if err != nil {
		return err
	}
	ready, background, err := readyLine(os.Environ())
	if err != nil {
		return err
	}

	if background {
		log, err := detach(state, "daemon.log")
		if err != nil {
			ready(err)
			return err
		}
		defer log.Close()
		errOut = logfile.Bounded{File: log}
	}

	stopgate, err := program.Find("stopgate", os.Environ()) // it runs errands
	if err != nil {
		err = fmt.Errorf("%w: put it next to stopgated, or on the PATH", err)
		ready(err)
		return err
	}

	debug.SetMaxThreads(maxThreads)
	log := slog.New(slog.NewTextHandler(errOut, nil))
	slog.SetDefault(log)
	ctx, stop := untilSignal()
	defer stop()

	err = daemon.Run(ctx, daemon.Options{
		StateDir: state, Config: config, Environ: childEnviron(os.Environ()), Version: program.Version(), Stopgate: stopgate,
		Log: log, Now: time.Now, Ready: ready, DespiteDamage: despite, OpenStore: openStore(despite),
	})
	if err != nil && background {
		log.Error("ended", "error", err)
	}
	return err
}

// detach opens the log of what runs in the background. The terminal that it was started from may close; what
// it ignored, its commands would ignore too.
func detach(state, log string) (*os.File, error) {
	file, err := logfile.Open(state, log)
	if err == nil {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return file, err
}

// untilSignal is a context until a signal ends it. A second signal ends the process at once.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// openStore opens the daemon's store, also where that is damaged if it is to.
func openStore(despite bool) func(ctx context.Context, path string) (store.Store, error) {
	open := sqlite.Open
	if despite {
		open = sqlite.OpenDespiteDamage
	}
	return func(ctx context.Context, path string) (store.Store, error) {
		s, err := open(ctx, path)
		if err != nil {
			return nil, err // and no store, not even one that is nil
		}
		return s, nil
	}
}

// readyLine is where to say that the daemon is ready, and whether somebody waits for
// that.
func readyLine(env []string) (ready func(error), waited bool, err error) {
	text, set := environ.Lookup(env, readyVariable)
	if !set {
		return func(error) {}, false, nil
	}
	fd, err := strconv.ParseUint(text, 10, 16)
	if err != nil || fd < 3 {
		return nil, false, fmt.Errorf("%s=%q must be the number of a file descriptor above 2", readyVariable, text)
	}
	out := os.NewFile(uintptr(fd), readyVariable)
	closeOnExec(fd)
	return func(err error) {
		line := map[string]any{"ready": true}
		if err != nil {
			line = map[string]any{"error": err.Error()}
		}
		_ = json.NewEncoder(out).Encode(line) // whoever waited may have given up
		_ = out.Close()
	}, true, nil
}

// childEnviron is the environment of what the daemon starts. The session of whoever
// started the daemon is none of theirs.
func childEnviron(env []string) []string {
	return slices.DeleteFunc(environ.WithoutSession(env), func(entry string) bool { return strings.HasPrefix(entry, readyVariable+"=") })
}

// closeOnExec keeps a file that we were given from what we start.
func closeOnExec(fd uint64) { syscall.CloseOnExec(int(fd)) }
