package gates

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// answerOptions are what somebody says about a violation.
type answerOptions struct {
	standing review.Standing
	why      string
	yes      bool
	asJSON   bool
}

func newViolationsFix() *cobra.Command {
	return answerCommand(&answerOptions{standing: review.Fixed}, &cobra.Command{
		Use:   "fix ID",
		Short: "Say that a violation is fixed",
		Long: `Say that a violation is fixed, and how. It stays open until the next review has
verified it.

ID may be the beginning of one. Exit code 2: there is no such violation. 3: a run
is going on.`,
		Example: `  stopgate violations fix 3fa9 --why "the query is prepared now"`,
	})
}

func newViolationsSkip() *cobra.Command {
	o := &answerOptions{standing: review.Skipped}
	cmd := answerCommand(o, &cobra.Command{
		Use:   "skip ID",
		Short: "Leave a violation as it is, for a reason",
		Long: `Leave a violation as it is, for a reason that the next run shows as a warning. A
critical one is for a person to skip, unless the configuration says
"violations: {skip_critical: anyone}".

ID may be the beginning of one. Exit code 1: it needs a person. 2: there is no such
violation. 3: a run is going on.`,
		Example: `  stopgate violations skip 3fa9 --why "the input is a constant"`,
	})
	cmd.Flags().BoolVar(&o.yes, "yes", false, "for scripts outside the client: do not ask for a terminal")
	return cmd
}

func answerCommand(o *answerOptions, cmd *cobra.Command) *cobra.Command {
	cmd.Args = term.OneArg
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) }
	cmd.Flags().StringVar(&o.why, "why", "", "what was done, or the reason; required")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the violation as JSON")
	return cmd
}

func (o *answerOptions) run(cmd *cobra.Command, id string) error {
	if o.why = strings.TrimSpace(o.why); o.why == "" {
		return term.BadUsage(errors.New("--why is missing"), "for example: "+strings.TrimSpace(cmd.Example))
	}
	h, options, err := gauntletHere(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if owner, held, err := logdir.At(filepath.Join(h.Root, filepath.FromSlash(options.Project.Config.Gauntlet.LogDir))).Held(); err == nil && held {
		return term.WithCode(term.WithHint(
			fmt.Errorf("a run is going on (%s) and has read the answers already", owner), "wait for it to end, then try again",
		), term.ExitCouldNotRun)
	}
	var answered openViolation
	err = ledger.Open(h.StateDir, h.Root).Update(cmd.Context(), func(state *ledger.State) (err error) {
		answered, err = o.answer(state, id, options.Project.Config.Gauntlet.SkipCritical)
		return err
	})
	if err != nil {
		return err
	}
	for _, err := range answered.write() {
		fmt.Fprintf(cmd.ErrOrStderr(), "stopgate: the answer counts, but it is not in the review's file: %v\n", err)
	}
	if o.asJSON {
		return term.PrintJSON(cmd.OutOrStdout(), answered)
	}
	after := "the next review verifies it"
	if o.standing == review.Skipped {
		after = "the next run names it as a warning"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s %s; %s\n", o.standing, answered.ID, term.Shown(answered.Location()), after)
	return nil
}

// answer puts the answer on record. The review's file alone would not do: it
// cannot tell who wrote it, and a clean takes it away.
func (o *answerOptions) answer(state *ledger.State, id string, who config.SkipCritical) (openViolation, error) {
	v, err := findViolation(openViolations(state.Open), id)
	if err != nil {
		return v, err
	}
	if o.standing == review.Skipped && v.Priority.AtLeast(config.Critical) && who != config.SkipByAnyone {
		if err := trust.RequirePerson("skip a critical violation", o.yes); err != nil {
			return v, err
		}
	}
	v.Status, v.Result = o.standing, o.why
	state.Mark(v.ID, v.Status, v.Result)
	if o.standing == review.Skipped && environ.Agent(os.Environ()) == "" {
		state.Restart()
	}
	return v, nil
}

// findViolation finds the one violation whose ID begins so.
func findViolation(all []openViolation, id string) (openViolation, error) {
	var found, near []string
	var last openViolation
	for _, v := range all {
		switch {
		case v.ID == id:
			return v, nil
		case id != "" && strings.HasPrefix(v.ID, id):
			found, last = append(found, v.ID), v
		}
		near = append(near, v.ID)
	}
	switch {
	case len(found) == 1:
		return last, nil
	case len(found) > 1:
		return last, term.BadUsage(fmt.Errorf("%q is the beginning of several: %s", id, strings.Join(found, ", ")), "write more of it")
	case len(all) == 0:
		return last, term.BadUsage(fmt.Errorf("there is no open violation %q, nor any other", id), "see: stopgate violations list")
	}
	return last, term.BadUsage(fmt.Errorf("there is no open violation %q", id), document.Hint(id, near, "see: stopgate violations list"))
}
