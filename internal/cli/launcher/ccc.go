package launcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// The commands of the older tool ccc that users have in their fingers and their scripts. They
// exist only under the name ccc: stopgate has other words for them.

// isShortCommand reports whether a word after ccc is a command, and not a provider.
func isShortCommand(word string) bool {
	switch word {
	case "validate", "patch", "supervisor-mode", "supervisor-hook", "supervisor", "provider":
		return true
	}
	return false
}

// NewValidate is provider check as ccc called it: of the current provider, unless others are meant.
func NewValidate() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "validate [--all | NAME]",
		Short: "Check that the current provider accepts your key",
		Long: `Send one short request to the current provider, to NAME or to all providers, with the provider's
own key. It is the same as: stopgate provider check

Exit code 0: none is rejected or unreachable. 1: one is rejected. 2: unknown provider, or invalid
ccc.json. 3: none is rejected, but one could not be reached.`,
		Example: `  ccc validate
  ccc validate --all`,
		Args: term.AtMostOneArg,
		RunE: func(cmd *cobra.Command, names []string) error {
			if all && len(names) > 0 {
				return term.BadUsage(errors.New("--all cannot be used with a name"), "usage: "+cmd.UseLine())
			}
			names, err := validated(names, all)
			if err != nil {
				return forLaunch(err)
			}
			return showChecks(cmd, names, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "check all providers")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	term.CompleteArgs(cmd, 1, providerNames)
	return cmd
}

// validated are the providers to check: the named one, the current one, or none for all.
func validated(names []string, all bool) ([]string, error) {
	if all || len(names) > 0 {
		return names, nil
	}
	c, err := loadProviders()
	if err != nil {
		return nil, err
	}
	current, err := c.Choose("")
	return []string{current}, err
}

// NewSupervisorMode is supervisor on and off as the slash commands of ccc call them: without a
// word when all went well, and with one when they are asked.
func NewSupervisorMode() *cobra.Command {
	return &cobra.Command{
		Use:   "supervisor-mode [on|off]",
		Short: "Turn reviews of this session on or off, or say which",
		Long: `Turn reviews of the session in which the command runs on or off, or print "on" or "off". It is
what the slash commands of ccc call; stopgate has: stopgate supervisor on`,
		Example: `  ccc supervisor-mode on
  ccc supervisor-mode`,
		Args: term.AtMostOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			session, dir, err := findSession("")
			if err != nil {
				return err
			}
			word := strings.ToLower(strings.Join(args, ""))
			switch word {
			case "on", "true", "1", "enable", "off", "false", "0", "disable":
				on := word == "on" || word == "true" || word == "1" || word == "enable"
				return switchSupervisor(cmd.Context(), dir, session, on)
			}

			state, err := readSupervised(dir, session)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), map[bool]string{true: "on", false: "off"}[state.On != nil && *state.On])
			return nil
		},
	}
}

// NewPatch undoes what the patch of ccc did to Claude Code's program. To do it is refused.
func NewPatch() *cobra.Command {
	var reset bool
	cmd := &cobra.Command{
		Use:   "patch --reset",
		Short: "Undo the patch of an older ccc",
		Long: `Undo what "ccc patch" of the older tool did: give Claude Code's program its name "claude" back.
The patch itself is not part of stopgate: it took the first word after "claude" for a provider,
so that "claude update" and "claude mcp list" failed.

Exit code 0: undone, or there was no patch. 2: --reset is missing. 3: no claude on the PATH.`,
		Example: "  ccc patch --reset",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !reset {
				return term.BadUsage(errors.New("ccc patch is not part of stopgate: it took the first word after claude for a provider"),
					"put this into your shell's startup file instead: alias claude='ccc --'")
			}
			return resetPatch(cmd.OutOrStdout(), os.Environ())
		},
	}
	cmd.Flags().BoolVar(&reset, "reset", false, "undo the patch")
	return cmd
}

// resetPatch undoes the patch, where there is one.
func resetPatch(out io.Writer, env []string) error {
	patch, err := claude.Patched(env)
	switch {
	case errors.Is(err, claude.ErrNotFound):
		return term.CannotRun(err, "")
	case err != nil:
		return term.WithHint(err, "install Claude Code again")
	case patch == nil:
		fmt.Fprintln(out, "claude is not patched")
		return nil
	}
	if err := patch.Undo(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is Claude Code again\n", plain.Name(patch.Script))
	return nil
}
