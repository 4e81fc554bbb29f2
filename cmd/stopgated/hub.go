//go:build unix

package main

import (
	"io"
	"log/slog"
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
		file, err := detach(state, "hub.log")
		if err != nil {
			return err
		}
		defer file.Close()
		errOut = logfile.Bounded{File: file}
	}
	log := slog.New(slog.NewTextHandler(errOut, nil))
	ctx, stop := untilSignal()
	defer stop()
	err = hub.Run(ctx, hub.Options{StateDir: state, Version: program.Version(), Log: log, Now: time.Now})
	if err != nil && background {
		log.Error("the hub ended", "error", err)
	}
	return err
}
