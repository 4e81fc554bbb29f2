package gates

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/program"
)

func NewCI() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "ci",
		Short: "Run the checks in GitHub Actions",
		Long: `Run the checks in GitHub Actions: init writes a workflow, which calls list-jobs to find the
jobs of each run.`,
		Example: `  stopgate ci init
  stopgate ci list-jobs | jq -r '.matrix[].id'`,
	}, newCIInit(), newCIListJobs())
}

// showFaults shows the faults of a configuration with their places and hints.
func showFaults(errOut io.Writer, err error) error {
	var faults *document.Faults
	if !errors.As(err, &faults) {
		return err
	}
	here.PrintFaults(errOut, nil, faults.All)
	return term.AlreadyTold(err, term.ExitUsage)
}

func newCIInit() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write .gauntlet/ci.yml and the workflow",
		Long: `Write .gauntlet/ci.yml with the checks that run in CI, unless it exists, and generate
.github/workflows/gauntlet.yml from it. Run it again after you change the services in
ci.yml; everything else is read at each run.

Exit code 0: written. 1: the workflow was edited, and --force is missing. 2: no project here,
or invalid configuration.`,
		Example: `  stopgate ci init
  stopgate ci init --force   overwrite a workflow that was edited`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := here.MustExist(here.FindNearest())
			if err != nil {
				return err
			}
			return showFaults(cmd.ErrOrStderr(), initCI(h, term.Prose(cmd.OutOrStdout()), force))
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a workflow that was edited")
	return cmd
}

const ciFile = "ci.yml"

// initCI follows the files as they stand, approved or not: it runs nothing of
// them.
func initCI(h *here.Place, out io.Writer, force bool) error {
	dir, shown := h.ConfigDir(), h.Short(h.ConfigDir())
	project, err := config.LoadProject(dir, shown)
	if err != nil {
		return err
	}
	gates, err := config.LoadGates(dir, shown, project)
	if err != nil {
		return err
	}

	ci, err := config.LoadCI(dir, shown)
	if errors.Is(err, fs.ErrNotExist) {
		starter := []byte(firstCI(gates))
		if ci, err = config.ParseCI(filepath.Join(shown, ciFile), starter); err == nil {
			err = writeNew(h, out, filepath.Join(dir, ciFile), starter)
		}
		if err == nil && h.Enforces() {
			fmt.Fprintln(out, "note: .gauntlet/ has changed; approve it with: stopgate trust")
		}
	}
	if err != nil {
		return err
	}

	top, inside := paths.GitRoot(h.Root)
	if !inside {
		top = h.Root
	}
	flow := workflow{ci: ci, release: releaseOf(program.Version()), base: project.Gauntlet.BaseBranch}
	if flow.folder, err = filepath.Rel(top, h.Root); err != nil {
		return err
	}
	return writeWorkflow(h, out, filepath.Join(top, ".github", "workflows", "gauntlet.yml"), flow, force)
}

func writeWorkflow(h *here.Place, out io.Writer, path string, flow workflow, force bool) error {
	there, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && !force && !isStamped(there) {
		return term.WithHint(fmt.Errorf("%s was edited and is not overwritten", h.Short(path)), "to overwrite it: stopgate ci init --force")
	}
	for _, name := range flow.unknownRuntimes() {
		fmt.Fprintf(out, "note: the workflow cannot install the runtime %s; add a step for it under setup in ci.yml\n", term.Shown(name))
	}
	return writeNew(h, out, path, stamp(flow.yaml()))
}

func writeNew(h *here.Place, out io.Writer, path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := atomicfile.Write(path, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %s\n", h.Short(path))
	return nil
}

// firstCI has every check that is meant for CI.
func firstCI(gates *config.Gates) string {
	var b strings.Builder
	b.WriteString(`# Which checks GitHub Actions runs, and what they need there.

runtimes: {}
#  node:
#    version: "22"

services: {}
#  postgres:
#    image: postgres:17
#    ports: ["5432:5432"]

setup: []
#  - name: Install
#    run: npm ci

`)
	var names []string
	for _, check := range checksOf(gates) {
		if check.RunInCI && !slices.Contains(names, check.Name) {
			names = append(names, check.Name)
		}
	}
	if len(names) == 0 {
		b.WriteString("checks: []\n")
		return b.String()
	}
	b.WriteString("checks:\n")
	for _, name := range names {
		fmt.Fprintf(&b, "  - name: %q\n", name)
	}
	return b.String()
}
