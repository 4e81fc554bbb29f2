package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewRegistry() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "registry",
		Short: "List, add and check the agents that sessions wake",
		Long: `List, add and check the entries of agent-registry.json: which agent is woken for Claude Code in
which tmux session, and how. Sessions without an entry wake no agent.`,
		Example: `  stopgate registry list
  stopgate registry add warden --session warden-main
  stopgate registry check`,
	}, newRegistryList(), newRegistryAdd(), newRegistryCheck())
}

// registryPath is where the registry lies.
func registryPath() (string, error) {
	global, err := paths.GlobalConfig()
	if err != nil {
		return "", err
	}
	return registry.Path(filepath.Dir(global)), nil
}

func newRegistryList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List agents, their sessions and what wakes them",
		Long: `List agents in the order in which a session is looked up: exact names first, then the first
pattern that matches.

Exit code 2: part of the file is invalid; the rest is listed.`,
		Example: `  stopgate registry list
  stopgate registry list --json | jq -r '.[] | select(.enabled) | .session'`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := registryPath()
			if err != nil {
				return err
			}
			r, err := registry.Load(path)
			list := agentViews(r)
			if asJSON {
				err = errors.Join(err, term.PrintJSON(cmd.OutOrStdout(), list))
			} else if err == nil || len(list) > 0 {
				printAgents(term.Prose(cmd.OutOrStdout()), list, path)
			}
			return withHintOf(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// withHintOf says how to see more of a registry's faults.
func withHintOf(err error) error {
	if _, ok := errors.AsType[*document.Faults](err); ok {
		return term.WithCode(term.WithHint(err, "see: stopgate registry check"), term.ExitUsage)
	}
	return err
}

// agentView is what people see of an agent.
type agentView struct {
	Session   string   `json:"session"`
	Agent     string   `json:"agent"`
	Transport string   `json:"transport"` // "" where the gateway is at fault
	Workspace string   `json:"workspace,omitempty"`
	Enabled   bool     `json:"enabled"`
	WakeOn    []string `json:"wake_on"` // null for everything
}

func agentViews(r *registry.Registry) []agentView {
	list := []agentView{}
	for _, a := range r.Agents() {
		list = append(list, agentView{
			Session: a.SessionName, Agent: a.AgentID, Transport: a.Gateway.Transport,
			Workspace: a.WorkingDirectory, Enabled: a.Enabled, WakeOn: a.WakeOn,
		})
	}
	// Exact names are looked up first, so they stand first.
	slices.SortStableFunc(list, func(a, b agentView) int { return patternLast(a.Session) - patternLast(b.Session) })
	return list
}

func patternLast(session string) int {
	if registry.IsPattern(session) {
		return 1
	}
	return 0
}

func printAgents(out io.Writer, list []agentView, path string) {
	if len(list) == 0 {
		fmt.Fprintf(out, "no agents in %s\nadd one with: stopgate registry add AGENT_ID --session NAME\n", path)
		return
	}
	rows := [][]string{{"SESSION", "AGENT", "TRANSPORT", "ENABLED", "WAKES ON", "WORKSPACE"}}
	for _, a := range list {
		rows = append(rows, []string{
			term.Shown(a.Session), term.Shown(a.Agent), cmp.Or(a.Transport, "-"), yesNo(a.Enabled), a.wakes(), cmp.Or(term.Shown(a.Workspace), "-"),
		})
	}
	lines := term.Table(rows, math.MaxInt, nil)
	lines[0] = term.PaintFor(out).Faint(lines[0])
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}

func (a agentView) wakes() string {
	switch {
	case a.WakeOn == nil:
		return "everything"
	case len(a.WakeOn) == 0:
		return "queues only"
	}
	return term.Shown(strings.Join(a.WakeOn, ", "))
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func newRegistryCheck() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "check",
		Short: "Check the registry for problems",
		Long: `Check agent-registry.json and print all problems with their position: syntax errors, unknown
names, missing programs, directories, variables and files, entries that never apply. No agent is
contacted, and no secret is printed.

A warning is an entry that works, but probably not as intended.

Exit code 0: no problems, or no registry. 1: problems.`,
		Example: `  stopgate registry check
  stopgate registry check --json | jq '.faults[].message'`,
		Args: term.NoArgs,
	}, func(*cobra.Command, []string) (registryReport, error) {
		path, err := registryPath()
		if err != nil {
			return registryReport{}, err
		}
		return registryReport{path, registry.Check(path, os.Environ())}, nil
	})
}

// registryReport is what was found in the registry at a path.
type registryReport struct {
	path string
	registry.Report
}

// JSON is what a program gets.
func (r registryReport) JSON() any {
	return map[string]any{
		"file": r.path, "agents": r.Agents,
		"faults": append([]document.Fault{}, r.Faults...), "warnings": append([]document.Fault{}, r.Warnings...),
	}
}

var _ term.Failing = registryReport{}

// Failure is how the command ends.
func (r registryReport) Failure() error { return term.FailedIf(len(r.Faults) > 0) }

// Print implements term.View.
func (r registryReport) Print(out io.Writer) {
	p := term.PaintFor(out)
	for _, fault := range r.Faults {
		term.PrintFault(out, "", fault)
	}
	for _, warning := range r.Warnings {
		term.PrintFault(out, p.Yellow("warning")+" ", warning)
	}
	switch {
	case len(r.Faults) > 0:
		fmt.Fprintln(out, p.Red(plain.Count(len(r.Faults), "problem")))
	case r.Agents == 0:
		fmt.Fprintf(out, "no agents in %s\nadd one with: stopgate registry add AGENT_ID --session NAME\n", r.path)
	default:
		fmt.Fprintf(out, "%s %s: %s\n", p.Green("valid"), r.path, plain.Count(r.Agents, "agent"))
	}
}
