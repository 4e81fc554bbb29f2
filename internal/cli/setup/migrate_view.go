package setup

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/migrate"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// migrationView is what was found of older tools, and what was done about it.
type migrationView struct {
	report  migrate.Report
	looked  []string // for which tools
	shown   func(path string) string
	backups string // where the copies are, once the files were changed
}

var _ term.Failing = migrationView{}

type changeView struct {
	Path string `json:"path"`
	New  bool   `json:"new"`
}

// JSON is what a program gets.
func (v migrationView) JSON() any {
	changes := []changeView{}
	for _, c := range v.report.Changes {
		changes = append(changes, changeView{c.Path, c.New()})
	}
	return struct {
		Tools   []migrate.Plan   `json:"tools"`
		Changes []changeView     `json:"changes"`
		Faults  []document.Fault `json:"faults,omitempty"`
		Next    []string         `json:"next,omitempty"`
		Backups string           `json:"backups,omitempty"`
	}{v.report.Plans, changes, v.report.Faults, v.report.Next(), v.backups}
}

// Failure is how the command ends.
func (v migrationView) Failure() error {
	if len(v.report.Faults) > 0 {
		return term.AlreadyTold(&document.Faults{All: v.report.Faults}, term.ExitUsage)
	}
	return nil
}

// Print implements term.View.
func (v migrationView) Print(out io.Writer) {
	for _, plan := range v.report.Plans {
		printPlan(out, plan)
	}
	if len(v.report.Faults) > 0 {
		here.PrintFaults(os.Stderr, nil, v.report.Faults)
		fmt.Fprintln(os.Stderr, "nothing was migrated; fix that, then run: stopgate migrate")
		return
	}
	switch {
	case len(v.report.Plans) == 0:
		fmt.Fprintf(out, "found nothing from %s\n", strings.Join(v.looked, ", "))
	case len(v.report.Changes) == 0:
		fmt.Fprintln(out, "there is nothing to change")
		v.printNext(out)
	case v.backups == "":
		fmt.Fprintln(out, "stopgate migrate --write changes:")
		for _, c := range v.report.Changes {
			fmt.Fprintf(out, "  %s%s\n", term.Shown(v.shown(c.Path)), newFile(c))
		}
	}
}

func newFile(c migrate.Change) string {
	if c.New() {
		return " (new)"
	}
	return ""
}

// printPlan shows a tool: a block for each setting, with its place and its fate.
func printPlan(out io.Writer, plan migrate.Plan) {
	p := term.PaintFor(out)
	fmt.Fprintf(out, "%s  %s\n", p.Bold(plan.Tool), p.Faint(plain.Line(strings.Join(plan.Found, ", "))))
	colours := map[migrate.Fate]func(string) string{migrate.Carried: p.Green, migrate.Differs: p.Yellow, migrate.Left: p.Red}
	for _, item := range plan.Items {
		fmt.Fprintf(out, "  %s  %s  %s\n", colours[item.Fate](fmt.Sprintf("%-7s", item.Fate)), p.Faint(plain.Line(item.Where)), plain.Line(item.Setting))
		if item.To != "" {
			fmt.Fprintf(out, "           → %s\n", plain.Line(item.To))
		}
		if item.Why != "" {
			fmt.Fprintf(out, "           %s\n", plain.Line(item.Why))
		}
	}
	fmt.Fprintln(out)
}

// printDone says what was changed, how to undo it, and what a person does next.
func (v migrationView) printDone(out io.Writer) {
	for _, c := range v.report.Changes {
		word := "changed"
		if c.New() {
			word = "wrote"
		}
		fmt.Fprintf(out, "%s %s\n", word, term.Shown(v.shown(c.Path)))
	}
	fmt.Fprintf(out, "copies of the old files are in %s; to restore them: stopgate migrate --undo\n", term.Shown(v.backups))
	v.printNext(out)
}

func (v migrationView) printNext(out io.Writer) {
	for i, next := range v.report.Next() {
		word := "next:"
		if i > 0 {
			word = "then:"
		}
		fmt.Fprintf(out, "%s %s\n", word, next)
	}
}
