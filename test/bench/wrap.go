//go:build unix

package main

import "context"

// wrap measures what a run adds to the time of its check.
func wrap(ctx context.Context, l *lab, r *report) error {
	const limit = 1.06
	run, err := l.gates(ctx, "wrap", project("sleep 1"))
	if err != nil {
		return err
	}
	shell := program{name: "sh", dir: run.dir, args: []string{"sh", "-c", "sleep 1"}}
	s, err := l.race(ctx, 8, shell, run)
	if err != nil {
		return err
	}
	r.table("**One check that takes a second**, against its command alone")
	r.reference("sh -c 'sleep 1'", &s[0])
	r.row("stopgate run --no-cache", &s[1], figure{s[1].ratioTo(&s[0]), "times sh", limit})
	return nil
}
