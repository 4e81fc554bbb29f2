package gates

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newCIListJobs() *cobra.Command {
	return &cobra.Command{
		Use:   "list-jobs",
		Short: "Print the jobs of a CI run as one line of JSON",
		Long: `Print one line of JSON: the matrix of jobs, one for each check of ci.yml at each
entry point that lists it, and the services and runtimes of ci.yml.

Exit code 0: printed. 2: no project here, or invalid configuration. 3: not approved.`,
		Example: `  stopgate ci list-jobs | jq -r '.matrix[].command'`,
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, options, err := gauntletHere(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			ci, err := config.LoadCI(options.Project.ConfigDir, h.Short(h.ConfigDir()))
			live := filepath.Join(h.ConfigDir(), config.CIFile)
			if errors.Is(err, fs.ErrNotExist) && disk.IsRegular(live) {
				return term.CannotRun(errors.New(h.Short(live)+" was never approved"), "read it, then approve it with: stopgate trust")
			}
			if err != nil {
				return showFaults(cmd.ErrOrStderr(), err)
			}
			plan, err := planCI(ci, options.Project)
			if err != nil {
				return err
			}
			return term.PrintLine(cmd.OutOrStdout(), plan)
		},
	}
}

// ciPlan is what a workflow reads to make its jobs.
type ciPlan struct {
	Matrix   []ciJob                   `json:"matrix"`
	Services map[string]map[string]any `json:"services"`
	Runtimes map[string]map[string]any `json:"runtimes"`
}

type ciJob struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	EntryPoint       string   `json:"entry_point"`
	WorkingDirectory string   `json:"working_directory"`
	Command          string   `json:"command"`
	Runtimes         []string `json:"runtimes"`
	Services         []string `json:"services"`
	Setup            string   `json:"setup"`
	GlobalSetup      string   `json:"global_setup"`
}

// planCI makes a job of every check that both ci.yml and an entry point list.
func planCI(ci *config.CI, project *keeper.Project) (ciPlan, error) {
	plan := ciPlan{Matrix: []ciJob{}, Services: orEmpty(ci.Services), Runtimes: orEmpty(ci.Runtimes)}
	for _, check := range ci.Checks {
		if err := knownCICheck(project.Gates, check); err != nil {
			return ciPlan{}, err
		}
	}

	for _, job := range gauntlet.Jobs(project, []string{"CI=true"}) {
		i := slices.IndexFunc(ci.Checks, func(c config.CICheck) bool { return job.Check != nil && c.Name == job.Check.Name })
		if i < 0 {
			continue
		}
		check := &ci.Checks[i]
		plan.Matrix = append(plan.Matrix, ciJob{
			ID:               check.Name + "-" + strings.ReplaceAll(job.Entry, "/", "-"),
			Name:             check.Name,
			EntryPoint:       job.Entry,
			WorkingDirectory: job.Dir,
			Command:          job.Check.Command,
			Runtimes:         append([]string{}, check.RequiresRuntimes...),
			Services:         append([]string{}, check.RequiresServices...),
			Setup:            script(check.Setup),
			GlobalSetup:      script(ci.Setup),
		})
	}

	return plan, nil
}

// orEmpty is what a workflow reads in place of null.
func orEmpty(all map[string]map[string]any) map[string]map[string]any {
	if all == nil {
		return map[string]map[string]any{}
	}
	return all
}

// knownCICheck refuses a name that no entry point lists: the check would silently
// not run.
func knownCICheck(gates *config.Gates, check config.CICheck) error {
	var names []string
	for _, known := range checksOf(gates) {
		if known.Name == check.Name {
			return nil
		}
		names = append(names, known.Name)
	}
	hint := document.Hint(check.Name, names, "list it under checks of an entry point in config.yml")
	return term.BadUsage(fmt.Errorf("%s: no entry point has a check %q", check.Pos, check.Name), hint)
}

// script folds steps into the groups of a job's log.
func script(steps []config.CIStep) string {
	var lines []string
	for _, step := range steps {
		run := step.Run
		if step.WorkingDirectory != "" {
			shut := ")"
			if strings.ContainsAny(run, "#\n") {
				shut = "\n)" // a comment would swallow it
			}
			run = "(cd " + doubleQuote(step.WorkingDirectory) + " && " + run + shut
		}
		lines = append(lines, "echo "+doubleQuote("::group::"+plain.Line(step.Name)), run, `echo "::endgroup::"`)
	}
	return strings.Join(lines, "\n")
}

// doubleQuote makes one word of a text for a shell.
func doubleQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
}
