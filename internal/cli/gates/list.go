package gates

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewList() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "list",
		Short: "List the gates and where they apply",
		Long: `List the checks, the reviews and the entry points that use them.

Exit code 0: listed. 2: invalid configuration. 3: the configuration is not approved.`,
		Example: `  stopgate list
  stopgate list --json | jq -r '.checks[].command'`,
		Args: term.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (gateList, error) {
		_, options, err := gauntletHere(cmd.ErrOrStderr())
		if err != nil {
			return gateList{}, err
		}
		return listOf(options.Project.Gates), nil
	})
}

// gateList is what list shows.
type gateList struct {
	Checks      []checkView      `json:"checks"`
	Reviews     []reviewView     `json:"reviews"`
	EntryPoints []entryPointView `json:"entry_points"`
}

type checkView struct {
	Name    string `json:"name"`
	Command string `json:"command"`
}

type reviewView struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools"`
}

type entryPointView struct {
	Path    string   `json:"path"`
	Exclude []string `json:"exclude,omitempty"`
	Checks  []string `json:"checks"`
	Reviews []string `json:"reviews"`
}

func listOf(gates *config.Gates) gateList {
	list := gateList{[]checkView{}, []reviewView{}, []entryPointView{}}
	for _, check := range checksOf(gates) {
		list.Checks = append(list.Checks, checkView{check.Name, check.Command})
	}
	for _, review := range gates.Reviews() {
		list.Reviews = append(list.Reviews, reviewView{review.Name, review.CLIPreference})
	}
	for _, ep := range gates.EntryPoints {
		entry := entryPointView{ep.Path, ep.Exclude, []string{}, []string{}}
		for _, check := range ep.Checks {
			entry.Checks = append(entry.Checks, check.Name)
		}
		for _, review := range ep.Reviews {
			entry.Reviews = append(entry.Reviews, review.Name)
		}
		list.EntryPoints = append(list.EntryPoints, entry)
	}
	return list
}

// checksOf lists each check once, in the order of the entry points.
func checksOf(gates *config.Gates) []*config.Check {
	var all []*config.Check
	for _, ep := range gates.EntryPoints {
		for _, check := range ep.Checks {
			if !slices.Contains(all, check) {
				all = append(all, check)
			}
		}
	}
	return all
}

// gatesOf lists the gates of a kind; empty means both.
func gatesOf(gates *config.Gates, kind gauntlet.Kind) []*config.Gate {
	var all []*config.Gate
	if kind != gauntlet.KindReview {
		for _, check := range checksOf(gates) {
			all = append(all, &check.Gate)
		}
	}
	if kind != gauntlet.KindCheck {
		for _, review := range gates.Reviews() {
			all = append(all, &review.Gate)
		}
	}
	return all
}

// Print implements term.View.
func (l gateList) Print(out io.Writer) {
	p := term.PaintFor(out)
	section := func(title string, n int) {
		fmt.Fprintln(out, p.Bold(title+":"))
		if n == 0 {
			fmt.Fprintln(out, p.Faint("   none"))
		}
	}

	section("Check Gates", len(l.Checks))
	for _, check := range l.Checks {
		fmt.Fprintf(out, " - %s  %s\n", check.Name, p.Faint(plain.Line(check.Command)))
	}

	section("Review Gates", len(l.Reviews))
	for _, review := range l.Reviews {
		fmt.Fprintf(out, " - %s (Tools: %s)\n", review.Name, strings.Join(review.Tools, ", "))
	}

	section("Entry Points", len(l.EntryPoints))
	for _, ep := range l.EntryPoints {
		fmt.Fprintf(out, " - %s\n", term.Shown(ep.Path))
		for _, part := range []struct {
			name  string
			items []string
		}{{"Checks", ep.Checks}, {"Reviews", ep.Reviews}, {"Exclude", ep.Exclude}} {
			if len(part.items) > 0 {
				fmt.Fprintf(out, "     %s: %s\n", part.name, strings.Join(part.items, ", "))
			}
		}
	}
}
