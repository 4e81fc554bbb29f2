package setup

import (
	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/settings"
)

func NewHooks() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "Put stopgate into the client's settings, or take it out",
		Example: `  stopgate hooks install
  stopgate hooks status`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newHooksInstall(), newHooksUninstall(), newHooksStatus())
	return cmd
}

// scopeFlags choose a settings file.
type scopeFlags struct{ user, project, local bool }

func (f *scopeFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.user, "user", false, "your own settings, for all projects")
	cmd.Flags().BoolVar(&f.project, "project", false, "the project's settings, which are committed")
	cmd.Flags().BoolVar(&f.local, "local", false, "your own settings in this project")
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
