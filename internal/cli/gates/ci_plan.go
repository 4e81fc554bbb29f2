package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

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
	plan := ciPlan{Matrix: []ciJob{}, Services: ci.Services, Runtimes: ci.Runtimes}
	if plan.Services == nil {
		plan.Services = map[string]map[string]any{}
	}
	if plan.Runtimes == nil {
		plan.Runtimes = map[string]map[string]any{}
	}
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
