package here

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
)

// ChangeFlags say which changes count.
type ChangeFlags struct {
	base, commit string
	uncommitted  bool
}

func (f *ChangeFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.base, "base-branch", "b", "", "count changes from this branch or commit")
	cmd.Flags().StringVarP(&f.commit, "commit", "c", "", "only what this commit changed")
	cmd.Flags().BoolVarP(&f.uncommitted, "uncommitted", "u", false, "only uncommitted changes")
}

// Apply puts the flags over what the environment says.
func (f *ChangeFlags) Apply(cmd *cobra.Command, scope *change.Scope) error {
	if err := term.AtMostOne(cmd, "commit", "uncommitted"); err != nil {
		return err
	}
	if err := NotEmpty(cmd, "base-branch", "commit"); err != nil {
		return err
	}
	if f.base != "" {
		scope.Base, scope.Explicit = f.base, true
	}
	scope.Commit, scope.Uncommitted = f.commit, f.uncommitted
	return nil
}

// NotEmpty refuses a flag that was given nothing, as by a variable of a script
// that is not set: it would mean everything.
func NotEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return term.BadUsage(fmt.Errorf("--%s is empty", name), "see: "+cmd.CommandPath()+" --help")
		}
	}
	return nil
}
