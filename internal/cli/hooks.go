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
		Example: `  stopgate hooks install
  stopgate hooks status`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
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
}

// scope is the one that was chosen, if one was.
func (f *scopeFlags) scope(cmd *cobra.Command) (scope settings.Scope, chosen bool, err error) {
	if err := atMostOne(cmd, "user", "project", "local"); err != nil {
		return settings.Local, false, err
	}
	switch {
	case f.user:
		return settings.User, true, nil
	case f.project:
		return settings.Project, true, nil
	case f.local:
		return settings.Local, true, nil
	}
	return settings.Local, false, nil
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
		Example: `  stopgate hooks install
  stopgate hooks install --user
  stopgate hooks install --project     teammates need stopgate on their PATH`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			scope, _, err := where.scope(cmd)
			if err != nil {
				return err
			}
			h, err := findNearest()
			if err != nil {
				return err
			}
			return h.install(cmd.OutOrStdout(), scope, yes)
		},
	}
	where.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "for scripts outside the client: approve without a terminal")
	return cmd
}

func (h *here) install(out io.Writer, scope settings.Scope, yes bool) error {
	to, err := h.target(scope)
	if err != nil {
		return err
	}
	if scope == settings.User {
		// First, so that no moment has hooks everywhere and trust nowhere.
		if err := h.enforceTrust(out); err != nil {
			return err
		}
		return h.installHooks(out, to)
	}
	if err := h.installHooks(out, to); err != nil || !h.hasProject {
		return err
	}
	if err := trust.RequirePerson("approve", yes); err != nil {
		fmt.Fprintf(out, "not approved: %s (%v)\n", h.configDir(), err)
		return nil
	}
	return approve(out, h, yes)
}

// target is a settings file that may take the hooks.
type target struct {
	scope     settings.Scope
	path      string
	command   string
	installed []settings.Entry
}

// target refuses a file that the client drops or that cannot be edited, and one
// beside which another has the hooks already: two would answer every event twice.
func (h *here) target(scope settings.Scope) (target, error) {
	path, err := settings.Path(scope, h.root)
	if err != nil {
		return target{}, err
	}
	to := target{scope: scope, path: path}
	if to.command, err = command(scope); err != nil {
		return to, err
	}
	for _, file := range settings.Inspect(h.root) {
		switch {
		case file.Path == path:
			to.installed = file.Entries
		case len(file.Entries) > 0 && file.Scope == settings.Managed:
			return to, fmt.Errorf("the administrator installed the hooks already, in %s", file.Path)
		case len(file.Entries) > 0:
			return to, hintError{
				fmt.Errorf("the hooks are installed already, in the %s settings %s", file.Scope, file.Path),
				fmt.Sprintf("to move them, first run: stopgate hooks uninstall --%s", file.Scope),
			}
		}
	}
	if err := settings.Check(path, settings.Plan(to.command, nil, to.installed)); err != nil {
		return to, fmt.Errorf("install the hooks: %w", err)
	}
	return to, nil
}

// installHooks merges the entries into the file.
func (h *here) installHooks(out io.Writer, to target) error {
	var project *config.Project
	if h.hasProject {
		// An invalid configuration is validate's to tell; its events come with
		// the next install.
		project, _ = config.LoadProject(h.configDir(), h.short(h.configDir()))
	}
	changed, err := settings.Install(to.path, settings.Plan(to.command, project, to.installed))
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintf(out, "installed the hooks in %s\n", to.path)
	} else {
		fmt.Fprintf(out, "the hooks are in %s already\n", to.path)
	}
	h.noteObstacles(out, to)
	return nil
}

// noteObstacles tells what keeps the hooks that are now installed from working.
func (h *here) noteObstacles(out io.Writer, to target) {
	if _, err := exec.LookPath("stopgate"); err != nil && to.scope == settings.Project {
		fmt.Fprintln(out, "note: stopgate is not on your PATH; the client will not find it there")
	}
	if h.cwd != h.root && to.scope != settings.User {
		fmt.Fprintf(out, "note: start claude in %s; started in %s it does not read this file\n", h.root, h.cwd)
	}
	if by, disabled := settings.Disabled(settings.Inspect(h.root)); disabled {
		fmt.Fprintf(out, "note: %s switches all hooks off\n", by.Path)
	}
}

// command is how the client shall call us: by the bare name in a file that
// others use too, else by the path that stays when the program is updated.
func command(scope settings.Scope) (string, error) {
	if scope == settings.Project {
		return "stopgate", nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if onPath, err := exec.LookPath("stopgate"); err == nil && sameFile(onPath, self) {
		return filepath.Abs(onPath)
	}
	// By the name we know our entries again.
	if name := called(self); name != "stopgate" && name != "conclaude" {
		return "", hintError{fmt.Errorf("cannot install hooks that call %s", self), "install the program under the name stopgate"}
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
		Use:   "uninstall",
		Short: "Take the hooks out (default: wherever they are in force here)",
		Long: `Take stopgate's hooks out of the client's settings. A file that nobody else touched
becomes what it was before, to the byte. An agent is refused.`,
		Example: `  stopgate hooks uninstall
  stopgate hooks uninstall --user`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			only, chosen, err := where.scope(cmd)
			if err != nil {
				return err
			}
			// A script may: it has no gates to escape from.
			if err := trust.RequirePerson("take the hooks out", true); err != nil {
				return err
			}
			h, err := findNearest()
			if err != nil {
				return err
			}
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
		Example: `  stopgate hooks status
  stopgate hooks status --json | jq '.[].entries[].event'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := findNearest()
			if err != nil {
				return err
			}
			views := hookViews(h.cwd)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), views)
			}
			h.printHookViews(cmd.OutOrStdout(), views)
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
	Event   string   `json:"event"`
	Matcher string   `json:"matcher,omitempty"`
	Command string   `json:"command"`
	Timeout float64  `json:"timeout_seconds"`
	Spoilt  []string `json:"spoilt_by,omitempty"`
}

// timeout is for people; a file need not set one.
func (e entryView) timeout() string {
	if e.Timeout == 0 {
		return "-"
	}
	return brief(time.Duration(e.Timeout * float64(time.Second)))
}

// hookViews shows what a client started in dir reads.
func hookViews(dir string) []hookView {
	var views []hookView
	for _, file := range settings.Inspect(dir) {
		view := hookView{Scope: file.Scope.String(), Path: file.Path, Exists: file.Exists, DisableAllHooks: file.DisableAllHooks != nil && *file.DisableAllHooks, Entries: []entryView{}}
		if file.Err != nil {
			view.Error = file.Err.Error()
		}
		for _, fault := range file.Faults {
			view.Faults = append(view.Faults, fault.String())
		}
		for _, e := range file.Entries {
			view.Entries = append(view.Entries, entryView{string(e.Event), e.Matcher, e.Line(), e.Timeout.Seconds(), e.Spoilt})
		}
		views = append(views, view)
	}
	return views
}

func (h *here) printHookViews(out io.Writer, views []hookView) {
	p := paintFor(out)
	entries := 0
	for _, v := range views {
		entries += len(v.Entries)
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
			command := e.Command
			if e.Matcher != "" {
				command += "  (only " + e.Matcher + ")"
			}
			fmt.Fprintf(out, "         %-20s %-7s %s\n", e.Event, e.timeout(), p.faint(command))
			if len(e.Spoilt) > 0 {
				fmt.Fprintf(out, "         %-20s %s\n", "", p.red("it decides nothing, because of "+strings.Join(e.Spoilt, ", ")))
			}
		}
	}
	if entries > 0 {
		return
	}
	why, hint := "the hooks are not installed", "stopgate hooks install"
	if above, found := settings.OutOfReach(h.cwd, h.root); found {
		why = fmt.Sprintf("a client started in %s does not read %s", h.cwd, above)
		hint = fmt.Sprintf("start it in %s, or: stopgate hooks install --user", h.root)
	}
	fmt.Fprintf(out, "%s\n  %s\n", p.red(why), p.faint("→ "+hint))
}
