// Package setup has the commands that install, approve, check and remove enforcement.
package setup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/migrate"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/question"
)

type initOptions struct {
	scope     settings.Scope
	chosen    bool // the scope was
	given     []string
	yes       bool
	checks    []newCheck
	worktrees int
}

func NewInit() *cobra.Command {
	var o initOptions
	var where scopeFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up this project",
		Long: `Write .gauntlet/config.yml, install the hooks in Claude Code's settings, and
approve the configuration. Existing files are kept.

On a terminal, init asks which checks to run and shows its plan first. With
--yes it asks nothing: it uses each --check, or else the lint and test commands
that the project's files name (Makefile, justfile, Taskfile, package.json,
go.mod, Cargo.toml, pyproject.toml).`,
		Example: `  stopgate init
  stopgate init --yes
  stopgate init --yes --check "make lint" --check unit="npm test"`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.scope, o.chosen, err = where.scope(cmd); err != nil {
				return err
			}
			if slices.Contains(o.given, "") {
				return term.BadUsage(errors.New("--check is empty"), "see: stopgate init --help")
			}
			h, err := here.FindNearest()
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), h, cmd.InOrStdin(), term.Prose(cmd.OutOrStdout()))
		},
	}
	where.register(cmd)
	cmd.Flags().StringArrayVar(&o.given, "check", nil, "a check: `COMMAND` or NAME=COMMAND; repeatable, - for none")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask; for scripts (agents are refused)")
	return cmd
}

func (o *initOptions) run(ctx context.Context, h *here.Place, in io.Reader, out io.Writer) error {
	if err := trust.RequirePerson("set up a project", o.yes); err != nil {
		return err
	}
	exists, err := o.prepare(h)
	if err != nil {
		return err
	}

	f := form{question.Asker{In: bufio.NewReader(in), Out: out}}
	if o.yes {
		err = o.choose(out, h.Root, exists)
	} else {
		fmt.Fprintf(out, "Setting up %s\n\n", h.Root)
		err = o.ask(f, h.Root, exists)
	}
	if err != nil {
		return err
	}

	to, err := settingsTarget(h, o.scope)
	if err != nil {
		return err
	}
	first := firstConfig{checks: o.checks, base: localBase(ctx, h.Root)}
	if !o.yes {
		fmt.Fprintf(out, "\nThis will\n%s", plan(h, to, exists, first))
		if ok, err := f.Agreed("Continue?", "yes"); err != nil || !ok {
			return cmp.Or(err, errors.New("nothing was changed"))
		}
		fmt.Fprintln(out)
	}
	if err := o.apply(ctx, h, out, to, exists, first); err != nil {
		return err
	}
	o.tellNext(ctx, h, out, to)
	return nil
}

// prepare refuses what could not be finished, before anything is asked or written. It reports whether
// the project has a configuration, which is kept.
func (o *initOptions) prepare(h *here.Place) (exists bool, err error) {
	if h.GlobalErr != nil {
		return false, fmt.Errorf("fix the global config first:\n%w", h.GlobalErr)
	}
	if home, _ := os.UserHomeDir(); !h.HasProject && (h.Root == filepath.Dir(h.Root) || h.Root == home) {
		return false, term.WithHint(fmt.Errorf("%s is not a project: everything below it would be part of it", h.Root), "change to the project's directory first")
	}

	exists = h.HasProject && disk.IsRegular(paths.ProjectConfig(h.Root))
	if exists {
		err = o.keepable(h)
	} else if standing, _ := h.Trust().Standing(h.Root); standing.ApprovedIn != paths.Canonical(h.Root) && standing.Absent(os.Environ()) {
		err = notInBranch(h) // another one would be the other worktrees', too
	}

	if installed, at := installedScope(h); installed && !o.chosen {
		o.scope, o.chosen = at, true
	}
	o.checks = parseChecks(o.given)
	for _, root := range worktrees([]string{h.Root}) {
		if disk.IsDir(root) {
			o.worktrees++
		}
	}
	return exists, err
}

// keepable refuses a configuration that can be neither changed nor approved.
func (o *initOptions) keepable(h *here.Place) error {
	if len(o.given) > 0 {
		return term.WithHint(fmt.Errorf("%s already exists", paths.ProjectConfig(h.Root)), "add the command there, then run: stopgate trust")
	}
	if _, err := ReadContents(h.ConfigDir(), h.Short(h.ConfigDir())); err != nil {
		return term.WithCode(fmt.Errorf("fix the configuration first (see: stopgate validate):\n%w", err), term.ExitUsage)
	}
	return nil
}

// choose takes the checks that the project's files name, where the command line names none.
func (o *initOptions) choose(out io.Writer, root string, exists bool) error {
	if exists || len(o.given) > 0 {
		return nil
	}
	found := propose(root)
	if len(found) == 0 {
		return term.BadUsage(fmt.Errorf("no lint or test command found in %s", root),
			`name one: stopgate init --yes --check "make test" (or start without any: --check -)`)
	}
	fmt.Fprintln(out, "checks found in this project:")
	for _, p := range found {
		o.checks = append(o.checks, p.newCheck)
		fmt.Fprintf(out, "  %s: %s (%s)\n", p.name, p.command, p.why)
	}
	return nil
}

// ask fills what the command line left open.
func (o *initOptions) ask(f form, root string, exists bool) (err error) {
	if !exists && len(o.given) == 0 {
		if o.checks, err = f.checks(propose(root)); err != nil {
			return err
		}
	}
	if !o.chosen {
		o.scope, err = f.scope(o.worktrees)
	}
	return err
}

// localBase is the branch to count changes from where the remote's default branch is not known;
// empty where it is, and outside a repository.
func localBase(ctx context.Context, root string) string {
	repo := git.At(root, os.Environ())
	for _, remote := range []string{"origin/HEAD", git.OriginMain} {
		if _, _, err := repo.Commit(ctx, remote); err == nil {
			return ""
		}
	}
	if base := doctor.LikelyBase(ctx, repo, ""); base != "" {
		return base
	}
	branch, _ := repo.UnbornBranch(ctx) // also one that has commits; none outside a repository
	return branch
}

// trusts reports whether trust is to be turned on: always with hooks for all
// projects, else when the global config is ours to write.
func trusts(h *here.Place, scope settings.Scope) bool {
	return !h.Global.Exists || !h.Enforces() && scope == settings.User
}

func plan(h *here.Place, to target, exists bool, first firstConfig) string {
	var b strings.Builder
	step := func(format string, args ...any) { fmt.Fprintf(&b, "  - "+format+"\n", args...) }
	if trusts(h, to.scope) {
		step("require approval before a project runs (%s)", brief(h, h.GlobalPath))
	}
	if to.scope == settings.Plugin {
		step("leave the hooks to the plugin %s", plain.Name(to.plugin))
	} else {
		step("add the hooks to %s", brief(h, to.path))
	}
	if all := exclusions(to.scope, to.path); to.scope == settings.Local && len(all) > 0 {
		step("add that file to %s, unless git ignores it already", brief(h, all[0].list))
	}

	config := brief(h, paths.ProjectConfig(h.Root))
	if exists {
		step("keep %s", config)
	} else {
		step("write %s with %s", config, first.summary())
	}
	if list := ignoreListOf(h.Root); !exists && list.lacksLogs() {
		step("add %s to %s", logsLine, brief(h, string(list)))
	}
	step("approve %s; later edits need your approval", brief(h, h.ConfigDir()))
	return b.String()
}

// brief is a path in as few characters as tell a person which one it is.
func brief(h *here.Place, path string) string {
	home, err := os.UserHomeDir()
	if rel, inHome := strings.CutPrefix(path, home+string(filepath.Separator)); err == nil && inHome && h.Short(path) == path {
		return filepath.Join("~", rel)
	}
	return h.Short(path)
}

func (o *initOptions) apply(ctx context.Context, h *here.Place, out io.Writer, to target, exists bool, first firstConfig) error {
	if trusts(h, to.scope) {
		if err := enforceTrust(h, out); err != nil {
			return err
		}
	}
	if err := installHooks(h, out, to); err != nil {
		return err
	}

	path := paths.ProjectConfig(h.Root)
	if exists {
		fmt.Fprintf(out, "kept %s\n", path)
		return approve(ctx, out, h, o.yes)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := first.write(filepath.Dir(path)); err != nil {
		return err
	}
	h.HasProject = true
	fmt.Fprintf(out, "wrote %s\n", path)
	ignoreListOf(h.Root).addLogs(out)
	return approve(ctx, out, h, o.yes)
}

// tellNext tells what could be better, and what to do now.
func (o *initOptions) tellNext(ctx context.Context, h *here.Place, out io.Writer, to target) {
	p := term.PaintFor(out)
	for _, m := range missing(ctx, h) {
		fmt.Fprintf(out, "%s %s needs %s, which was not found\n", p.Yellow("warning:"), m.Gate, m.Program)
	}
	if to.scope == settings.Local && o.worktrees > 1 {
		fmt.Fprintf(out, "note: this repository has %d worktrees; to have the hooks in all of them, run: stopgate hooks uninstall && stopgate hooks install --user\n", o.worktrees)
	}

	for _, tool := range migrate.Present(h.Root) {
		fmt.Fprintf(out, "note: this project also has a configuration of %s; to carry it over, run: stopgate migrate\n", tool)
	}

	fmt.Fprintf(out, `
%s
  stopgate doctor    test that the hooks block a stop
  stopgate run       run the checks now
`, p.Bold("Next:"))
}

// missing is what the checks need and do not have, as doctor finds it.
func missing(ctx context.Context, h *here.Place) []doctor.MissingProgram {
	project, _, err := h.Gates()
	if err != nil {
		return nil // which approving has told
	}
	return doctor.Survey{
		Project: project, Environ: os.Environ(), StateDir: h.StateDir, Needs: gates.Needs, ReviewDir: project.Root,
	}.CheckHealth(ctx).Missing
}

// installedScope is where the hooks are already.
func installedScope(h *here.Place) (bool, settings.Scope) {
	files := settings.Inspect(h.Root)
	if _, found := settings.CallingPlugin(files); found {
		return true, settings.Plugin
	}
	for _, file := range files {
		if len(file.Entries) > 0 && file.Scope.Editable() {
			return true, file.Scope
		}
	}
	return false, settings.Local
}

// schemaFile is beside config.yml, so that an editor finds it in every clone.
const schemaFile = "config.schema.json"

// write writes a project's first configuration, and what an editor needs to help with it.
func (c firstConfig) write(dir string) error {
	schema, err := config.Schema("project")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, schemaFile), schema, 0o644); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, paths.ConfigFile), []byte(c.String()), 0o644)
}
