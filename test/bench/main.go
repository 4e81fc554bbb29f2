//go:build unix

// Command bench measures stopgate beside the programs that it has to keep up with,
// and fails when it does not.
//
//	bench gauntlet STOPGATE LEFTHOOK [BENCHMARK…]
//	bench supervisor STOPGATE CLIENT [BENCHMARK…]
//	bench session STOPGATE TMUX [BENCHMARK…]
//	bench plane STOPGATE STOPGATED [BENCHMARK…]
//	bench fleet STOPGATE STOPGATED [BENCHMARK…]
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

// suites are what is measured beside one other program. In each, what makes many
// files comes last, and nothing is deleted before the end: see scripts/bench-gauntlet.
var suites = map[string][]benchmark{
	"gauntlet": {
		{"parallel", parallel},
		{"wrap", wrap},
		{"memory", memory},
		{"detection", detection},
		{"decision", decision},
	},
	"supervisor": {
		{"launch", launches},
		{"client", client},
		{"review", review},
	},
	"session": {
		{"hook", sessionHook},
		{"typing", typing},
		{"crowd", crowd},
	},
	"plane": {
		{"append", appends},
		{"stop", stops},
		{"agent", agentStops},
		{"start", agentStarts},
		{"memory", agentMemory},
		{"lists", planeLists},
		{"replay", replay},
		{"backlog", backlog},
		{"branches", branches},
		{"web", webPage},
	},
	"fleet": {
		{"append", fleetAppends},
		{"job", fleetJobs},
		{"answer", fleetAnswers},
		{"hook", fleetHooks},
		{"memory", fleetMemory},
		{"hosts", fleetHosts},
	},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && standIns[args[0]] != nil {
		return standIns[args[0]](args[1:])
	}
	if len(args) < 3 || suites[args[0]] == nil {
		return errors.New("usage: bench gauntlet|supervisor|session|plane|fleet STOPGATE OTHER [BENCHMARK…]")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := newLab(args[1], args[2])
	if err != nil {
		return err
	}
	defer l.close()
	r := &report{to: os.Stdout}
	for _, b := range suites[args[0]] {
		if names := args[3:]; len(names) > 0 && !slices.Contains(names, b.name) {
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
func newLab(stopgate, other string) (*lab, error) {
	stopgate, err := filepath.Abs(stopgate)
	if err != nil {
		return nil, err
	}
	other, err = filepath.Abs(other)
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
		other:    other,
		env: []string{
			"PATH=" + os.Getenv("PATH"),
			"HOME=" + dir,
			"STOPGATE_STATE_DIR=" + filepath.Join(dir, "state"),
			"GIT_CONFIG_NOSYSTEM=1",
		},
	}, nil
}
