package gates

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// answerOptions are what a user or an agent says about a violation.
type answerOptions struct {
	standing review.Standing
	why      string
	yes      bool
	asJSON   bool
}

func newViolationsFix() *cobra.Command {
	return answerCommand(&answerOptions{standing: review.Fixed}, &cobra.Command{
		Use:   "fix ID",
		Short: "Mark a violation as fixed",
		Long: `Mark a violation as fixed, and say how. It stays open until the next review verifies
the fix.

An id prefix is enough. Exit code 2: unknown violation. 3: another run is in progress.`,
		Example: `  stopgate violations fix 3fa9 --why "the query is prepared now"`,
	})
}

func newViolationsSkip() *cobra.Command {
	o := &answerOptions{standing: review.Skipped}
	cmd := answerCommand(o, &cobra.Command{
		Use:   "skip ID",
		Short: "Skip a violation, with a reason",
		Long: `Skip a violation, with a reason that the next run shows as a warning. Only a person can
skip a critical one, unless the configuration has "violations: {skip_critical: anyone}".

An id prefix is enough. Exit code 1: only a person can skip it. 2: unknown violation.
3: another run is in progress.`,
		Example: `  stopgate violations skip 3fa9 --why "the input is a constant"`,
	})
	cmd.Flags().BoolVar(&o.yes, "yes", false, "for scripts outside Claude Code: do not require a terminal")
	return cmd
}

func answerCommand(o *answerOptions, cmd *cobra.Command) *cobra.Command {
	cmd.Args = term.OneArg
	term.CompleteArgs(cmd, 1, violationIDs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) }
	cmd.Flags().StringVar(&o.why, "why", "", "what was done, or the reason (required)")
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
		return term.CannotRun(fmt.Errorf("another run is in progress (%s) and has already read the answers", owner), "wait for it to finish, then try again")
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
		fmt.Fprintf(cmd.ErrOrStderr(), "stopgate: the answer is recorded, but cannot be written to the review file: %v\n", err)
	}
	if o.asJSON {
		return term.PrintJSON(cmd.OutOrStdout(), answered)
	}

	after := "the next review verifies it"
	if o.standing == review.Skipped {
		after = "the next run shows it as a warning"
	}
	fmt.Fprintf(term.Prose(cmd.OutOrStdout()), "%s: %s %s; %s\n", o.standing, answered.ID, term.Shown(answered.Location()), after)
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
	found := map[string]string{}
	var known []string
	for _, v := range all {
		if id != "" && strings.HasPrefix(v.ID, id) {
			found[v.ID] = term.Shown(v.Location())
		}
		known = append(known, v.ID)
	}
	whole, err := term.OnlyOne(id, found, "open violation", document.Hint(id, known, "list them with: stopgate violations list"))
	for _, v := range all {
		if err == nil && v.ID == whole {
			return v, nil
		}
	}
	return openViolation{}, err
}

// write puts the violation's status and result into every review file that has
// it, for those who read it there.
func (v openViolation) write() (errs []error) {
	for _, path := range v.files {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a clean has archived it
		}
		edited, found, err := text, false, err
		if err == nil {
			edited, found, err = answerIn(text, &v.Violation)
		}
		if found {
			err = atomicfile.Write(path, edited, 0o600)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	return errs
}

// answerIn changes the status and the result of a violation in the text of a
// review file, and not one character besides.
func answerIn(text []byte, v *review.Violation) (edited []byte, found bool, err error) {
	file, err := review.ParseFile(text)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(file.Violations, func(entry review.Violation) bool { return entry.ID == v.ID })
	if i < 0 {
		return nil, false, nil
	}

	document, err := hujson.Parse(text)
	if err != nil {
		return nil, false, err
	}

	type change struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	patch, err := json.Marshal([]change{
		{"add", fmt.Sprintf("/violations/%d/status", i), string(v.Status)},
		{"add", fmt.Sprintf("/violations/%d/result", i), v.Result},
	})
	if err != nil {
		return nil, false, err
	}
	if err := document.Patch(patch); err != nil {
		return nil, false, err
	}

	edited = document.Pack()
	if file, err = review.ParseFile(edited); err != nil {
		return nil, false, err
	}
	if got := file.Violations[i]; got.Status != v.Status || got.Result != v.Result {
		return nil, false, errors.New("it has a duplicate field")
	}
	return edited, true, nil
}
