package cli

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/gauntlet/review"
	"github.com/stopgate/stopgate/internal/keeper"
	"github.com/stopgate/stopgate/internal/plain"
)

func newHealth() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check the configuration and the programs that gates need",
		Long: `Check the configuration, git, and the reviewers that the configuration prefers:
whether they are installed, and whether their quota is used up. With
"check_usage_limit: true" each of them is asked for a word.

Exit code 0: every gate can run. 1: a gate lacks something. 2: the configuration is
wrong. 3: it was never approved.`,
		Example: `  stopgate health
  stopgate health --json | jq '.reviewers[] | select(.ok | not)'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, options, err := gauntletHere(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			ctx, stop := untilEnded(cmd.Context())
			defer stop()
			found := h.health(ctx, options.Project, options.Environ)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), found)
			} else {
				found.print(cmd.OutOrStdout())
			}
			if err == nil && !found.Healthy {
				err = silentError{}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// health is what health shows. Ok means that something can be used now.
type health struct {
	Healthy   bool             `json:"healthy"`
	Config    string           `json:"config"`
	Git       toolHealth       `json:"git"`
	Reviewers []reviewerHealth `json:"reviewers"`
	// Stranded are the reviews that none of their reviewers can make.
	Stranded []string `json:"stranded"`
}

type toolHealth struct {
	OK   bool   `json:"ok"`
	Path string `json:"path,omitempty"`
	Says string `json:"says,omitempty"`
}

type reviewerHealth struct {
	Name string `json:"name"`
	toolHealth
	CoolingUntil *time.Time `json:"cooling_until,omitempty"`
}

func (h *here) health(ctx context.Context, project *keeper.Project, environ []string) health {
	found := health{Config: h.short(h.configDir()), Git: gitHealth(ctx), Reviewers: []reviewerHealth{}, Stranded: []string{}}
	reviews := reviewsOf(project.Gates)
	for _, r := range review.CheckHealth(ctx, review.Survey{
		Adapters: reviewersOf(project.Config.Gauntlet.CLI.DefaultPreference, reviews),
		Root:     project.Root,
		Environ:  environ,
		StateDir: h.stateDir,
		Now:      time.Now,
		Probe:    project.Config.Gauntlet.CLI.CheckUsageLimit,
	}) {
		found.Reviewers = append(found.Reviewers, reviewerHealthOf(r))
	}
	for _, r := range reviews {
		if !slices.ContainsFunc(r.CLIPreference, found.usable) {
			found.Stranded = append(found.Stranded, r.Name)
		}
	}
	found.Healthy = found.Git.OK && len(found.Stranded) == 0
	return found
}

// reviewersOf lists the reviewers that the configuration names, preferred ones
// first.
func reviewersOf(preferred []string, reviews []*config.Review) []string {
	names := slices.Clone(preferred)
	for _, r := range reviews {
		for _, name := range r.CLIPreference {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func reviewerHealthOf(h review.Health) reviewerHealth {
	r := reviewerHealth{Name: h.Adapter, toolHealth: toolHealth{OK: h.Err == nil, Path: h.Path}}
	if h.Err != nil {
		r.Says = plain.Line(h.Err.Error())
	}
	if !h.Cooling.IsZero() {
		r.CoolingUntil = &h.Cooling
	}
	return r
}

func (h *health) usable(reviewer string) bool {
	return slices.ContainsFunc(h.Reviewers, func(r reviewerHealth) bool { return r.Name == reviewer && r.OK })
}

func gitHealth(ctx context.Context) toolHealth {
	path, err := exec.LookPath("git")
	if err != nil {
		return toolHealth{Says: "not installed"}
	}
	version, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return toolHealth{Path: path, Says: plain.Line(err.Error())}
	}
	return toolHealth{OK: true, Path: path, Says: plain.Line(string(version))}
}

func (h *health) print(out io.Writer) {
	p := paintFor(out)
	row := func(ok bool, name, text string) {
		mark := p.green("✓")
		if !ok {
			mark = p.red("✗")
		}
		fmt.Fprintf(out, " %s %-14s %s\n", mark, name, text)
	}
	fmt.Fprintln(out, p.bold("Config validation:"))
	row(true, h.Config, "valid")
	fmt.Fprintln(out, p.bold("Programs:"))
	row(h.Git.OK, "git", h.Git.Says)
	fmt.Fprintln(out, p.bold("CLI Tool Health Check:"))
	if len(h.Reviewers) == 0 {
		fmt.Fprintln(out, p.faint("   none is configured"))
	}
	for _, r := range h.Reviewers {
		row(r.OK, r.Name, r.words())
	}
	switch {
	case h.Healthy:
		fmt.Fprintln(out, p.green("Nothing is missing that reviews need."))
	case !h.Git.OK:
		fmt.Fprintln(out, p.red("Without git no change can be seen: install it."))
	}
	if len(h.Stranded) > 0 {
		fmt.Fprintf(out, "%s: install one of their reviewers, or name another in cli_preference\n",
			p.red("No reviewer can be asked for "+strings.Join(h.Stranded, ", ")))
	}
}

func (r *reviewerHealth) words() string {
	switch {
	case r.Path == "":
		return "Missing: it is not on the PATH"
	case r.CoolingUntil != nil:
		return fmt.Sprintf("its quota is used up; left alone until %s (%s)", r.CoolingUntil.Local().Format(time.DateTime), r.Path)
	case !r.OK:
		return r.Says + " (" + r.Path + ")"
	}
	return "Installed (" + r.Path + ")"
}
