//go:build unix

package main

import (
	"io"

	"github.com/stopgate/stopgate/internal/control/daemon"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// printCommands prints what the daemon would answer if it were asked for the commands of the project
// at root, as JSON. stopgate start asks for them where no daemon runs.
func printCommands(root string, out, errOut io.Writer) int {
	state, err := paths.StateDir()
	if err != nil {
		return printed(errOut, 1, err)
	}
	config, err := paths.GlobalConfig()
	if err != nil {
		return printed(errOut, 1, err)
	}

	answer, ok := daemon.AnswerCommands(state, config, root)
	if !ok {
		return printed(errOut, 1, printJSON(out, answer))
	}
	return printed(errOut, 0, printJSON(out, answer))
}
