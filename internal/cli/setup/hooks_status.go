package setup

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newHooksStatus() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "status",
		Short: "Show the settings files that Claude Code reads here, and the hooks in them",
		Example: `  stopgate hooks status
  stopgate hooks status --json | jq '.[].entries[].event'`,
		Args: term.NoArgs,
	}, func(*cobra.Command, []string) (hooksStatus, error) {
		h, err := here.FindNearest()
		if err != nil {
			return hooksStatus{}, err
		}
		return hooksStatus{h, hookViews(h.Cwd)}, nil
	})
}

// hooksStatus is what the settings files hold that are in force at a place.
type hooksStatus struct {
	here  *here.Place
	views []hookView
}

// JSON is what a program gets.
func (s hooksStatus) JSON() any { return s.views }

type hookView struct {
	Scope           string      `json:"scope"`
	Path            string      `json:"path"`
	Exists          bool        `json:"exists"`
	Error           string      `json:"error,omitempty"`
	Faults          []string    `json:"faults,omitempty"`
	DisableAllHooks bool        `json:"disable_all_hooks,omitempty"`
	Entries         []entryView `json:"entries"`
	Supervisor      []entryView `json:"supervisor,omitempty"` // the launcher's
	Plugin          string      `json:"plugin,omitempty"`     // whose hooks these are
	Disabled        string      `json:"disabled,omitempty"`   // why Claude Code does not load the plugin
	enable          string
	renew           string // the command that brings the entries to what this stopgate installs
}

type entryView struct {
	Event   string   `json:"event"`
	Matcher string   `json:"matcher,omitempty"`
	Command string   `json:"command"`
	Timeout float64  `json:"timeout_seconds"`
	Spoilt  []string `json:"spoilt_by,omitempty"`
	Gone    bool     `json:"program_gone,omitempty"`
	// Answerable is how long what agents ask can be answered, where that is shorter than it
	// need be.
	Answerable float64 `json:"answerable_seconds,omitempty"`
}

func viewOf(e settings.Entry) entryView {
	_, err := exec.LookPath(e.Program())
	view := entryView{Event: string(e.Event), Matcher: e.Matcher, Command: e.Line(), Timeout: e.Timeout.Seconds(), Spoilt: e.Spoilt, Gone: err != nil}
	if long, short := e.Answerable(); short {
		view.Answerable = long.Seconds()
	}
	return view
}

// timeout is for people; a file need not set one.
func (e entryView) timeout() string {
	if e.Timeout == 0 {
		return "-"
	}
	return plain.Duration(time.Duration(e.Timeout * float64(time.Second)))
}

// hookViews shows what a client started in dir reads.
func hookViews(dir string) []hookView {
	var views []hookView
	for _, file := range settings.Inspect(dir) {
		view := hookView{Scope: file.Scope.String(), Path: file.Path, Exists: file.Exists, DisableAllHooks: file.DisableAllHooks != nil && *file.DisableAllHooks, Entries: []entryView{}}
		if view.Plugin = file.Plugin; file.Plugin != "" && !file.By.On {
			view.Disabled, view.enable = file.WhyAsleep(), file.Enable()
		}
		if view.renew = "stopgate hooks install"; file.Plugin != "" {
			view.renew = file.Renew()
		}

		if file.Err != nil {
			view.Error = file.Err.Error()
		}
		for _, fault := range file.Faults {
			view.Faults = append(view.Faults, fault.String())
		}

		for _, e := range file.Entries {
			view.Entries = append(view.Entries, viewOf(e))
		}
		for _, e := range file.Supervisor {
			view.Supervisor = append(view.Supervisor, viewOf(e))
		}
		views = append(views, view)
	}
	return views
}

// Print implements term.View.
func (s hooksStatus) Print(out io.Writer) {
	p := term.PaintFor(out)
	entries := 0
	for _, v := range s.views {
		entries += len(v.Entries)
		switch {
		case !v.Exists:
			fmt.Fprintf(out, "%-8s %s %s\n", v.Scope, v.Path, p.Faint("(absent)"))
		case v.Error != "":
			fmt.Fprintf(out, "%-8s %s %s\n", v.Scope, v.Path, p.Red("Claude Code ignores this file: "+v.Error))
		default:
			fmt.Fprintf(out, "%-8s %s\n", v.Scope, v.Path)
		}

		for _, fault := range v.Faults {
			fmt.Fprintf(out, "         %s\n", p.Red("Claude Code ignores this file: "+fault))
		}
		if v.Disabled != "" {
			fmt.Fprintf(out, "         %s\n           %s\n", p.Red(plain.Line(v.Disabled)), p.Faint("→ "+plain.Line(v.enable)))
		}
		if v.DisableAllHooks {
			fmt.Fprintf(out, "         %s\n", p.Red("disableAllHooks is on"))
		}

		for _, e := range slices.Concat(v.Entries, v.Supervisor) {
			command := plain.Name(e.Command)
			if e.Matcher != "" {
				command += "  (only " + plain.Name(e.Matcher) + ")"
			}
			fmt.Fprintf(out, "         %-20s %-7s %s\n", e.Event, e.timeout(), p.Faint(command))
			if len(e.Spoilt) > 0 {
				fmt.Fprintf(out, "         %-20s %s\n", "", p.Red("it has no effect, because of "+strings.Join(e.Spoilt, ", ")))
			}
			if e.Gone {
				fmt.Fprintf(out, "         %-20s %s\n", "", p.Red("this program no longer exists"))
			}
			if e.Answerable > 0 {
				long := plain.Duration(time.Duration(e.Answerable * float64(time.Second)))
				fmt.Fprintf(out, "         %-20s %s  %s\n", "", p.Yellow("an agent's question must be answered within "+long), p.Faint("→ "+plain.Line(v.renew)))
			}
		}
	}

	if entries > 0 {
		return
	}
	why, hint := "the hooks are not installed", "stopgate hooks install"
	if unread, found := settings.OutOfReach(s.here.Cwd, s.here.Root); found {
		why, hint = unread.String(), unread.Hint()
	}
	fmt.Fprintf(out, "%s\n  %s\n", p.Red(why), p.Faint("→ "+hint))
}
