package term

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	pipeWidth    = 80  // of a help that is not on a terminal
	longestWidth = 100 // longer lines are hard to read
)

// FitHelp has every command of a tree print its help in lines that fit the terminal.
func FitHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { PrintHelp(cmd) })
}

// PrintHelp prints the help of a command in lines that fit the terminal.
func PrintHelp(cmd *cobra.Command) {
	out := cmd.OutOrStdout()
	_, _ = io.WriteString(out, HelpText(cmd, helpWidth(out)))
}

func helpWidth(out io.Writer) int {
	if _, ok := IsScreen(out); !ok {
		return pipeWidth
	}
	return min(WidthOf(out), longestWidth)
}

// HelpText is the help of a command in lines of at most width columns. Examples stay as they are: a
// terminal breaks them so that they can be copied.
func HelpText(cmd *cobra.Command, width int) string {
	cmd.InitDefaultHelpFlag()
	long := strings.ReplaceAll(cmp.Or(cmd.Long, cmd.Short), "\t", "  ") // which leaves cobra's commands whole in 80 columns
	parts := []string{strings.Join(Reflow(long, width), "\n")}
	part := func(title string, lines []string) {
		if len(lines) > 0 {
			parts = append(parts, title+":\n"+strings.Join(lines, "\n"))
		}
	}

	if cmd.Runnable() || cmd.HasSubCommands() { // or it is only a page of the help
		part("Usage", usageLines(cmd))
	}
	if len(cmd.Aliases) > 0 {
		part("Aliases", []string{"  " + cmd.NameAndAliases()})
	}
	if cmd.HasExample() {
		part("Examples", []string{cmd.Example})
	}
	part("Available Commands", commandRows(cmd, width))
	part("Flags", flagRows(cmd.LocalFlags(), width))
	if cmd.HasAvailableSubCommands() {
		more := fmt.Sprintf("Use %q for more information about a command.", cmd.CommandPath()+" [command] --help")
		parts = append(parts, strings.Join(Reflow(more, width), "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func usageLines(cmd *cobra.Command) (lines []string) {
	if cmd.Runnable() {
		lines = append(lines, "  "+cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		lines = append(lines, "  "+cmd.CommandPath()+" [command]")
	}
	return lines
}

func commandRows(parent *cobra.Command, width int) (lines []string) {
	longest := 0
	for _, cmd := range parent.Commands() {
		longest = max(longest, len(cmd.Name()))
	}
	for _, cmd := range parent.Commands() {
		if cmd.IsAvailableCommand() {
			lines = append(lines, HelpRow(fmt.Sprintf("  %-*s   ", longest, cmd.Name()), cmd.Short, width)...)
		}
	}
	return lines
}

func flagRows(flags *pflag.FlagSet, width int) (lines []string) {
	for line := range strings.Lines(flags.FlagUsages()) {
		line = strings.TrimRight(line, "\n")
		text := strings.LastIndex(line, "   ") + len("   ") // which nothing has but the space before the description
		lines = append(lines, HelpRow(line[:text], line[text:], width)...)
	}
	return lines
}

// HelpRow is a name and what it means, which continues below where it began.
func HelpRow(name, meaning string, width int) []string {
	const least = 20 // narrower columns have one word each
	return Hang(name, Wrap(meaning, max(least, width-Cells(name))))
}
