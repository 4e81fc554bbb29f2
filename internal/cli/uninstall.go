package cli

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

	"github.com/stopgate/stopgate/internal/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/supervisor"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/trust"
	"github.com/stopgate/stopgate/internal/work"
)

func newUninstall() *cobra.Command {
	var purge, yes bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove stopgate from this machine",
		Long: `Take stopgate's hooks out of your settings and out of those of this project and of every
project that you approved, with the launcher's entry and the slash commands; stop the daemon and
remove its systemd unit. With --purge also remove the state directory, the global config and the
logs. It lists all of that and asks first. Files that others use too keep everything else.

The program itself and each project's .gauntlet/ stay. An agent is refused.`,
		Example: `  stopgate uninstall
  stopgate uninstall --purge`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := trust.RequirePerson("uninstall stopgate", yes); err != nil {
				return err
			}
			h, err := findNearest()
			if err != nil {
				return err
			}
			return withDaemon(cmd, func(ctx context.Context, p *plane) error {
				u := uninstallation{here: h, plane: p, out: cmd.OutOrStdout(), purge: purge}
				return u.run(ctx, cmd.InOrStdin(), yes)
			})
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove state, global config and logs")
	cmd.Flags().BoolVar(&yes, "yes", false, "for scripts outside the client: do not ask")
	return cmd
}

// uninstallation lists what is to be removed, and then removes it in that order.
type uninstallation struct {
	*here
	plane *plane
	out   io.Writer
	purge bool
	steps []step
}

type step struct {
	what string
	do   func(context.Context) error
}

func (u *uninstallation) add(what string, do func(context.Context) error) {
	u.steps = append(u.steps, step{tame(what), do})
}

func (u *uninstallation) run(ctx context.Context, in io.Reader, yes bool) error {
	if err := u.list(ctx); err != nil {
		return err
	}
	if len(u.steps) == 0 {
		fmt.Fprintln(u.out, "nothing of stopgate is installed")
		return nil
	}
	fmt.Fprintln(u.out, "This removes")
	for _, s := range u.steps {
		fmt.Fprintf(u.out, "  - %s\n", s.what)
	}
	if !yes {
		if ok, err := (form{bufio.NewReader(in), u.out}).agreed("Go on?", "no"); err != nil || !ok {
			return cmp.Or(err, errors.New("nothing was changed"))
		}
	}
	var failed error
	for _, s := range u.steps {
		if err := s.do(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.what, err))
		}
	}
	if failed == nil {
		self, _ := os.Executable()
		fmt.Fprintf(u.out, "done; what is left is the program itself (%s) and .gauntlet/ in your projects\n", plain.Line(self))
	}
	return failed
}

func (u *uninstallation) list(ctx context.Context) error {
	roots := u.roots()
	u.listHooks(roots)
	u.listLauncher()
	if err := u.listDaemon(ctx); err != nil {
		return err
	}
	if u.purge {
		u.listLogs(roots)
		return u.listFiles()
	}
	return nil
}

// roots are the projects that may have something of ours: this one, and the approved ones.
func (u *uninstallation) roots() []string {
	roots := []string{u.root}
	for _, root := range u.trust().Roots() {
		if _, err := os.Stat(root); err == nil && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// worktrees are the places that exist of these and the same ones in the other worktrees of their
// repositories.
func worktrees(roots []string) (all []string) {
	for _, root := range slices.Clone(roots) {
		top, found := paths.MainWorktree(root)
		if _, within, inside := paths.Repository(root); found && inside {
			roots = append(roots, filepath.Join(top, filepath.FromSlash(within)))
		}
	}
	for _, linked := range work.Worktrees(roots, time.Time{}) {
		roots = append(roots, linked.Root)
	}
	for _, root := range roots {
		root = paths.Canonical(root)
		if _, err := os.Stat(root); err == nil && !slices.Contains(all, root) {
			all = append(all, root)
		}
	}
	return all
}

func (u *uninstallation) listHooks(roots []string) {
	seen := map[string]bool{}
	for _, root := range roots {
		for _, file := range settings.Inspect(root) {
			if file.Scope == settings.Managed || seen[file.Path] {
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
			if hasSlashCommands(file.Scope, root) {
				u.add("the slash commands beside "+file.Path, func(context.Context) error {
					_, err := uninstallSlashCommands(io.Discard, file.Scope, root)
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
	for _, path := range launch.Touched(u.stateDir, user) {
		u.add("what the launcher put into "+path, func(context.Context) error { return launch.Withdraw(u.stateDir, path) })
	}
}

// listDaemon asks the daemon to end by itself; what it started would lose its state by a purge.
func (u *uninstallation) listDaemon(ctx context.Context) error {
	if path, err := unitPath(os.Getenv); err == nil && isRegular(path) {
		u.add("the systemd unit "+path, func(ctx context.Context) error { return u.plane.uninstall(ctx, false) })
	}
	status, err := u.plane.statusSoon(ctx)
	if isDown(err) {
		return nil
	}
	if err == nil && status.Agents > 0 && u.purge {
		return hintError{fmt.Errorf("%s of the daemon would lose what they work on", count(status.Agents, "agent")), "end them first: stopgate daemon stop --kill"}
	}
	u.add("the daemon that runs, which is asked to end", func(ctx context.Context) error {
		_, err := u.plane.halt(ctx, false)
		return err
	})
	return nil
}

func (u *uninstallation) listLogs(roots []string) {
	for _, root := range roots {
		name := defaultLogDir
		if cfg, err := config.LoadProject(filepath.Join(root, paths.GauntletDir), root); err == nil {
			name = cfg.Gauntlet.LogDir
		}
		logs := logdir.At(filepath.Join(root, filepath.FromSlash(name)))
		if logs.Exists() {
			u.add("the logs in "+logs.Path(), func(context.Context) error { return logs.Remove(time.Now()) })
		}
	}
	if dir, err := paths.SupervisorDir(os.Getenv); err == nil && supervisor.At(dir).Exists() {
		u.add("the supervisor's logs in "+dir, func(context.Context) error { return supervisor.At(dir).Remove() })
	}
}

func (u *uninstallation) listFiles() error {
	if isRegular(u.globalPath) {
		u.add("the global config "+u.globalPath, func(context.Context) error {
			if err := os.Remove(u.globalPath); err != nil {
				return err
			}
			removeEmpty(filepath.Dir(u.globalPath))
			return nil
		})
	}
	if cache, err := os.UserCacheDir(); err == nil {
		told := filepath.Join(cache, settings.ToldMissing)
		if info, err := os.Lstat(told); err == nil && info.IsDir() {
			u.add("the note "+told, func(context.Context) error { return os.Remove(told) })
		}
	}
	if _, err := os.Stat(u.stateDir); err != nil {
		return nil
	}
	if err := isOurState(u.stateDir); err != nil {
		return err
	}
	u.add("the state directory "+u.stateDir, func(context.Context) error {
		if err := os.RemoveAll(u.stateDir); err != nil {
			return err
		}
		removeEmpty(filepath.Dir(u.stateDir))
		return nil
	})
	return nil
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
			return hintError{fmt.Errorf("the state directory is %s, which has more in it than state", dir), "set STOPGATE_STATE_DIR right, or remove the files by hand"}
		}
	}
	return nil
}
