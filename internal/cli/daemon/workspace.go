package daemon

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewWorkspace() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "workspace",
		Short: "List and remove the workspaces of pipelines",
		Long: `List and remove the worktrees and folders that were made for pipelines and agents. They are removed
automatically when a pipeline ends, unless its runbook keeps them or work would be lost.`,
		Example: `  stopgate workspace list
  stopgate workspace remove 3f9a12bc`,
	}, newWorkspaceList(), newWorkspaceRemove())
}

func newWorkspaceList() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "list",
		Short: "List workspaces, and why they were kept",
		Long: `List the workspaces that are there, with the pipeline or agent run that they were made for, and why
they were kept.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`,
		Example: `  stopgate workspace list
  stopgate workspace list --json | jq -r .[].path`,
		Args: term.NoArgs,
	}, func(ctx context.Context, p *Daemon, _ []string) error {
		all, err := p.Workspaces(ctx)
		switch {
		case IsDown(err) && p.remains() == "":
			return p.listNothing()
		case err != nil:
			return err
		case p.asJSON:
			return term.PrintJSON(p.out, all)
		case len(all) == 0:
			return p.tell(nil, "no workspaces")
		}
		return term.PrintLines(p.out, workspaceRows(all, term.WidthOf(p.out), term.PaintFor(p.out)))
	})
}

// workspaceRows are a table of workspaces.
func workspaceRows(all []daemonapi.KeptWorkspace, width int, paint term.Paint) []string {
	rows := [][]string{{"PIPELINE", "STATUS", "BRANCH", "PATH", "KEPT"}}
	for _, w := range all {
		rows = append(rows, []string{
			w.Owner[:min(len(w.Owner), 8)], cmp.Or(w.Status, "removed"), plain.Line(cmp.Or(w.Branch, "-")), plain.Line(w.Path), plain.Line(cmp.Or(w.Kept, "in use")),
		})
	}
	return term.Table(rows, width, term.Headed(paint, func(row, column int, text string) string {
		if column == 1 {
			return inState(paint, all[row].Status, text)
		}
		return text
	}))
}

func newWorkspaceRemove() *cobra.Command {
	cmd := acts(&cobra.Command{
		Use:   "remove WORKSPACE…",
		Short: "Remove workspaces that were kept",
		Long: `Remove workspaces that were kept: by the path, or by the id of the pipeline or a prefix of it. The branch
of a worktree stays if anything was committed to it.

A workspace that is in use is not removed, nor is one with work in it that would be lost, such as
uncommitted changes. The daemon is started if it is not running. Its agents cannot run this command.

Exit code 0: removed. 1: not removed. 2: not found. 3: the daemon could not be started.`,
		Example: `  stopgate workspace remove 3f9a12bc
  stopgate workspace list --json | jq -r .[].path |
    xargs -d '\n' stopgate workspace remove`,
		Args: someArgs,
	}, removeWorkspaces)
	cmd.PreRunE = notForAgents
	return cmd
}

func removeWorkspaces(ctx context.Context, p *Daemon, args []string) error {
	all, err := p.Workspaces(ctx)
	if err != nil {
		return err
	}
	var chosen []daemonapi.KeptWorkspace
	for _, arg := range args {
		found, err := findWorkspaces(all, arg)
		if err != nil {
			return term.BadUsage(err, "see: stopgate workspace list")
		}
		chosen = append(chosen, found...)
	}

	removed, failed := []daemonapi.KeptWorkspace{}, false
	for _, w := range chosen {
		if _, err := p.RemoveWorkspace(ctx, w.Name); err != nil {
			failed = true
			fmt.Fprintln(p.errOut, "stopgate: "+plain.Line(err.Error()))
			continue
		}
		removed = append(removed, w)
		if !p.asJSON {
			fmt.Fprintln(p.out, "removed "+plain.Line(w.Path))
		}
	}
	if p.asJSON {
		err = term.PrintJSON(p.out, removed)
	}
	if err == nil && failed {
		err = term.ErrSilent
	}
	return err
}

// findWorkspaces are those of a path, or of an owner.
func findWorkspaces(all []daemonapi.KeptWorkspace, arg string) (found []daemonapi.KeptWorkspace, err error) {
	owners := map[string]bool{}
	for _, w := range all {
		switch {
		case w.Path == arg || w.Name == arg:
			return []daemonapi.KeptWorkspace{w}, nil
		case arg != "" && strings.HasPrefix(w.Owner, arg):
			found = append(found, w)
			owners[w.Owner] = true
		}
	}
	switch len(owners) {
	case 0:
		return nil, fmt.Errorf("there is no workspace %s", plain.Name(arg))
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("%s is ambiguous (%d matches)", plain.Name(arg), len(owners))
}
