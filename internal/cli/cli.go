// Package cli is the command line: each command is its options and a run.
package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/hook"
)

// The exit codes. Hooks never use exitUsage: to the client 2 means block.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs the command line and returns the exit code. Hooks come first, before
// the command tree is even built: the client waits for them.
func Main(args []string) int {
	if event, isHook := hookCall(args); isHook {
		return runHook(event)
	}
	root := newRoot(filepath.Base(args[0]))
	root.SetArgs(args[1:])
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var silent silentError
	if !errors.As(err, &silent) {
		fmt.Fprintf(os.Stderr, "stopgate: %v\n", err)
	}
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintln(os.Stderr, usage.hint)
		return exitUsage
	}
	return exitFailed
}

// hookCall recognises "stopgate hook [EVENT]" and, under the name conclaude,
// "conclaude EVENT".
func hookCall(args []string) (hook.Event, bool) {
	rest := args[1:]
	if called(args[0]) == "conclaude" && len(rest) == 1 && hook.Event(rest[0]).Known() {
		return hook.Event(rest[0]), true
	}
	if len(rest) == 0 || rest[0] != "hook" || len(rest) > 2 {
		return "", false
	}
	if len(rest) == 1 {
		return "", true
	}
	return hook.Event(rest[1]), !strings.HasPrefix(rest[1], "-")
}

// called is the name the program was called by.
func called(arg0 string) string {
	return strings.TrimSuffix(filepath.Base(arg0), ".exe")
}

// silentError fails a command that has said everything already.
type silentError struct{}

func (silentError) Error() string { return "failed" }

// usageError is a command line that cannot be understood.
type usageError struct {
	error
	hint string
}

func newRoot(name string) *cobra.Command {
	root := &cobra.Command{
		Use:   name,
		Short: "Decides whether a coding agent may stop",
		Long: `stopgate answers Claude Code's hooks: an agent may stop when the work is done,
and anyone can see why.`,
		Example: `  stopgate init        set this project up
  stopgate doctor      prove that a block blocks
  stopgate log -f      watch what is decided`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{err, "see: " + cmd.CommandPath() + " --help"}
	})
	root.AddCommand(
		newInit(), newHooks(), newTrust(), newDoctor(), newStatus(), newValidate(), newOff(), newLog(),
		newSchema(), newHook(), newVersion(),
	)
	return root
}

// noArgs refuses arguments, and guesses the command that was meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	hint := "see: " + cmd.CommandPath() + " --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return usageError{err, hint}
}

// exactArgs is cobra.ExactArgs with our exit code.
func exactArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usageError{fmt.Errorf("%s takes %d argument(s), got %d", cmd.CommandPath(), n, len(args)),
			"usage: " + cmd.UseLine()}
	}
}
