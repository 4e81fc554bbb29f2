//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// parallel measures what it costs to run many checks that do nothing.
func parallel(ctx context.Context, l *lab, r *report) error {
	const checks, limit = 20, 1.2
	files := project(slices.Repeat([]string{"true"}, checks)...)
	files["lefthook.yml"] = jobs(checks)
	run, err := l.gates(ctx, "parallel", files)
	if err != nil {
		return err
	}
	lefthook := program{name: "lefthook", dir: run.dir, args: []string{l.other, "run", "bench"}, wants: fmt.Sprint("check", checks-1)}
	s, err := l.race(ctx, 40, lefthook, run)
	if err != nil {
		return err
	}
	r.table(fmt.Sprintf("**%d checks that do nothing, in parallel** (`true`), against lefthook", checks))
	r.reference("lefthook run", &s[0])
	r.row("stopgate run --no-cache", &s[1], figure{s[1].ratioTo(&s[0]), "times lefthook", limit})
	return nil
}

// jobs is lefthook's configuration for as many, each of which prints one line.
// They are a hook of their own because for pre-commit lefthook runs none where
// nothing is staged.
func jobs(n int) string {
	var config strings.Builder
	config.WriteString("output: [success]\ncolors: false\nbench:\n  parallel: true\n  jobs:\n")
	for i := range n {
		fmt.Fprintf(&config, "    - name: check%d\n      run: \"true\"\n", i)
	}
	return config.String()
}
