package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/settings"
	"github.com/stopgate/stopgate/internal/trust"
)

func newHooks() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "Put stopgate into the client's settings, or take it out",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newHooksInstall(), newHooksUninstall(), newHooksStatus())
	return cmd
}

// scopeFlags choose a settings file.
type scopeFlags struct{ user, project, local bool }

func (f *scopeFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.user, "user", false, "your own settings, for all projects")
	cmd.Flags().BoolVar(&f.project, "project", false, "the project's settings, which are committed")
	cmd.Flags().BoolVar(&f.local, "local", false, "your own settings in this project")
	cmd.MarkFlagsMutuallyExclusive("user", "project", "local")
}

func (f *scopeFlags) scope() (settings.Scope, bool) {
	switch {
	case f.user:
		return settings.User, true
	case f.project:
		return settings.Project, true
	case f.local:
		return settings.Local, true
	}
	return settings.Local, false
}

func newHooksInstall() *cobra.Command {
	var where scopeFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the hooks (default: --local)",
		Long: `Merge stopgate's hooks into a settings file of the client. Every other key and hook
stays as it is; installing twice changes nothing; the first change keeps a backup.

--user also writes "trust: enforce" into the global config: from then on only
projects that you approved run anything. --project and --local approve the
project's .gauntlet/ as it stands.`,
		Example: `  stopgate hooks install --user
  stopgate hooks install --project     teammates need stopgate on their PATH`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := findHere()
			if err != nil {
				return err
			}
			scope, _ := where.scope()
			return h.install(cmd.OutOrStdout(), scope, yes)
		},
	}
	where.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "for scripts outside the client: approve without a terminal")
	return cmd
}

func (h *here) install(out io.Writer, scope settings.Scope, yes bool) error {
	if err := h.installHooks(out, scope); err != nil {
		return err
	}
	if scope == settings.User {
		return h.enforceTrust(out)
	}
	if !h.hasProject {
		return nil
	}
	if err := trust.RequirePerson("approve", yes); err != nil {
		fmt.Fprintf(out, "not approved: %s (%v)\n", h.configDir(), err)
		return nil
	}
	return approve(out, h, yes)
}

// installHooks merges the entries into the scope's file, unless another scope
// has them already: two would answer every event twice.
func (h *here) installHooks(out io.Writer, scope settings.Scope) error {
	path, err := settings.Path(scope, h.root)
	if err != nil {
		return err
	}
	var installed []settings.Entry
	for _, file := range settings.Inspect(h.root) {
		switch {
		case file.Path == path:
			installed = file.Entries
		case len(file.Entries) > 0:
			return fmt.Errorf("already installed in %s (%s); to move it, first run: stopgate hooks uninstall --%s",
				file.Path, file.Scope, file.Scope)
		}
	}
	command, err := h.command(out, scope)
	if err != nil {
		return err
	}
	var project *config.Project
	if h.hasProject {
		// An invalid configuration is validate's to tell; its events come with
		// the next install.
		project, _ = config.LoadProject(h.configDir(), h.short(h.configDir()))
	}
	changed, err := settings.Install(path, settings.Plan(command, project, installed))
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintf(out, "installed the hooks in %s\n", path)
	} else {
		fmt.Fprintf(out, "the hooks are in %s already\n", path)
	}
	return nil
}

// command is how the client shall call us: by the bare name in a file that
// others use too, else by the path that stays when the program is updated.
func (h *here) command(out io.Writer, scope settings.Scope) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	onPath, lookErr := exec.LookPath("stopgate")
	if scope == settings.Project {
		if lookErr != nil {
			fmt.Fprintln(out, "note: stopgate is not on your PATH; the client will not find it there")
		}
		return "stopgate", nil
	}
	if lookErr == nil && sameFile(onPath, self) {
		return filepath.Abs(onPath)
	}
	return self, nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// enforceTrust turns trust on, unless the global config says something about it
// already.
func (h *here) enforceTrust(out io.Writer) error {
	changed, err := config.EnforceTrust(h.globalPath)
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintf(out, "wrote \"trust: enforce\" to %s: only projects you approve run anything\n", h.globalPath)
		h.global, h.globalErr = config.LoadGlobal(h.globalPath)
	}
	return nil
}

func newHooksUninstall() *cobra.Command {
	var where scopeFlags
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Take the hooks out (default: wherever they are in force here)",
		Example: "  stopgate hooks uninstall --user",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := findHere()
			if err != nil {
				return err
			}
			only, chosen := where.scope()
			return h.uninstall(cmd.OutOrStdout(), only, chosen)
		},
	}
	where.register(cmd)
	return cmd
}

func (h *here) uninstall(out io.Writer, only settings.Scope, chosen bool) error {
	found := false
	var failed error
	for _, file := range settings.Inspect(h.root) {
		if file.Scope == settings.Managed || chosen && file.Scope != only || !file.Exists {
			continue
		}
		changed, err := settings.Uninstall(file.Path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if changed {
			found = true
			fmt.Fprintf(out, "took the hooks out of %s\n", file.Path)
		}
	}
	if !found && failed == nil {
		fmt.Fprintln(out, "the hooks are not installed here")
	}
	return failed
}

func newHooksStatus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which settings files are in force and what they hold",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := findHere()
			if err != nil {
				return err
			}
			views := hookViews(h.root)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), views)
			}
			printHookViews(cmd.OutOrStdout(), views)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type hookView struct {
	Scope           string      `json:"scope"`
	Path            string      `json:"path"`
	Exists          bool        `json:"exists"`
	Error           string      `json:"error,omitempty"`
	Faults          []string    `json:"faults,omitempty"`
	DisableAllHooks bool        `json:"disable_all_hooks,omitempty"`
	Entries         []entryView `json:"entries"`
}

type entryView struct {
	Event   string  `json:"event"`
	Matcher string  `json:"matcher,omitempty"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout_seconds"`
}

func hookViews(root string) []hookView {
	var views []hookView
	for _, file := range settings.Inspect(root) {
		view := hookView{Scope: file.Scope.String(), Path: file.Path, Exists: file.Exists, DisableAllHooks: file.DisableAllHooks != nil && *file.DisableAllHooks, Entries: []entryView{}}
		if file.Err != nil {
			view.Error = file.Err.Error()
		}
		for _, fault := range file.Faults {
			view.Faults = append(view.Faults, fault.String())
		}
		for _, e := range file.Entries {
			view.Entries = append(view.Entries, entryView{string(e.Event), e.Matcher, strings.Join(append([]string{e.Command}, e.Args...), " "), e.Timeout.Seconds()})
		}
		views = append(views, view)
	}
	return views
}

func printHookViews(out io.Writer, views []hookView) {
	p := paintFor(out)
	for _, v := range views {
		switch {
		case !v.Exists:
			fmt.Fprintf(out, "%-8s %s %s\n", v.Scope, v.Path, p.faint("(absent)"))
		case v.Error != "":
			fmt.Fprintf(out, "%-8s %s %s\n", v.Scope, v.Path, p.red("the client drops this file: "+v.Error))
		default:
			fmt.Fprintf(out, "%-8s %s\n", v.Scope, v.Path)
		}
		for _, fault := range v.Faults {
			fmt.Fprintf(out, "         %s\n", p.red("the client drops this file: "+fault))
		}
		if v.DisableAllHooks {
			fmt.Fprintf(out, "         %s\n", p.red("disableAllHooks is on"))
		}
		for _, e := range v.Entries {
			fmt.Fprintf(out, "         %-20s %s\n", e.Event, p.faint(e.Command+", "+(time.Duration(e.Timeout)*time.Second).String()))
		}
	}
}
