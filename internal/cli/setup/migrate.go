package setup

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/migrate"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/question"
)

// migration is the command's options.
type migration struct {
	write, undo, yes, asJSON bool
	tools                    []string
}

func NewMigrate() *cobra.Command {
	var m migration
	cmd := &cobra.Command{
		Use:   "migrate [TOOL]...",
		Short: "Carry over the settings of the tools that stopgate replaces",
		Long: `Look for the settings of ` + strings.Join(migrate.Names(), ", ") + `
in this project and in your home, and show for each setting what it becomes in
stopgate, what differs, and what is left behind and why. Nothing is changed.

--write does it: it asks first, keeps a copy of every file that it changes, and
removes only the hooks of the older tool from Claude Code's settings. Its own
files stay. --undo restores what the last --write in this project changed. It
does not overwrite a file that was changed since, and names its copy. Agents are
refused.

Exit code 0: shown or done, or nothing found. 1: refused. 2: a file cannot be
read or changed.`,
		Example: `  stopgate migrate
  stopgate migrate conclaude --write
  stopgate migrate --undo`,
		Args: m.parse,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			rest := slices.DeleteFunc(migrate.Names(), func(name string) bool { return slices.Contains(args, name) })
			return rest, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := term.AtMostOne(cmd, "write", "undo"); err != nil {
				return err
			}
			h, err := here.FindNearest()
			if err != nil {
				return err
			}
			if !h.HasProject { // one of conclaude's may begin further down
				h.Root = migrate.RootBelow(h.Root, h.Cwd)
			}
			if m.undo {
				return m.takeBack(h, term.Prose(cmd.OutOrStdout()))
			}
			return m.run(h, cmd.InOrStdin(), term.Prose(cmd.OutOrStdout()))
		},
	}
	cmd.Flags().BoolVar(&m.write, "write", false, "make the changes, after asking")
	cmd.Flags().BoolVar(&m.undo, "undo", false, "restore what the last --write here changed")
	cmd.Flags().BoolVar(&m.yes, "yes", false, "do not ask; for scripts (agents are refused)")
	cmd.Flags().BoolVar(&m.asJSON, "json", false, "print JSON; with --write only together with --yes")
	return cmd
}

// parse takes the names of tools.
func (m *migration) parse(_ *cobra.Command, args []string) error {
	for _, name := range args {
		if !slices.Contains(migrate.Names(), name) {
			return term.BadUsage(fmt.Errorf("unknown tool %q", name), document.OrValid("tool", name, migrate.Names()))
		}
	}
	m.tools = args
	return nil
}

func (m *migration) run(h *here.Place, in io.Reader, out io.Writer) error {
	if m.write {
		if m.asJSON && !m.yes {
			return term.BadUsage(errors.New("--json cannot ask"), "add --yes, or leave --json out")
		}
		if err := trust.RequirePerson("migrate", m.yes); err != nil {
			return err
		}
	}
	store := migrate.NewStore(h.StateDir)
	migrated, err := store.Migrated(h.Root)
	if err != nil {
		return err
	}
	draft := &migrate.Draft{Root: h.Root, Getenv: os.Getenv, Migrated: migrated, CheckRunbooks: checkRunbooks}
	tools := slices.DeleteFunc(migrate.Tools(), func(t migrate.Tool) bool {
		return len(m.tools) > 0 && !slices.Contains(m.tools, t.Name)
	})
	report, err := migrate.Survey(draft, tools)
	if err != nil {
		return err
	}
	view := migrationView{report: report, shown: draft.Shown}
	for _, tool := range tools {
		view.looked = append(view.looked, tool.Name)
	}
	if !m.write || len(report.Faults) > 0 || len(report.Changes) == 0 {
		return term.Show(out, m.asJSON, view)
	}

	if !m.asJSON {
		view.Print(out)
	}
	if !m.yes {
		if ok, err := (question.Asker{In: bufio.NewReader(in), Out: out}).Agreed("Change these files?", "no"); err != nil || !ok {
			return cmp.Or(err, errors.New("nothing was changed"))
		}
	}
	view.backups, err = store.Apply(h.Root, report.Tools(), report.Changes, time.Now())
	if unfinished, ok := errors.AsType[migrate.UnfinishedError](err); ok {
		return term.WithHint(unfinished, "undo it first: stopgate migrate --undo")
	}
	if err != nil {
		return err
	}
	if m.asJSON {
		return term.PrintJSON(out, view.JSON())
	}
	view.printDone(out)
	return nil
}

// takeBack undoes the last migration.
func (m *migration) takeBack(h *here.Place, out io.Writer) error {
	if len(m.tools) > 0 {
		return term.BadUsage(errors.New("--undo takes no tool: it undoes the last migration as a whole"), "for example: stopgate migrate --undo")
	}
	if err := trust.RequirePerson("undo a migration", m.yes); err != nil {
		return err
	}
	undone, err := migrate.NewStore(h.StateDir).Undo(h.Root)
	changed, some := errors.AsType[migrate.ChangedError](err)
	if err != nil && !some {
		return err
	}
	if m.asJSON {
		if err := term.PrintJSON(out, undone); err != nil {
			return err
		}
	} else {
		printUndone(out, h, undone)
	}
	if some {
		return term.WithHint(changed, howToRestore(h.Root, changed.Files))
	}
	return nil
}

// printUndone says what became of each file.
func printUndone(out io.Writer, h *here.Place, undone migrate.Undone) {
	for _, path := range undone.Restored {
		fmt.Fprintf(out, "restored %s\n", term.Shown(path))
	}
	for _, path := range undone.Merged {
		fmt.Fprintf(out, "took back the migration's change in %s, and kept what was changed since\n", term.Shown(path))
	}
	for _, path := range undone.Removed {
		fmt.Fprintf(out, "removed %s\n", term.Shown(path))
	}
	if !paths.HasConfig(h.Root) && h.Trust().Gated(h.Root) {
		fmt.Fprintln(out, "note: the configuration that you approved is still in force; to end that: stopgate trust --revoke")
	}
}

// howToRestore says what a person can do about files that were changed since the migration.
func howToRestore(root string, files []migrate.Changed) string {
	var lines, changed []string
	for _, file := range files {
		changed = append(changed, file.Path)
		if file.Copy == "" {
			lines = append(lines, term.Shown(file.Path)+" is new since the migration: remove it if you do not need it")
		} else {
			lines = append(lines, fmt.Sprintf("%s as it was is in %s", term.Shown(file.Path), term.Shown(file.Copy)))
		}
	}
	return strings.Join(lines, "\n") + ownHooksIn(root, changed)
}

// ownHooksIn says how our hooks leave settings files that were changed since the migration: it recommends to
// install them. A file without other changes is then again as the migration left it.
func ownHooksIn(root string, changed []string) (hint string) {
	for _, file := range settings.Inspect(root) {
		if file.Scope.Editable() && len(file.Entries) > 0 && slices.Contains(changed, file.Path) {
			hint += fmt.Sprintf("\nstopgate's hooks are in %s; remove them, then undo again: stopgate hooks uninstall --%s", term.Shown(file.Path), file.Scope)
		}
	}
	return hint
}
