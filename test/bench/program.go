//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// program is something to measure. It must succeed each time.
type program struct {
	name  string
	dir   string
	env   []string // beyond the lab's
	args  []string
	stdin string // a file; empty: nothing
	wants string // what it must print, to show that it did the work
}

// warmUp is how often each program runs before it counts: git and we both write
// down what they saw of the files.
const warmUp = 2

// race runs programs in turns, in a new order each round: the speed of a machine
// drifts, and who comes after whom matters too.
func (l *lab) race(ctx context.Context, rounds int, programs ...program) ([]series, error) {
	all := make([]series, len(programs))
	order := rand.New(rand.NewPCG(1, 2)) // the same in every run
	for round := range warmUp + rounds {
		for _, i := range order.Perm(len(programs)) {
			took, peak, err := l.run(ctx, programs[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", programs[i].name, err)
			}
			if round >= warmUp {
				all[i].add(took, peak)
			}
		}
	}
	return all, nil
}

// run runs a program once. Its output goes to a file, so that nobody has to wake
// up for it.
func (l *lab) run(ctx context.Context, p program) (took time.Duration, peak float64, err error) {
	output, err := os.Create(filepath.Join(l.dir, "output"))
	if err != nil {
		return 0, 0, err
	}
	defer output.Close()
	cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env = p.dir, slices.Concat(l.env, p.env)
	cmd.Stdout, cmd.Stderr = output, output
	if p.stdin != "" {
		stdin, err := os.Open(p.stdin)
		if err != nil {
			return 0, 0, err
		}
		defer stdin.Close()
		cmd.Stdin = stdin
	}
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	text, _ := os.ReadFile(output.Name())
	if err != nil {
		return 0, 0, fmt.Errorf("%w\n%s", err, text)
	}
	if !strings.Contains(string(text), p.wants) {
		return 0, 0, fmt.Errorf("did not print %q but\n%s", p.wants, text)
	}
	return took, peakMB(cmd.ProcessState), nil
}
