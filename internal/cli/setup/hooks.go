package setup

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/question"
)

func NewHooks() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "hooks",
		Short: "Install, remove or show the hooks in Claude Code's settings",
		Example: `  stopgate hooks install
  stopgate hooks status`,
	}, newHooksInstall(), newHooksUninstall(), newHooksStatus())
}

// scopeFlags choose a settings file.
type scopeFlags struct{ user, project, local bool }

func (f *scopeFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.user, "user", false, "for you, in all projects: ~/.claude/settings.json")
	cmd.Flags().BoolVar(&f.project, "project", false, "for the team: .claude/settings.json, committed")
	cmd.Flags().BoolVar(&f.local, "local", false, "for you, in this project: .claude/settings.local.json")
}

// scope is the one that was chosen, if one was.
func (f *scopeFlags) scope(cmd *cobra.Command) (scope settings.Scope, chosen bool, err error) {
	if err := term.AtMostOne(cmd, "user", "project", "local"); err != nil {
		return settings.Local, false, err
	}
	switch {
	case f.user:
		return settings.User, true, nil
	case f.project:
		return settings.Project, true, nil
	case f.local:
		return settings.Local, true, nil
	}
	return settings.Local, false, nil
}

func newHooksUninstall() *cobra.Command {
	var where scopeFlags
	var yes bool

	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the hooks (default: from every settings file in force here)",
		Long: `Remove stopgate's hooks from Claude Code's settings. A settings file without
other changes becomes what it was before, to the byte. Agents are refused, and
scripts need --yes.`,
		Example: `  stopgate hooks uninstall
  stopgate hooks uninstall --user`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			only, chosen, err := where.scope(cmd)
			if err != nil {
				return err
			}
			if err := trust.RequirePerson("remove the hooks", yes); err != nil {
				return err
			}
			h, err := here.FindNearest()
			if err != nil {
				return err
			}

			out := term.Prose(cmd.OutOrStdout())
			if !chosen && !yes {
				if err := agreeToUninstall(h, cmd.InOrStdin(), out); err != nil {
					return err
				}
			}
			return uninstall(h, out, only, chosen)
		},
	}

	where.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; for scripts (agents are refused)")
	return cmd
}

// agreeToUninstall asks a person before the hooks of all projects go: without a scope, that is easily overlooked.
func agreeToUninstall(h *here.Place, in io.Reader, out io.Writer) error {
	var lines []string
	forAll := false
	for _, file := range settings.Inspect(h.Root) {
		if !file.Scope.Editable() || len(file.Entries) == 0 {
			continue
		}
		line := plain.Name(file.Path)
		if file.Scope == settings.User {
			line, forAll = line+", for all projects", true
		}
		lines = append(lines, line)
	}
	if !forAll {
		return nil
	}

	fmt.Fprintln(out, "This removes the hooks from")
	for _, line := range lines {
		fmt.Fprintln(out, "  - "+line)
	}
	if ok, err := (question.Asker{In: bufio.NewReader(in), Out: out}).Agreed("Continue?", "no"); err != nil || !ok {
		return cmp.Or(err, errors.New("nothing was changed"))
	}
	return nil
}

// include takes the lines out by which git ignores a settings file that has no hooks any more, in no
// worktree.
func include(h *here.Place, out io.Writer, file settings.File) (failed error) {
	hooked := func(root string) bool {
		return slices.ContainsFunc(settings.Inspect(root), func(f settings.File) bool { return f.Scope == file.Scope && len(f.Entries) > 0 })
	}
	if slices.ContainsFunc(worktrees([]string{h.Root}), hooked) {
		return nil
	}
	for _, e := range exclusions(file.Scope, file.Path) {
		if !e.there() {
			continue
		}
		if err := e.remove(); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		fmt.Fprintf(out, "removed the line for %s from %s\n", e.file, e.list)
	}
	return failed
}

func uninstall(h *here.Place, out io.Writer, only settings.Scope, chosen bool) error {
	found := false
	var failed error
	for _, file := range settings.Inspect(h.Root) {
		if plugin := file.Plugin; plugin != "" && file.By.On && !chosen {
			fmt.Fprintf(out, "left the plugin %s, which still calls stopgate; to remove it: %s\n", plain.Name(plugin), plain.Line(file.Remove()))
			found = true
		}
		if !file.Scope.Editable() || chosen && file.Scope != only {
			continue
		}

		removed, err := launcher.UninstallSlashCommands(out, file.Scope, h.Root)
		found, failed = found || removed, errors.Join(failed, err)
		changed := false
		if file.Exists {
			changed, err = settings.Uninstall(file.Path)
		}
		if err == nil {
			err = include(h, out, file)
		}
		if failed = errors.Join(failed, err); changed {
			found = true
			fmt.Fprintf(out, "removed the hooks from %s\n", file.Path)
		}
	}

	if !found && failed == nil {
		fmt.Fprintln(out, "the hooks are not installed here")
	}
	return failed
}
