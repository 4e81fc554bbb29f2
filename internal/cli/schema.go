package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
)

func newSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "schema",
		Short:   "Print JSON Schemas",
		Example: "  stopgate schema hook SubagentStop",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSchemaHook())
	return cmd
}

func newSchemaHook() *cobra.Command {
	return &cobra.Command{
		Use:                   "hook EVENT",
		Short:                 "Print the JSON Schema of an event's payload",
		Example:               "  stopgate schema hook SubagentStop > SubagentStop.schema.json",
		DisableFlagsInUseLine: true,
		ValidArgs:             eventNames(hook.Typed()),
		Args:                  oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := hook.Schema(hook.Event(args[0]))
			if err != nil {
				names := eventNames(hook.Typed())
				hint := "events: " + strings.Join(names, ", ")
				if near := config.Suggest(args[0], names); near != "" {
					hint = fmt.Sprintf("did you mean %s?", near)
				}
				return usageError{err, hint}
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}

func eventNames(events []hook.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = string(e)
	}
	return out
}
