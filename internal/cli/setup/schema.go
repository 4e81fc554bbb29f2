package setup

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/project/schema"
)

func NewSchema() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "schema",
		Short: "Print JSON Schemas",
		Example: `  stopgate schema hook SubagentStop
  stopgate schema config
  stopgate schema runbook`,
	}, newSchemaHook(), newSchemaConfig(), newSchemaRunbook())
}

func newSchemaHook() *cobra.Command {
	return &cobra.Command{
		Use:                   "hook EVENT",
		Short:                 "Print the JSON Schema of an event's payload",
		Example:               "  stopgate schema hook SubagentStop > SubagentStop.schema.json",
		DisableFlagsInUseLine: true,
		ValidArgs:             document.Strings(hook.Typed()),
		Args:                  term.OneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := hook.Schema(hook.Event(args[0]))
			return printSchema(cmd, text, err, args[0], "events", document.Strings(hook.Typed()))
		},
	}
}

func newSchemaConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "config [KIND]",
		Short: "Print the JSON Schema of a configuration file",
		Long: `Print the JSON Schema of a configuration file, for editors. KIND is project
(.gauntlet/config.yml, the default), check, review, ci or global.`,
		Example: `  stopgate schema config > config.schema.json
  stopgate schema config check`,
		DisableFlagsInUseLine: true,
		ValidArgs:             config.Kinds(),
		Args:                  term.AtMostOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := append(args, "project")[0]
			text, err := config.Schema(kind)
			return printSchema(cmd, text, err, kind, "kinds", config.Kinds())
		},
	}
}

func newSchemaRunbook() *cobra.Command {
	return &cobra.Command{
		Use:   "runbook",
		Short: "Print the JSON Schema of a runbook",
		Long: `Print the JSON Schema of a runbook, for editors that validate TOML. stopgate
runbook check finds more problems: it also follows the steps.`,
		Example:               "  stopgate schema runbook > runbook.schema.json",
		DisableFlagsInUseLine: true,
		Args:                  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s", schema.Runbook())
			return err
		},
	}
}

// printSchema prints a schema; where there is none of that name, it hints at one that there is.
func printSchema(cmd *cobra.Command, text []byte, err error, name, what string, valid []string) error {
	if err != nil {
		return term.BadUsage(err, document.Hint(name, valid, what+": "+strings.Join(valid, ", ")))
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
}
