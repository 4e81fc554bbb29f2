//go:build unix

// Command bench measures the gauntlet beside the programs that it has to keep up
// with, and fails when it does not. Usage: bench STOPGATE LEFTHOOK [BENCHMARK…]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

// benchmark is one table of the report.
type benchmark struct {
	name string
	run  func(context.Context, *lab, *report) error
}

// What makes many files comes last, and nothing is deleted before the end: see
// scripts/bench-gauntlet.
var benchmarks = []benchmark{
	{"parallel", parallel},
	{"wrap", wrap},
	{"memory", memory},
	{"detection", detection},
	{"decision", decision},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: bench STOPGATE LEFTHOOK [BENCHMARK…]")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := newLab(args[0], args[1])
	if err != nil {
		return err
	}
	defer l.close()
	r := &report{to: os.Stdout}
	for _, b := range benchmarks {
		if names := args[2:]; len(names) > 0 && !slices.Contains(names, b.name) {
			continue
		}
		if err := b.run(ctx, l, r); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	if r.failed > 0 {
		return fmt.Errorf("%d over the limit", r.failed)
	}
	return nil
}

// newLab makes a place of our own, with a home in which nothing is configured.
func newLab(stopgate, lefthook string) (*lab, error) {
	stopgate, err := filepath.Abs(stopgate)
	if err != nil {
		return nil, err
	}
	lefthook, err = filepath.Abs(lefthook)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "stopgate-bench-*")
	if err != nil {
		return nil, err
	}
	return &lab{
		dir:      dir,
		stopgate: stopgate,
		lefthook: lefthook,
		env: []string{
			"PATH=" + os.Getenv("PATH"),
			"HOME=" + dir,
			"STOPGATE_STATE_DIR=" + filepath.Join(dir, "state"),
			"GIT_CONFIG_NOSYSTEM=1",
		},
	}, nil
}
