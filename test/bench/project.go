//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"
)

// project is the configuration of a project with the given checks.
func project(commands ...string) map[string]string {
	var config strings.Builder
	config.WriteString("stop_hook:\n  run_interval_minutes: 0\nentry_points:\n  - path: .\n    checks:\n")
	for i, command := range commands {
		fmt.Fprintf(&config, "      - name: check%d\n        command: %q\n        parallel: true\n", i, command)
	}
	return map[string]string{".gauntlet/config.yml": config.String(), ".gitignore": "gauntlet_logs/\n"}
}

// gates is "stopgate run" in a small project with these files and one change.
func (l *lab) gates(ctx context.Context, name string, files map[string]string) (program, error) {
	dir, err := l.repository(ctx, name, 100, files)
	if err != nil {
		return program{}, err
	}
	if err := change(dir, 1); err != nil {
		return program{}, err
	}
	return program{name: "run", dir: dir, args: []string{l.stopgate, "run", "--no-cache"}, wants: "Status: Passed"}, settle(ctx)
}
