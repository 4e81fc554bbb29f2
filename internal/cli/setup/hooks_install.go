package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
)

func newHooksInstall() *cobra.Command {
	var where scopeFlags
	var yes, slash, statusLine bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the hooks (default: --local)",
		Long: `Merge stopgate's hooks into a settings file of Claude Code. Other keys and
hooks stay as they are, the first change keeps a backup, and installing twice
changes nothing. Entries of an older stopgate are updated.

--user also writes "trust: enforce" to the global config: from then on only
projects that you approved run anything. --project and --local approve the
project's .gauntlet/ as it is now.`,
		Example: `  stopgate hooks install
  stopgate hooks install --user --slash-commands
  stopgate hooks install --project     teammates need stopgate on their PATH`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scope, _, err := where.scope(cmd)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("timeout") && timeout < shortestTimeout {
				return term.BadUsage(fmt.Errorf("--timeout must be at least %s", plain.Duration(shortestTimeout)), "for example: stopgate hooks install --timeout 40m")
			}
			h, err := here.FindNearest()
			if err != nil {
				return err
			}
			out := term.Prose(cmd.OutOrStdout())
			if err := install(cmd.Context(), h, out, scope, timeout, yes); err != nil {
				return err
			}
			if !paths.HasConfig(h.Root) {
				fmt.Fprintln(out, "note: stops are checked only in a project with .gauntlet/config.yml, and there is none here; to write one: stopgate init")
			}
			program, err := command(scope)
			if err != nil {
				return err
			}
			if statusLine {
				if err := installStatusLine(h, out, scope, program); err != nil {
					return err
				}
			}
			if !slash {
				return nil
			}
			return launcher.InstallSlashCommands(out, scope, h.Root, program)
		},
	}
	where.register(cmd)
	cmd.Flags().Var((*term.DurationFlag)(&timeout), "timeout", "how long Claude Code waits at a stop (default 20m)")
	cmd.Flags().BoolVar(&slash, "slash-commands", false, "also add /supervisor and /supervisoroff")
	cmd.Flags().BoolVar(&statusLine, "statusline", false, "also show stopgate's status line, unless you have one")
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without a terminal; for scripts (agents are refused)")
	return cmd
}

// installStatusLine adds the status line to the file that has the hooks. A person's own, in whichever
// settings, stays in force.
func installStatusLine(h *here.Place, out io.Writer, scope settings.Scope, program string) error {
	if all := settings.StatusLines(h.Root); len(all) > 0 {
		line := all[len(all)-1] // which is in force
		if line.Ours {
			fmt.Fprintf(out, "the status line is already in %s\n", line.Path)
			return nil
		}
		fmt.Fprintf(out, "left your status line in %s as it is; to see both, have it also print the output of: stopgate statusline\n", line.Path)
		return nil
	}
	path, err := settings.Path(scope, h.Root)
	if err != nil {
		return err
	}
	if err := settings.InstallStatusLine(path, program); err != nil {
		return err
	}
	fmt.Fprintf(out, "installed the status line in %s\n", path)
	return nil
}

// shortestTimeout leaves gates a little time beside what a hook needs for itself.
const shortestTimeout = 10 * time.Second

func install(ctx context.Context, h *here.Place, out io.Writer, scope settings.Scope, timeout time.Duration, yes bool) error {
	to, err := settingsTarget(h, scope)
	if err != nil {
		return err
	}
	to.timeout = timeout
	if scope == settings.User {
		// First, so that no moment has hooks everywhere and trust nowhere.
		if err := enforceTrust(h, out); err != nil {
			return err
		}
		return installHooks(h, out, to)
	}
	if err := installHooks(h, out, to); err != nil || !paths.HasConfig(h.Root) {
		return err // without a configuration, as in a worktree of an older branch, there is nothing to approve
	}
	if err := trust.RequirePerson("approve", yes); err != nil {
		if standing, _ := h.Trust().Standing(h.Root); standing.State != trust.Approved {
			fmt.Fprintf(out, "not approved: %s (%v)\n", h.ConfigDir(), err)
		}
		return nil
	}
	return approve(ctx, out, h, yes)
}

// target is a settings file that may take the hooks.
type target struct {
	scope     settings.Scope
	path      string
	plugin    string // which has the hooks, in the scope of that name; then no file gets them
	command   string
	installed []settings.Entry
	timeout   time.Duration // of a stop; 0: as long as its commands need
}

// target refuses a file that Claude Code drops or that cannot be edited, and one
// beside which another has the hooks already: two would answer every event twice.
func settingsTarget(h *here.Place, scope settings.Scope) (target, error) {
	files := settings.Inspect(h.Root)
	plugin, byPlugin := settings.CallingPlugin(files)
	if scope == settings.Plugin {
		return target{scope: scope, plugin: plugin.Plugin}, nil
	}
	if byPlugin {
		return target{}, term.WithHint(
			fmt.Errorf("the hooks are already installed, by the plugin %s", plain.Name(plugin.Plugin)),
			"to have them in the settings of this project instead, first run: "+plain.Line(plugin.Disable()),
		)
	}

	path, err := settings.Path(scope, h.Root)
	if err != nil {
		return target{}, err
	}
	to := target{scope: scope, path: path}
	if to.command, err = command(scope); err != nil {
		return to, err
	}

	for _, file := range files {
		living := slices.ContainsFunc(file.Entries, settings.Entry.Living)
		switch {
		case file.Path == path:
			to.installed = file.Entries
		case file.Plugin != "":
		case living && file.Scope == settings.Managed:
			return to, fmt.Errorf("the administrator already installed the hooks, in %s", file.Path)
		case living:
			return to, term.WithHint(
				fmt.Errorf("the hooks are already installed, in the %s settings %s", file.Scope, file.Path),
				fmt.Sprintf("to move them, first run: stopgate hooks uninstall --%s", file.Scope),
			)
		}
	}

	if err := settings.Check(path, settings.Plan(to.command, nil, to.installed, 0)); err != nil {
		return to, fmt.Errorf("cannot install the hooks: %w", err)
	}
	return to, nil
}

// installHooks merges the entries into the file.
func installHooks(h *here.Place, out io.Writer, to target) error {
	if to.scope == settings.Plugin {
		fmt.Fprintf(out, "left the hooks to the plugin %s\n", plain.Name(to.plugin))
		return nil
	}
	var project *config.Project
	if h.HasProject {
		// An invalid configuration is validate's to tell; its events come with
		// the next install.
		project, _ = config.LoadProject(h.ConfigDir(), h.Short(h.ConfigDir()))
	}
	changed, err := settings.Install(to.path, settings.Plan(to.command, project, to.installed, to.timeout))
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintf(out, "installed the hooks in %s\n", to.path)
	} else {
		fmt.Fprintf(out, "the hooks are already in %s\n", to.path)
	}
	excludeHooks(out, to)
	noteObstacles(h, out, to)
	return nil
}

// noteObstacles tells what keeps the hooks that are now installed from working.
func noteObstacles(h *here.Place, out io.Writer, to target) {
	if _, err := exec.LookPath("stopgate"); err != nil && to.scope == settings.Project {
		fmt.Fprintln(out, "note: stopgate is not on your PATH, so Claude Code cannot find it")
	}
	if h.Cwd != h.Root && to.scope != settings.User {
		fmt.Fprintf(out, "note: start claude in %s; started in %s it may not read this file\n", h.Root, h.Cwd)
	}
	if by, disabled := settings.Disabled(settings.Inspect(h.Root)); disabled {
		fmt.Fprintf(out, "note: %s switches all hooks off\n", by.Path)
	}
}

// command is how Claude Code shall call us: by the bare name in a file that
// others use too, else by the path that stays when the program is updated.
func command(scope settings.Scope) (string, error) {
	if scope == settings.Project {
		return settings.Program, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if onPath, err := exec.LookPath("stopgate"); err == nil && disk.Same(onPath, self) {
		return filepath.Abs(onPath)
	}
	// By the name we know our entries again.
	if name := program.Called(self); name != "stopgate" && name != "conclaude" {
		return "", term.WithHint(fmt.Errorf("cannot install hooks that call %s", self), "install the program under the name stopgate")
	}
	return self, nil
}

// enforceTrust turns trust on, unless the global config says something about it
// already.
func enforceTrust(h *here.Place, out io.Writer) error {
	changed, err := config.EnforceTrust(h.GlobalPath)
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintf(out, "wrote \"trust: enforce\" to %s: only projects you approve run anything\n", h.GlobalPath)
		h.Global, h.GlobalErr = trust.LoadGlobal(h.GlobalPath, h.StateDir)
	}
	return nil
}
