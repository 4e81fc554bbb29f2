package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

const whatItIs = `stopgate runs your checks and reviews when Claude Code is about to stop, and
sends the agent back to work when one fails.`

// firstDay are the commands that a new user needs, in that order.
var firstDay = []string{"init", "doctor", "run", "status", "log", "why"}

// inOneRow are the commands that stand in the row of another, which says both.
var inOneRow = map[string]struct{ with, short string }{
	"on":     {"off", "Turn stopgate off in this project for a while, or on again"},
	"review": {"check", "Run only the checks, or only the reviews, for what changed"},
	"worker": {"work", "Show and fill queues, and run pipelines for their items"},
}

const longestRow = len("check, review")

const exitCodesLine = "Exit codes: 0 done, 1 failed, 2 usage, 3 could not run; see help exit-codes."

// showFirstScreen has the root show all commands on one screen.
func showFirstScreen(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd != root {
			term.PrintHelp(cmd)
			return
		}
		printFirstScreen(root, cmd.OutOrStdout())
	})
}

func printFirstScreen(root *cobra.Command, out io.Writer) {
	firstScreen(root, out, term.PaintFor(out), min(widest, term.WidthOf(out)))
}

// firstScreen is the first screen in lines of at most width columns.
func firstScreen(root *cobra.Command, out io.Writer, p term.Paint, width int) {
	fmt.Fprintf(out, "%s\n\n%s\n", lines(root.Long, width), p.Bold("The first day:"))
	for _, name := range firstDay {
		if cmd, _, err := root.Find([]string{name}); err == nil {
			fmt.Fprintln(out, groupRow(root.Name()+" "+name, cmd.Short, len(root.Name())+7, width))
		}
	}
	fmt.Fprintln(out)

	for _, g := range root.Groups() {
		printGroup(root, g, p, width, out)
	}
	usage := fmt.Sprintf("Usage: %[1]s COMMAND (\"%[1]s COMMAND --help\" shows flags and examples)", root.Name())
	fmt.Fprintf(out, "%s\n%s\n", lines(usage, width), lines(exitCodesLine, width))
}

// widest is how wide the first screen is where the terminal is not narrower.
const widest = 80

func lines(text string, width int) string { return strings.Join(term.Reflow(text, width), "\n") }

// printGroup lists the commands of a group. Those of the first day are listed already, and of the
// ones that are seldom typed, as most are called by hooks and scripts, the names are enough.
func printGroup(root *cobra.Command, g *cobra.Group, p term.Paint, width int, out io.Writer) {
	var names []string
	var rows []string
	for _, cmd := range root.Commands() {
		if cmd.GroupID != g.ID || slices.Contains(firstDay, cmd.Name()) {
			continue
		}
		names = append(names, cmd.Name())
		if row, joined := inOneRow[cmd.Name()]; joined { // it follows the other
			rows[len(rows)-1] = groupRow(row.with+", "+cmd.Name(), row.short, longestRow, width)
			continue
		}
		rows = append(rows, groupRow(cmd.Name(), cmd.Short, longestRow, width))
	}
	if g.ID == groupTools {
		rows = term.Wrapped("  ", strings.Join(names, ", "), width)
	}
	fmt.Fprintln(out, p.Bold(g.Title))
	fmt.Fprintln(out, strings.Join(rows, "\n"))
}

func groupRow(name, short string, longest, width int) string {
	return strings.Join(term.HelpRow(fmt.Sprintf("  %-*s  ", longest, name), short, width), "\n")
}

// newExitCodes is a page of the help, not a command.
func newExitCodes() *cobra.Command {
	var b strings.Builder
	b.WriteString("The exit codes of all commands but the hooks:\n")
	last := -1
	for _, s := range term.Situations {
		code := ""
		if s.Code != last {
			code = fmt.Sprint(s.Code)
		}
		fmt.Fprintf(&b, "\n  %-4s %s", code, s.What)
		last = s.Code
	}
	b.WriteString("\n\nHooks exit with 0, or with 1 if they could not read their input. They never exit\nwith 2, which means block to Claude Code.")
	return &cobra.Command{
		Use:     "exit-codes",
		Short:   "What the exit codes mean",
		Long:    b.String(),
		Example: "  stopgate help exit-codes",
	}
}
