// Package gates has the commands that run gates and show what came of them.
package gates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/attestation"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// runOptions are those of run, check and review.
type runOptions struct {
	kind    gauntlet.Kind // empty: both
	gate    string
	changes here.ChangeFlags
	noCache bool
	asJSON  bool
	attest  bool
	reports []string
	// opinions are what was made of the commit's attestations, and remarks the same in words.
	opinions []attestation.Opinion
	remarks  []string
}

func NewRun() *cobra.Command {
	o := &runOptions{}
	cmd := runCommand(o, &cobra.Command{
		Use:   "run",
		Short: "Run the gates for what changed",
		Example: `  stopgate run
  stopgate run --uncommitted --report /tmp/gates.md
  stopgate run --attest && git push origin refs/notes/stopgate
  stopgate run --json | jq '.gates[] | select(.outcome == "failed")'`,
	})
	cmd.Flags().BoolVar(&o.attest, "attest", false, "put the passes on the commit, signed, for verify-proof in CI (agents are refused)")
	return cmd
}

func NewCheck() *cobra.Command {
	return runCommand(&runOptions{kind: gauntlet.KindCheck}, &cobra.Command{
		Use:   "check",
		Short: "Run only the checks for what changed",
		Example: `  stopgate check
  stopgate check --gate lint --no-cache`,
	})
}

func NewReview() *cobra.Command {
	return runCommand(&runOptions{kind: gauntlet.KindReview}, &cobra.Command{
		Use:   "review",
		Short: "Run only the reviews for what changed",
		Example: `  stopgate review
  stopgate review --gate security --commit HEAD`,
	})
}

const runHelp = `
Changes are counted from the base branch: --base-branch, else the base branch of the CI
job, else base_branch in .gauntlet/config.yml, else the remote's default branch. In CI, if the
base branch already has the commit, the changes of the push are counted. A gate that passed does not
run again while nothing changes. A gate with an open failure always runs.

A report in a folder that git does not ignore counts as a change itself. In GitHub Actions
what failed is also printed as annotations.

Exit code 0: passed, or nothing to do. 1: failed. 2: usage or configuration error. 3: could
not run. 130: interrupted. 141: broken pipe.`

func runCommand(o *runOptions, cmd *cobra.Command) *cobra.Command {
	cmd.Long = cmd.Short + ".\n" + runHelp
	cmd.Args = term.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }
	o.changes.Register(cmd)
	cmd.Flags().StringVarP(&o.gate, "gate", "g", "", "run only the gate with this name")
	term.CompleteFlag(cmd, "gate", func(context.Context) []string { return gateNames(o.kind) })
	cmd.Flags().BoolVar(&o.noCache, "no-cache", false, "also run gates that are unchanged since they passed")
	o.registerOutput(cmd)
	return cmd
}

func (o *runOptions) registerOutput(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.reports, "report", nil, "write a report: NAME.xml for JUnit, NAME.md for Markdown; can be repeated")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the result as JSON and nothing else")
}

func (o *runOptions) run(cmd *cobra.Command) error {
	reports, err := reportsFor(o.reports)
	if err != nil {
		return err
	}
	if err := here.NotEmpty(cmd, "gate"); err != nil {
		return err
	}

	h, options, err := gauntletHere(cmd.ErrOrStderr())
	if err != nil {
		return err
	}

	options.Kind, options.Gate, options.NoCache = o.kind, o.gate, o.noCache
	if err := o.changes.Apply(cmd, &options.Scope); err != nil {
		return err
	}
	if err := knownGate(options.Project.Gates, o.kind, o.gate); err != nil {
		return err
	}

	if !o.attest {
		return o.finish(cmd, h, options, reports, nil)
	}
	a, err := newAttester(cmd, h, options)
	if err != nil {
		return err
	}
	return o.finish(cmd, h, options, reports, a.attest)
}

// runView is a run as JSON: its result, and what attestations have to do with it.
type runView struct {
	gauntlet.Result
	Attested     *attested             `json:"attested,omitempty"`
	Attestations []attestation.Opinion `json:"attestations,omitempty"`
}

// finish runs the gates, and leaves what comes of it in all the places where it was asked for. What is
// to follow on gates that passed comes last.
func (o *runOptions) finish(cmd *cobra.Command, h *here.Place, options gauntlet.Options, reports []report, then func(*runView) error) error {
	ctx, stop := term.UntilEnded(cmd.Context())
	defer stop()
	out := runView{Result: o.show(ctx, cmd, h, options), Attestations: o.opinions}
	stop()
	result := &out.Result
	if result.Err != nil {
		return badRevision(result.Err)
	}

	result.Notes = append(result.Notes, o.remarks...)
	if annotated(os.Environ()) && !o.asJSON {
		annotate(cmd.OutOrStdout(), result, h.Root)
	}

	code := exitFor(result)
	if code == term.ExitInterrupted && term.BrokenPipe(ctx) {
		code = term.ExitBrokenPipe
	}

	var failed error
	if then != nil && code == term.ExitOK {
		failed = then(&out)
	}
	if o.asJSON && failed == nil {
		_ = term.PrintJSON(cmd.OutOrStdout(), out) // a reader that is gone still has the exit code
	}

	for _, r := range reports {
		if err := r.write(result); err != nil {
			return term.WithCode(fmt.Errorf("cannot write the report: %w", err), cmp.Or(code, term.ExitCouldNotRun))
		}
	}
	if code != term.ExitOK {
		return term.WithCode(nil, code)
	}
	return failed
}

// badRevision is the error for a revision that the user named and that does not exist.
func badRevision(err error) error {
	hint := "see: git log --oneline"
	if base, ok := errors.AsType[*change.BaseError](err); ok {
		hint = base.Hint
	}
	return term.BadUsage(err, hint)
}

// gauntletHere is what commands about gates start from.
func gauntletHere(errOut io.Writer) (*here.Place, gauntlet.Options, error) {
	h, err := here.MustExist(here.FindHere())
	if err != nil {
		return nil, gauntlet.Options{}, err
	}
	project, notices, err := h.Gates()
	for _, notice := range notices {
		fmt.Fprintln(errOut, "stopgate: "+notice)
	}
	return h, h.Options(project), err
}

// knownGate refuses the name of a gate that there is not.
func knownGate(gates *config.Gates, kind gauntlet.Kind, name string) error {
	if name == "" {
		return nil
	}
	var names []string
	for _, g := range gatesOf(gates, kind) {
		if g.Name == name {
			return nil
		}
		names = append(names, g.Name)
	}
	noun := "gate"
	if kind != "" {
		noun = string(kind)
	}
	return term.BadUsage(errors.New("unknown "+noun+" "+strconv.Quote(name)), document.Hint(name, names, "see: stopgate list"))
}

// show runs the gates in the manner that suits whoever looks: in place on a
// terminal, line by line elsewhere, or not at all.
func (o *runOptions) show(ctx context.Context, cmd *cobra.Command, h *here.Place, options gauntlet.Options) gauntlet.Result {
	out := cmd.OutOrStdout()
	if o.asJSON {
		return gauntlet.Execute(ctx, options)
	}

	if file, ok := term.IsScreen(out); ok {
		view := term.NewScreen(file)
		result := watched(ctx, view, term.PaintFor(out), options, gauntlet.Execute)
		if result.Err == nil { // else it is the caller's to tell
			width, _ := view.Size()
			summary{out: out, paint: term.PaintFor(out), short: h.Short, width: width}.print(&result)
		}
		return result
	}

	options.Console = out
	result := gauntlet.Execute(ctx, options)
	if result.Err != nil {
		return result
	}

	if result.Status.CouldNotRun() && result.ConsoleLogPath == "" {
		out = cmd.ErrOrStderr() // it ended before there was a console to print to
		fmt.Fprintln(out, "stopgate: "+plain.Line(result.Sentence()))
	}
	summary{out: out, paint: term.PaintFor(out), short: h.Short}.follow(&result)
	return result
}

// watched runs the gates under a live view, which is gone when it returns, or
// panics.
func watched(ctx context.Context, s *term.Screen, p term.Paint, options gauntlet.Options, execute func(context.Context, gauntlet.Options) gauntlet.Result) gauntlet.Result {
	view := startLive(ctx, s, p, time.Now)
	defer view.close()
	options.Watch = view.watch
	return execute(ctx, options)
}
