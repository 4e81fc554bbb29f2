package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// projectFlag is a project that a command is about: the one here, or another.
type projectFlag struct{ dir string }

func (f *projectFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "project", "", "the project's directory; default: the project here")
	_ = cmd.MarkFlagDirname("project") // the flag is there
}

// root is the project's.
func (f *projectFlag) root() (string, error) {
	return f.rootOf(here.FindRunbooks)
}

// existing is the root of a project that there is, for commands by which a person has something done in it.
func (f *projectFlag) existing() (string, error) {
	return f.rootOf(func() (*here.Place, error) { return here.MustExist(here.FindRunbooks()) })
}

// rootOf is the root of the project that was named, or else of the one found here.
func (f *projectFlag) rootOf(find func() (*here.Place, error)) (string, error) {
	if f.dir != "" {
		return projectAt(f.dir)
	}
	h, err := find()
	if err != nil {
		return "", err
	}
	return h.Root, nil
}

// beforeSwitch finds the project in which a command turns something on or off. Agents may not turn it on.
func (f *projectFlag) beforeSwitch(on bool, root *string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		if on {
			err = notForAgents(cmd, args)
		}
		if err == nil {
			*root, err = f.existing()
		}
		return err
	}
}

// projectAt is the root of the project that a directory is in, or the directory if it is in none.
func projectAt(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if !disk.IsDir(full) {
		return "", term.BadUsage(fmt.Errorf("--project %s: there is no such directory", term.Shown(dir)), "")
	}
	known := func(dir string) bool { return paths.HasRunbooks(dir) || paths.HasOddjobs(dir) || paths.HasConfig(dir) }
	if root, found := paths.ProjectRoot(known, full); found {
		return root, nil
	}
	return full, nil
}

// projectList is a command that lists what a project has, or all of them have.
type projectList struct {
	all  string // what --all is for
	idle string // what a person is told if the project needs the daemon, and it is not running
	list func(ctx context.Context, p *Daemon, root string, args []string) (term.Glimpse, error)
}

func (l projectList) command(cmd *cobra.Command) *cobra.Command {
	var project projectFlag
	var all bool
	cmd = asks(cmd, func(ctx context.Context, p *Daemon, args []string) error {
		root := ""
		if !all {
			var err error
			if root, err = project.root(); err != nil {
				return err
			}
		}
		return l.print(ctx, p, root, args)
	})
	project.add(cmd)
	cmd.Flags().BoolVar(&all, "all", false, l.all)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if all && project.dir != "" {
			return term.BadUsage(errors.New("--all and --project cannot be combined"), "leave one of them out")
		}
		return nil
	}
	return cmd
}

func (l projectList) print(ctx context.Context, p *Daemon, root string, args []string) error {
	found, err := l.list(ctx, p, root, args)
	switch {
	case IsDown(err) && p.remains() == "":
		if l.idle != "" && needsDaemon(p.stateDir, root) {
			fmt.Fprintln(p.errOut, "stopgate: "+l.idle)
		}
		return p.listNothing()
	case err != nil:
		return err
	}
	return term.Once(p.out, p.asJSON, found)
}

// needsDaemon reports whether a project, or any, depends on a daemon that runs.
func needsDaemon(stateDir, root string) bool {
	roots, _ := daemonapi.Dependents(stateDir) // if that fails, none is known
	return len(roots) > 0 && (root == "" || slices.Contains(roots, root))
}
