//go:build unix

package main

import (
	"context"
	"fmt"
)

// detection measures how the cost of finding out what changed grows with the
// number of changed files. Each repository has no other files, which would hide
// the growth.
func detection(ctx context.Context, l *lab, r *report) error {
	sizes := []int{100, 1_000, 10_000}
	var programs []program
	for _, n := range sizes {
		dir, err := l.repository(ctx, fmt.Sprint("changed", n), n, project("true"))
		if err != nil {
			return err
		}
		if err := change(dir, n); err != nil {
			return err
		}
		programs = append(programs, program{
			name: fmt.Sprint("detect ", n), dir: dir, args: []string{l.stopgate, "detect"}, wants: fileName(n - 1),
		})
	}
	if err := settle(ctx); err != nil {
		return err
	}
	s, err := l.race(ctx, 20, programs...)
	if err != nil {
		return err
	}
	r.table("**Finding what changed**: the time must grow no faster than the number of files")
	for i, n := range sizes {
		name := fmt.Sprintf("stopgate detect, %d changed files, %.1f µs each", n, s[i].median().Seconds()*1e6/float64(n))
		if i == 0 {
			r.reference(name, &s[i])
			continue
		}
		r.row(name, &s[i], figure{s[i].ratioTo(&s[i-1]), "times the row above", float64(n / sizes[i-1])})
	}
	return nil
}
