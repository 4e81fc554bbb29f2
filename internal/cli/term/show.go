package term

import (
	"io"

	"github.com/spf13/cobra"
)

// Group is a command that only has others below it.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// View is what a command shows: in words, or as JSON. That is the view itself, unless it has
// a JSON() any of its own.
type View interface {
	Print(out io.Writer)
}

// Failing is a view that says how its command ends.
type Failing interface {
	View
	Failure() error
}

// Shows has a command show what look finds, with --json as JSON.
func Shows[V View](cmd *cobra.Command, look func(cmd *cobra.Command, args []string) (V, error)) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		view, err := look(cmd, args)
		switch {
		case cmd.Context().Err() != nil: // what was found until then says nothing
			return Ended(cmd.Context())
		case err != nil:
			return err
		}
		return Show(cmd.OutOrStdout(), *asJSON, view)
	}
	return cmd
}

// FailedIf is how a command ends that has said everything already.
func FailedIf(bad bool) error {
	if bad {
		return ErrSilent
	}
	return nil
}

// Show shows a view.
func Show(out io.Writer, asJSON bool, v View) error {
	if asJSON {
		var what any = v
		if own, ok := v.(interface{ JSON() any }); ok {
			what = own.JSON()
		}
		if err := PrintJSON(out, what); err != nil {
			return err
		}
	} else {
		v.Print(Prose(out))
	}

	if ends, ok := v.(Failing); ok {
		return ends.Failure()
	}
	return nil
}
