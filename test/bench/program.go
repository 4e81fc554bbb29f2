//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
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
	// piped means that we wait for the end of its output too, as the client does: what
	// it leaves behind may hold that open.
	piped bool
	// before and after are done around each run, and take no part in its time.
	before, after func(context.Context) error
}

// warmUp is how often each program runs before it counts: git and we both write
// down what they saw of the files.
const warmUp = 2

// race runs programs in turns, in a new order each round: the speed of a machine
// drifts, and who comes after whom matters too.
func (l *lab) race(ctx context.Context, rounds int, programs ...program) ([]series, error) {
	return turns(rounds, len(programs), func(i int) (took time.Duration, peak float64, err error) {
		if took, peak, err = l.run(ctx, programs[i]); err != nil {
			err = fmt.Errorf("%s: %w", programs[i].name, err)
		}
		return took, peak, err
	})
}

// turns measures n things, of which one does the one with that number.
func turns(rounds, n int, one func(i int) (took time.Duration, peak float64, err error)) ([]series, error) {
	all := make([]series, n)
	order := rand.New(rand.NewPCG(1, 2)) // the same in every run
	for round := range warmUp + rounds {
		for _, i := range order.Perm(n) {
			took, peak, err := one(i)
			if err != nil {
				return nil, err
			}
			if round >= warmUp {
				all[i].add(took, peak)
			}
		}
	}
	return all, nil
}

// run runs a program once.
func (l *lab) run(ctx context.Context, p program) (took time.Duration, peak float64, err error) {
	if p.before != nil {
		if err := p.before(ctx); err != nil {
			return 0, 0, err
		}
	}
	if took, peak, err = l.measure(ctx, p); err == nil && p.after != nil {
		err = p.after(ctx)
	}
	return took, peak, err
}

// measure is run without what comes before and after. The output goes to a file, if it
// may, so that nobody has to wake up for it.
func (l *lab) measure(ctx context.Context, p program) (took time.Duration, peak float64, err error) {
	output, err := os.Create(filepath.Join(l.dir, "output"))
	if err != nil {
		return 0, 0, err
	}
	defer output.Close()
	cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env = p.dir, slices.Concat(l.env, p.env)
	cmd.Stdout, cmd.Stderr = output, output
	if p.piped {
		both := struct{ io.Writer }{output} // not a file to package exec
		cmd.Stdout, cmd.Stderr = both, both
	}
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
