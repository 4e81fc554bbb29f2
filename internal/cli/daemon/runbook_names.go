package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// definition is a command, pipeline or agent of a runbook.
type definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	kind        string
}

// definitions are what this project's runbooks define. stopgated reads them; it need not run
// as the daemon.
func definitions(ctx context.Context) (all []definition) {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, program, "runbook", "show", "--json")
	process.ContainTool(cmd)
	text, _ := cmd.Output() // it fails where one of several runbooks is invalid, and prints the others

	var books []struct{ Commands, Pipelines, Agents []definition }
	if json.Unmarshal(text, &books) != nil {
		return nil
	}
	for _, book := range books {
		all = append(all, ofKind("command", book.Commands)...)
		all = append(all, ofKind("pipeline", book.Pipelines)...)
		all = append(all, ofKind("agent", book.Agents)...)
	}
	return all
}

// commandsOf are the commands of a project's runbooks where no daemon runs: stopgated answers as the
// daemon would, and starts nothing.
func commandsOf(ctx context.Context, root string) (all []daemonapi.Command, err error) {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "runbook", "commands", "--json", "--", root)
	process.ContainTool(cmd)
	text, err := cmd.Output()
	if err == nil {
		return all, json.Unmarshal(text, &all)
	}
	refusal := &daemonapi.Error{}
	if json.Unmarshal(text, &refusal.Failure) == nil && refusal.Code != "" {
		return nil, refusal
	}
	return nil, fmt.Errorf("%s runbook commands: %w", program, err)
}

func ofKind(kind string, some []definition) []definition {
	for i := range some {
		some[i].kind = kind
	}
	return some
}

// word is the definition's name as a shell completes it, with what it is.
func (d *definition) word() string {
	if d.Description != "" {
		return plain.Line(d.Name) + "\t" + plain.Line(d.Description)
	}
	return plain.Line(d.Name) + "\t" + d.kind
}

// definitionNames are those of a kind, or of all.
func definitionNames(kind string) func(ctx context.Context, _ []string) []string {
	return func(ctx context.Context, _ []string) (words []string) {
		for _, d := range definitions(ctx) {
			if kind == "" || d.kind == kind {
				words = append(words, d.word())
			}
		}
		return words
	}
}

// completeDefinition completes the name of anything in this project's runbooks.
var completeDefinition = term.Completion(1, definitionNames(""))

// completeCommand completes a command that start can run. It asks stopgated and not the daemon,
// which may not run yet.
func completeCommand(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // the command's own arguments may be files
	}
	return term.Completion(1, definitionNames("command"))(cmd, args, begun)
}
