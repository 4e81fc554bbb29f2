package gates

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/need"
)

func NewHealth() *cobra.Command {
	return term.UntilShown(term.Shows(&cobra.Command{
		Use:   "health",
		Short: "Check the configuration and the programs that gates need",
		Long: `Check the configuration, git, the programs that checks need, and whether
reviewers are installed and have quota left. With "check_usage_limit: true"
each reviewer is sent a short prompt. stopgate doctor shows all of this too.

Exit code 0: every gate can run. 1: a gate lacks something, or health cannot
tell. 2: the configuration is not valid. 3: it was never approved.`,
		Example: `  stopgate health
  stopgate health --json | jq '.reviewers[] | select(.ok | not)'`,
		Args: term.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (health, error) {
		h, options, err := gauntletHere(cmd.ErrOrStderr())
		if err != nil {
			return health{}, err
		}
		return survey(cmd.Context(), h, options.Project, options.Environ), nil
	}))
}

// health is what health shows.
type health struct {
	Healthy bool   `json:"healthy"`
	Config  string `json:"config"`
	doctor.Health
}

func survey(ctx context.Context, h *here.Place, project *keeper.Project, environ []string) health {
	found := doctor.Survey{
		Project: project, Environ: environ, StateDir: h.StateDir, Needs: Needs, ReviewDir: project.Root,
		Reviewers: project.Config.Gauntlet.CLI.DefaultPreference,
		Ask:       project.Config.Gauntlet.CLI.CheckUsageLimit,
	}.CheckHealth(ctx)
	return health{Healthy: found.OK(), Config: h.Short(h.ConfigDir()), Health: found}
}

var _ term.Failing = health{}

// Failure is how the command ends.
func (h health) Failure() error { return term.FailedIf(!h.Healthy) }

// Print implements term.View.
func (h health) Print(out io.Writer) {
	p := term.PaintFor(out)
	row := func(ok bool, name, text string) {
		mark := p.Green("✓")
		if !ok {
			mark = p.Red("✗")
		}
		fmt.Fprintf(out, " %s %-14s %s\n", mark, name, text)
	}

	fmt.Fprintln(out, p.Bold("Config validation:"))
	row(true, h.Config, "valid")
	fmt.Fprintln(out, p.Bold("Programs:"))
	row(h.Git.OK, "git", h.Git.Says)
	for _, m := range h.Missing {
		row(false, m.Program, "Missing: "+m.Gate+" needs it")
	}
	for _, u := range h.Unsure {
		row(false, u.Command, "cannot tell whether it runs in "+u.Gate+": "+u.Remedy())
	}

	fmt.Fprintln(out, p.Bold("CLI Tool Health Check:"))
	if len(h.Reviewers) == 0 {
		fmt.Fprintln(out, p.Faint("   none configured"))
	}
	for _, r := range h.Reviewers {
		row(r.OK, r.Name, r.Words())
	}

	switch {
	case h.Healthy:
		fmt.Fprintln(out, p.Green("Every gate has what it needs."))
	case !h.Git.OK:
		fmt.Fprintln(out, p.Red("Install git: without it, changes cannot be detected."))
	}
	if len(h.Stranded) > 0 {
		fmt.Fprintf(out, "%s: install one, or name another in cli_preference\n",
			p.Red("No reviewer is available for "+strings.Join(h.Stranded, ", ")))
	}
}

// Needs has stopgated say what command lines need.
func Needs(ctx context.Context, question need.Question) (answer [][]need.Need, err error) {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return nil, err
	}
	stdin, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "command-needs")
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s command-needs: %w", program, err)
	}
	return answer, json.Unmarshal(out, &answer)
}
