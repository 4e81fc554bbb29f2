//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/daemon"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// printCommands prints what the daemon would answer if it were asked for the commands of the project
// at root, as JSON. stopgate start asks for them where no daemon runs.
func printCommands(root string, out, errOut io.Writer) int {
	commands, err := commandsOf(root)
	refusal := (*api.Error)(nil)
	switch {
	case errors.As(err, &refusal):
		return printed(errOut, 1, printJSON(out, refusal.Failure))
	case err != nil:
		return printed(errOut, 1, printJSON(out, daemonapi.Failure{Code: "internal", Error: err.Error()}))
	}
	return printed(errOut, 0, printJSON(out, commands))
}

func commandsOf(root string) ([]daemonapi.Command, error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, fmt.Errorf("the state directory: %w", err)
	}
	config, err := paths.GlobalConfig()
	if err != nil {
		return nil, fmt.Errorf("the global config: %w", err)
	}
	return daemon.CommandsOf(state, config, root)
}
