// Package manual writes the man pages of a command tree: one for the program, and one for each of its
// commands with all that is below it. Packages carry them; the program itself does not link this.
package manual

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// section is the part of the manual that holds what users type.
const section = "1"

// Page is one file of the manual.
type Page struct {
	Name string // of the file: stopgate-run.1
	Text string
}

// Edition is what the foot of each page says.
type Edition struct {
	Version string
	Date    string // as 2026-11-17, so that the same source gives the same page
}

// Pages are the pages of a command tree.
func Pages(root *cobra.Command, edition Edition) []Page {
	pages := []Page{{root.Name() + "." + section, overview(root, edition)}}
	for _, cmd := range shown(root) {
		if isTopic(cmd) {
			continue // a part of the overview
		}
		pages = append(pages, Page{title(cmd) + "." + section, describe(cmd, edition)})
	}
	return pages
}

// overview is the page of the program: what it is for, and which commands it has.
func overview(root *cobra.Command, edition Edition) string {
	r := begin(root, edition)
	r.heading("SYNOPSIS")
	r.line(bold(root.Name()) + " " + italic("COMMAND") + " [" + italic("FLAGS") + "]")
	r.heading("DESCRIPTION")
	r.prose(root.Long)

	r.heading("COMMANDS")
	for _, group := range root.Groups() {
		r.subheading(strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range shown(root) {
			if cmd.GroupID == group.ID {
				r.item(bold(title(cmd))+"("+section+")", cmd.Short)
			}
		}
	}
	for _, cmd := range shown(root) {
		if isTopic(cmd) {
			r.heading(strings.ToUpper(strings.ReplaceAll(cmd.Name(), "-", " ")))
			r.prose(cmd.Long)
		}
	}
	return r.String()
}

// describe is the page of a command.
func describe(cmd *cobra.Command, edition Edition) string {
	r := begin(cmd, edition)
	r.heading("SYNOPSIS")
	r.line(synopsis(cmd))
	if cmd.Long != "" {
		r.heading("DESCRIPTION")
		r.prose(cmd.Long)
	}
	if flags := options(cmd); len(flags) > 0 {
		r.heading("OPTIONS")
		r.options(flags)
	}
	if len(shown(cmd)) > 0 {
		r.heading("COMMANDS")
		describeBelow(r, cmd)
	}
	if cmd.Example != "" {
		r.heading("EXAMPLES")
		r.verbatim(cmd.Example)
	}
	r.heading("SEE ALSO")
	r.line(bold(cmd.Root().Name()) + "(" + section + ")")
	return r.String()
}

// describeBelow describes the commands below one, each in a part of its own.
func describeBelow(r *roff, parent *cobra.Command) {
	for _, cmd := range shown(parent) {
		r.subheading(cmd.CommandPath())
		r.line(synopsis(cmd))
		if cmd.Long != "" {
			r.prose(cmd.Long)
		} else {
			r.prose(cmd.Short + ".")
		}
		r.options(options(cmd))
		if cmd.Example != "" {
			r.prose("Examples:")
			r.verbatim(cmd.Example)
		}
		describeBelow(r, cmd)
	}
}

func begin(cmd *cobra.Command, edition Edition) *roff {
	r := &roff{}
	r.macro("TH", strings.ToUpper(title(cmd)), section, edition.Date, cmd.Root().Name()+" "+edition.Version, "User Commands")
	r.heading("NAME")
	r.line(escape(title(cmd)) + ` \- ` + escape(cmd.Short))
	return r
}

// title is a command's name in the manual: stopgate-run.
func title(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func synopsis(cmd *cobra.Command) string {
	rest := strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
	if !cmd.Runnable() || len(shown(cmd)) > 0 {
		rest = " COMMAND" + rest
	}
	return bold(cmd.CommandPath()) + escape(rest)
}

// shown are the commands below one that users are to see.
func shown(parent *cobra.Command) []*cobra.Command {
	var commands []*cobra.Command
	for _, cmd := range parent.Commands() {
		if !cmd.Hidden && cmd.Name() != "help" {
			commands = append(commands, cmd)
		}
	}
	return commands
}

// isTopic reports whether a command is only a page of the help.
func isTopic(cmd *cobra.Command) bool { return !cmd.Runnable() && !cmd.HasSubCommands() }

// options are the flags of a command. All of them have --help.
func options(cmd *cobra.Command) []*pflag.Flag {
	var flags []*pflag.Flag
	cmd.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Name != "help" {
			flags = append(flags, flag)
		}
	})
	return flags
}
