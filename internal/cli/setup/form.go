package setup

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/question"
)

// form is what init asks.
type form struct{ question.Asker }

// checks asks for one check after the other: first those that were found, then more until an empty
// line.
func (f form) checks(found []proposal) (all []newCheck, err error) {
	p := term.PaintFor(f.Out)
	fmt.Fprintln(f.Out, p.Bold("Which commands must succeed before an agent may stop?"))
	if len(found) > 0 {
		fmt.Fprintln(f.Out, "  Press Enter to use the command in brackets, write another, or - to skip it.")
	} else {
		fmt.Fprintln(f.Out, "  No test or lint command was found in this project's files.")
	}
	fmt.Fprintln(f.Out, "  COMMAND or NAME=COMMAND, one per line; an empty line ends the list.")

	for i := 0; ; i++ {
		proposed := proposal{}
		if i < len(found) {
			proposed = found[i]
			fmt.Fprintln(f.Out, p.Faint("  "+plain.Line(proposed.why)+":"))
		}

		answer, err := f.Ask(fmt.Sprintf("Check %d", len(all)+1), proposed.command)
		switch {
		case err != nil:
			return nil, err
		case answer == none || answer == "" && i < len(found):
		case answer == "":
			return all, nil
		case answer == proposed.command:
			all = append(all, parseCheck(proposed.name+"="+answer, all))
		default:
			all = append(all, parseCheck(answer, all))
		}
	}
}

// scope asks for a settings file. With several worktrees it proposes the one that Claude Code reads
// in all of them.
func (f form) scope(worktrees int) (settings.Scope, error) {
	fmt.Fprintln(f.Out, "\n"+term.PaintFor(f.Out).Bold("Where should the hooks be installed?")+`
  1  for you, in this project    .claude/settings.local.json
  2  for the team                .claude/settings.json
                                 (commit it; teammates need stopgate on their PATH)
  3  for you, in all projects    ~/.claude/settings.json
                                 (recommended if you use git worktrees)`)
	proposal := "1"
	if worktrees > 1 {
		fmt.Fprintf(f.Out, "  This repository has %d worktrees.\n", worktrees)
		proposal = "3"
	}

	scopes := map[string]settings.Scope{"1": settings.Local, "2": settings.Project, "3": settings.User}
	for {
		answer, err := f.Ask("1, 2 or 3", proposal)
		if err != nil {
			return settings.Local, err
		}
		if scope, ok := scopes[answer]; ok {
			return scope, nil
		}
	}
}
