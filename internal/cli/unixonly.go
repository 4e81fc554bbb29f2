package cli

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// unixOnly are the commands that do not work on Windows, by what they need there.
var unixOnly = map[string][]string{
	"the daemon": {
		"agent", "daemon", "decision", "demo", "fleet", "pipeline", "prune", "runbook", "schedule", "start", "top", "ui", "work", "worker", "workspace",
	},
	"stopgated": {"provider check"},
	"tmux":      {"queue", "registry"},
}

// fitSystem makes the commands of a tree refuse to run that cannot work on this system.
func fitSystem(root *cobra.Command) {
	if runtime.GOOS == "windows" {
		refuseUnixOnly(root)
	}
}

// refuseUnixOnly makes the commands that need Unix say so at once.
func refuseUnixOnly(root *cobra.Command) {
	for needed, names := range unixOnly {
		for _, name := range names {
			if cmd, rest, _ := root.Find(strings.Fields(name)); cmd != root && len(rest) == 0 {
				refuse(cmd, needed)
			}
		}
	}
}

// refuse makes a command and those below it say what they need. Hooks answer on every system.
func refuse(cmd *cobra.Command, needed string) {
	for _, sub := range cmd.Commands() {
		if sub.Name() != "hook" {
			refuse(sub, needed)
		}
	}
	if cmd.HasSubCommands() || !cmd.Runnable() {
		return
	}

	cmd.Args = cobra.ArbitraryArgs // it would not run with the right ones, either
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return term.CannotRun(fmt.Errorf("%s needs %s, which does not run on Windows", term.Words(cmd), needed), "use stopgate inside WSL: there it is complete")
	}
}
