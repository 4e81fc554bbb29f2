//go:build unix

package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// runHub is this machine's hub, until a signal ends it or the machine leaves its fleet. In the background it
// keeps its own log.
func runHub(errOut io.Writer, background bool) error {
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	if background {
		file, err := logfile.Open(state, "hub.log")
		if err != nil {
			return err
		}
		defer file.Close()
		errOut = logfile.Bounded{File: file}
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // the terminal that it was started from may close
	}
	log := slog.New(slog.NewTextHandler(errOut, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err = hub.Run(ctx, hub.Options{StateDir: state, Version: program.Version(), Log: log, Now: time.Now})
	if err != nil && background {
		log.Error("the hub ended", "error", err)
	}
	return err
}
