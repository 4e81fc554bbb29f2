//go:build unix

package main

import "context"

// memory measures how much of a check's output is held.
func memory(ctx context.Context, l *lab, r *report) error {
	const limit = 100
	run, err := l.gates(ctx, "memory", project("yes 'a test suite that has a lot to say about every test' | head -c 1073741824"))
	if err != nil {
		return err
	}
	var s series
	took, peak, err := l.run(ctx, run)
	if err != nil {
		return err
	}
	s.add(took, peak)
	r.table("**One check that prints 1 GB**, once")
	r.row("stopgate run --no-cache", &s, figure{s.peak, "MB at most", limit})
	return nil
}
