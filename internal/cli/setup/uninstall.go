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
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/harness/migrate"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
	"github.com/stopgate/stopgate/internal/sys/question"
)

func NewUninstall() *cobra.Command {
	var purge, yes bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove stopgate from this machine",
		Long: `Remove stopgate's hooks from your settings and from those of this project and
every project that you approved, in all worktrees, with the launcher's entry
and the slash commands; stop the daemon and remove its systemd unit. With
--purge, also remove the state directory, the logs, and what stopgate wrote
into the global config. It lists all of that and asks first. Everything else in
shared files stays.

The program itself and each project's .gauntlet/ stay; at the end it lists what
is left. Agents are refused.`,
		Example: `  stopgate uninstall
  stopgate uninstall --purge`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := trust.RequirePerson("uninstall stopgate", yes); err != nil {
				return err
			}
			h, err := here.FindNearest()
			if err != nil {
				return err
			}
			return daemon.Asking(func(ctx context.Context, p *daemon.Daemon, _ []string) error {
				u := newUninstallation(h, p, purge)
				return u.run(ctx, cmd.InOrStdin(), term.Prose(cmd.OutOrStdout()), yes)
			})(cmd, nil)
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove state, logs and stopgate's part of the global config")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; for scripts (agents are refused)")
	return cmd
}

// uninstallation lists what is to be removed, and then removes it in that order.
type uninstallation struct {
	*here.Place
	daemon *daemon.Daemon
	purge  bool
	roots  []string     // of projects that may have something of ours
	logs   []logdir.Dir // of those, whether or not they exist
	steps  []step
}

// newUninstallation looks at this project and the approved ones, in all worktrees. Once the
// approvals are gone nothing knows where those are.
func newUninstallation(h *here.Place, p *daemon.Daemon, purge bool) *uninstallation {
	u := &uninstallation{Place: h, daemon: p, purge: purge, roots: worktrees(append([]string{h.Root}, h.Trust().Roots()...))}
	for _, root := range u.roots {
		for _, name := range logDirs(h, root) {
			u.logs = append(u.logs, logdir.At(filepath.Join(root, filepath.FromSlash(name))))
		}
	}
	return u
}

// logDirs are the names that the log directory of the project at root may have: by what was
// approved, and by the file there.
func logDirs(h *here.Place, root string) []string {
	names := []string{gates.DefaultLogDir}
	if project := h.Locator().Locate(root, false).Project; project != nil {
		names = append(names, project.Config.Gauntlet.LogDir)
	}
	if cfg, err := config.LoadProject(filepath.Join(root, paths.GauntletDir), root); err == nil {
		names = append(names, cfg.Gauntlet.LogDir)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

type step struct {
	what string
	do   func(context.Context) error
}

func (u *uninstallation) add(what string, do func(context.Context) error) {
	u.steps = append(u.steps, step{term.Tame(what), do})
}

func (u *uninstallation) run(ctx context.Context, in io.Reader, out io.Writer, yes bool) error {
	if err := u.list(ctx); err != nil {
		return err
	}
	if len(u.steps) == 0 {
		u.tellLeft(ctx, out, "there is nothing to remove")
		return nil
	}

	fmt.Fprintln(out, "This removes")
	for _, s := range u.steps {
		fmt.Fprintf(out, "  - %s\n", s.what)
	}
	if !yes {
		if ok, err := (question.Asker{In: bufio.NewReader(in), Out: out}).Agreed("Continue?", "no"); err != nil || !ok {
			return cmp.Or(err, errors.New("nothing was changed"))
		}
	}

	var failed error
	for _, s := range u.steps {
		if err := s.do(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.what, err))
		}
	}

	word := "done"
	if failed != nil {
		word = "not all of it could be removed"
	}
	u.tellLeft(ctx, out, word)
	return failed
}

// tellLeft looks again, and says what there still is. Hooks in another project that was never approved
// are not known.
func (u *uninstallation) tellLeft(ctx context.Context, out io.Writer, word string) {
	rest := &uninstallation{Place: u.Place, daemon: u.daemon, purge: true, roots: u.roots, logs: u.logs}
	if err := rest.list(ctx); err != nil {
		rest.add(err.Error(), nil)
	}
	purgeable := len(rest.steps) > 0 && !u.purge
	rest.listKept()
	fmt.Fprintf(out, "%s; as far as stopgate knows, this is left:\n", word)
	for _, s := range rest.steps {
		fmt.Fprintf(out, "  - %s\n", s.what)
	}
	if purgeable {
		fmt.Fprintln(out, "to remove state and logs too: stopgate uninstall --purge")
	}
}

// listKept lists what is not ours to remove.
func (u *uninstallation) listKept() {
	seen := map[string]bool{}
	for _, root := range u.roots {
		if dir := filepath.Join(root, paths.GauntletDir); disk.Exists(dir) {
			u.add(dir, nil)
		}
		if list := ignoreListOf(root); list.hasLogsLine() {
			u.add("the line "+logsLine+" in "+string(list), nil)
		}

		for _, file := range settings.Inspect(root) {
			key := file.Path
			if file.Plugin != "" {
				key = file.Remove() // projects may have it each for itself
			}
			if seen[key] {
				continue
			}
			seen[key] = true

			if file.Err != nil {
				u.add(fmt.Sprintf("%s may have hooks, but cannot be read: %v", file.Path, file.Err), nil)
			} else if file.Scope == settings.Managed && len(file.Entries) > 0 {
				u.add("the administrator's hooks in "+file.Path, nil)
			} else if file.Plugin != "" {
				u.add(fmt.Sprintf("the plugin %s; to remove it: %s, and its marketplace: %s", plain.Name(file.Plugin), plain.Line(file.Remove()), plain.Line(file.RemoveMarket())), nil)
			}
		}
	}

	if disk.Exists(u.GlobalPath) && config.FindEnforced(u.GlobalPath) != config.EnforcedFile {
		u.add(u.GlobalPath+", with settings that stopgate did not write (agent-gauntlet reads it too)", nil)
	}
	for _, path := range binaries() {
		u.add("the program "+path, nil)
	}
}

// binaries are this one under all its names, and stopgated, as far as they lie together.
func binaries() (all []string) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(self)) // it was there when it was started
	for _, entry := range entries {
		if path := filepath.Join(filepath.Dir(self), entry.Name()); program.Called(path) == "stopgated" || disk.Same(path, self) {
			all = append(all, path)
		}
	}
	return all
}

func (u *uninstallation) list(ctx context.Context) error {
	u.listHooks()
	u.listLauncher()
	if err := u.listDaemon(ctx); err != nil {
		return err
	}
	if u.purge {
		u.listLogs()
		return u.listFiles()
	}
	return nil
}

// worktrees are these places and the same ones in the other worktrees of their repositories, each
// once; git may list some that are gone.
func worktrees(roots []string) (all []string) {
	for _, root := range slices.Clone(roots) {
		top, found := paths.MainWorktree(root)
		if _, within, inside := paths.Repository(root); found && inside {
			roots = append(roots, filepath.Join(top, filepath.FromSlash(within)))
		}
	}
	for _, linked := range footprint.Worktrees(roots, time.Time{}) {
		roots = append(roots, linked.Root)
	}
	for _, root := range roots {
		if root = paths.Canonical(root); !slices.Contains(all, root) {
			all = append(all, root)
		}
	}
	return all
}

func (u *uninstallation) listHooks() {
	seen := map[string]bool{}
	for _, root := range u.roots {
		for _, file := range settings.Inspect(root) {
			if !file.Scope.Editable() || seen[file.Path] {
				continue
			}
			seen[file.Path] = true
			if len(file.Entries) > 0 {
				u.add("the hooks in "+file.Path, func(context.Context) error {
					_, err := settings.Uninstall(file.Path)
					return err
				})
			}
			u.listExclusions(file, seen)
			if launcher.HasSlashCommands(file.Scope, root) {
				u.add("the slash commands beside "+file.Path, func(context.Context) error {
					_, err := launcher.UninstallSlashCommands(io.Discard, file.Scope, root)
					return err
				})
			}
		}
	}
}

func (u *uninstallation) listExclusions(file settings.File, seen map[string]bool) {
	for _, e := range exclusions(file.Scope, file.Path) {
		if id := e.list + "\x00" + e.line; !seen[id] && e.there() {
			seen[id] = true
			u.add("the line for "+e.file+" in "+e.list, func(context.Context) error { return e.remove() })
		}
	}
}

func (u *uninstallation) listLauncher() {
	user, err := settings.Path(settings.User, "")
	if err != nil {
		return
	}
	for _, path := range launch.Touched(u.StateDir, user) {
		u.add("the launcher's entries in "+path, func(context.Context) error { return launch.Withdraw(u.StateDir, path) })
	}
}

// listDaemon asks the daemon to end by itself; what it started would lose its state by a purge.
func (u *uninstallation) listDaemon(ctx context.Context) error {
	if path, err := daemon.UnitPath(os.Getenv); err == nil && disk.IsRegular(path) {
		u.add("the systemd unit "+path, func(ctx context.Context) error { return u.daemon.Uninstall(ctx, false) })
	}
	if daemonapi.CheckSocket(daemonapi.Socket(u.StateDir)) != nil {
		return nil // no daemon can listen there
	}
	status, err := u.daemon.StatusSoon(ctx)
	if daemon.IsDown(err) {
		return nil
	}
	if err == nil && status.Agents > 0 && u.purge {
		return term.WithHint(fmt.Errorf("the daemon still runs %s, which would lose their work", plain.Count(status.Agents, "agent")), "stop them first: stopgate daemon stop --kill")
	}
	u.add("the running daemon, which is asked to stop", func(ctx context.Context) error {
		_, err := u.daemon.Halt(ctx, false)
		return err
	})
	return nil
}

func (u *uninstallation) listLogs() {
	for _, logs := range u.logs {
		if logs.Exists() {
			u.add("the logs in "+logs.Path(), func(context.Context) error { return logs.Remove(time.Now()) })
		}
	}
	if dir, err := paths.SupervisorDir(os.Getenv); err == nil && supervisor.At(dir).Exists() {
		u.add("the supervisor's logs in "+dir, func(context.Context) error { return supervisor.At(dir).Remove() })
	}
}

func (u *uninstallation) listFiles() error {
	u.listGlobal()
	if cache, err := os.UserCacheDir(); err == nil {
		note := filepath.Join(cache, settings.ToldMissing)
		if info, err := os.Lstat(note); err == nil && info.IsDir() {
			u.add("the note "+note, func(context.Context) error { return os.Remove(note) })
		}
	}
	if _, err := os.Stat(u.StateDir); err != nil {
		return nil
	}
	if err := isOurState(u.StateDir); err != nil {
		return err
	}
	u.listMigrations()
	u.add("the state directory "+u.StateDir, func(context.Context) error {
		if err := os.RemoveAll(u.StateDir); err != nil {
			return err
		}
		removeEmpty(filepath.Dir(u.StateDir))
		return nil
	})
	return nil
}

// listMigrations names the migrations that cannot be undone any more once the state directory is gone.
func (u *uninstallation) listMigrations() {
	const gone = "which is all that stopgate migrate --undo could restore"
	undoable, err := migrate.NewStore(u.StateDir).Undoable()
	if err != nil {
		u.add(fmt.Sprintf("copies of files that a migration changed (%v), %s", err, gone), keepsNothing)
	}
	for _, m := range undoable {
		u.add(fmt.Sprintf("the copies of the files that the migration from %s changed in %s, %s; to undo it first: cd %s && stopgate migrate --undo",
			strings.Join(m.Tools, ", "), m.Root, gone, settings.ShellCommand(m.Root)), keepsNothing)
	}
}

// keepsNothing is for what goes with the state directory.
func keepsNothing(context.Context) error { return nil }

// listGlobal lists what stopgate wrote into the global config. agent-gauntlet has its own settings in that file.
func (u *uninstallation) listGlobal() {
	withdraw := func(context.Context) error {
		if err := config.WithdrawTrust(u.GlobalPath); err != nil {
			return err
		}
		removeEmpty(filepath.Dir(u.GlobalPath))
		return nil
	}
	switch config.FindEnforced(u.GlobalPath) {
	case config.EnforcedFile:
		u.add("the global config "+u.GlobalPath, withdraw)
	case config.EnforcedLine:
		u.add("the line \"trust: enforce\" in "+u.GlobalPath, withdraw)
	}
}

// removeEmpty removes directories below the home directory in which nothing is left.
func removeEmpty(dir string) {
	home, err := os.UserHomeDir()
	for err == nil && dir != home && strings.HasPrefix(dir, home+string(filepath.Separator)) {
		err = os.Remove(dir) // fails when something else is in it
		dir = filepath.Dir(dir)
	}
}

// isOurState refuses a directory that a wrong variable names: one that others use too.
func isOurState(dir string) error {
	home, _ := os.UserHomeDir()
	cwd, _ := os.Getwd()
	for _, inside := range []string{home, cwd} {
		if rel, err := filepath.Rel(dir, inside); inside != "" && err == nil && filepath.IsLocal(rel) {
			return term.WithHint(fmt.Errorf("the state directory is %s, which contains more than state", dir), "correct STOPGATE_STATE_DIR, or remove the files by hand")
		}
	}
	if migrate.HoldsOddjobs(dir) {
		return term.WithHint(fmt.Errorf("the state directory %s is also that of oddjobs, whose pipelines and queues are in it", dir), "finish them with oddjobs, or remove stopgate's files there by hand")
	}
	return holdsWork(dir)
}

// holdsWork finds workspaces of pipelines and agents, in which there may be work that is nowhere else.
func holdsWork(dir string) error {
	spaces, err := disk.List(filepath.Join(dir, "workspaces"))
	if err != nil {
		return err
	}
	for _, space := range spaces {
		if space.IsDir() {
			path := filepath.Join(dir, "workspaces", space.Name())
			return term.WithHint(fmt.Errorf("the state directory has a workspace of a pipeline: %s", path), "save what you need, and remove it with: git worktree remove "+path)
		}
	}
	return nil
}
