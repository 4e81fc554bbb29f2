// Package launcher has the commands that start Claude Code with a provider and a supervisor.
package launcher

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// ShortName is the link name under which the program only starts Claude Code.
const ShortName = "ccc"

// NewClaude documents the command; Main runs it before the tree is built.
func NewClaude() *cobra.Command {
	return &cobra.Command{
		Use:   "claude [PROVIDER] [ARGS…]",
		Short: "Start Claude Code with a provider, optionally supervised",
		Long: `Start Claude Code with a provider: an endpoint, key, model and settings. Providers are defined
in ~/.claude/ccc.json; if there is no such file, this command offers to create it from Claude
Code's settings. Without PROVIDER, or if the first argument is a flag, the last provider is used.

All arguments after the provider are passed to Claude Code. With "--" in place of the provider,
all arguments are passed on. ` + aboutLink + `

With CCC_SUPERVISOR=1 in the environment, a supervisor (a second Claude) reviews the work each
time the agent stops, and says whether it is complete: see stopgate supervisor.

  CCC_CONFIG_DIR   directory of ccc.json and Claude Code's settings
                   (default ~/.claude)
  CCC_WORK_DIR     directory of the supervisor's state and logs
  CCC_CLAUDE       path of Claude Code
                   (default: CLAUDE_BIN, then claude on the PATH)

Exit code: that of Claude Code. 2: usage error, or invalid ccc.json. 3: Claude Code was not
found. 1: any other error.`,
		Example: `  stopgate claude glm                       start with glm, the new default
  stopgate claude --resume                  use the last provider
  stopgate claude glm -p "fix the tests"    pass arguments to Claude Code
  CCC_SUPERVISOR=1 stopgate claude`,
		DisableFlagsInUseLine: true,
		DisableFlagParsing:    true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// LaunchCall recognises "stopgate claude …" and, under the name ccc, everything but
// the few commands that the launcher has. What is ours of its flags is not for the
// client.
func LaunchCall(args []string) (rest []string, isLaunch bool) {
	rest = args[1:]
	if program.Called(args[0]) != ShortName {
		if len(rest) == 0 || rest[0] != "claude" {
			return nil, false
		}
		return rest[1:], true
	}
	if len(rest) > 0 && isShortCommand(rest[0]) {
		return nil, false
	}
	return rest, true
}

// RunLaunch starts Claude Code. help explains the command where it was not called by its own name.
func RunLaunch(arg0 string, args []string, help func() error) int {
	if len(args) > 0 {
		switch {
		case args[0] == "-h" || args[0] == "--help":
			if program.Called(arg0) == ShortName {
				help = launchHelp
			}
			return term.Complain(help())
		case args[0] == "--version" || args[0] == "-v" && program.Called(arg0) == ShortName:
			fmt.Printf("%s version %s\n", program.Called(arg0), program.Version())
			return term.ExitOK
		}
	}
	plan, err := launch.Prepare(launchOptions(arg0, args))
	if err != nil {
		return term.Complain(forLaunch(err))
	}
	code, err := plan.Exec()
	if err != nil {
		return term.Complain(forLaunch(err))
	}
	return code
}

// aboutLink is the sentence of the help that says nothing to a person who called the link.
const aboutLink = "A link named ccc to the program is the same command."

// launchHelp explains the command by its own name.
func launchHelp() error {
	cmd := NewClaude()
	cmd.Use = strings.Replace(cmd.Use, "claude", ShortName, 1)
	cmd.Long = strings.Replace(cmd.Long, aboutLink,
		`"ccc validate [--all]" checks providers, "ccc patch --reset" undoes the patch of an older ccc.
The commands provider, supervisor and supervisor-hook are those of stopgate.`, 1)
	cmd.Example = strings.ReplaceAll(cmd.Example, "stopgate claude", ShortName)
	term.FitHelp(cmd)
	return cmd.Help()
}

func launchOptions(arg0 string, args []string) launch.Options {
	o := launch.Options{
		Args: args, Arg0: arg0, Environ: os.Environ(), Now: time.Now, Stderr: os.Stderr,
	}
	// What there is not of these, a plain launch does without.
	o.Executable, _ = os.Executable()
	o.StateDir, _ = paths.StateDir()
	o.GlobalConfig, _ = paths.GlobalConfig()
	o.Dir, _ = os.Getwd()
	if xterm.IsTerminal(int(os.Stdin.Fd())) {
		o.Ask = askPerson
	}
	return o
}

// askPerson asks on standard error: standard output is Claude Code's. It reads no
// more than the answer, because what follows is typed for Claude Code.
func askPerson(question string) (bool, error) {
	fmt.Fprint(os.Stderr, question)
	var answer strings.Builder
	for letter := make([]byte, 1); ; {
		n, err := os.Stdin.Read(letter)
		if n == 0 || err != nil || letter[0] == '\n' {
			break // a terminal that is gone says no
		}
		answer.Write(letter)
	}
	switch strings.ToLower(strings.TrimSpace(answer.String())) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// forLaunch gives an error of a launch its exit code and its hint.
func forLaunch(err error) error {
	var config launch.ConfigError
	var failure launch.StartError
	switch {
	case errors.As(err, &config):
		return term.WithCode(term.WithHint(config, config.Hint), term.ExitUsage)
	case errors.As(err, &failure):
		return term.CannotRun(failure, failure.Hint)
	}
	return err
}
