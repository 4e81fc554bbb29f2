package setup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/project/notify"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewDoctor() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "doctor",
		Short: "Test that stops are blocked, and find what is wrong",
		Long: `Check Claude Code, every settings file in force here, the configuration and its
approval (all that stopgate validate finds), and the programs and reviewers
that gates need (all that stopgate health finds). Then call the installed hook
as Claude Code does, in a temporary project, and test that it blocks. Your own
commands are never run.

Exit code 0: enforcement is live and every file is valid. 1: otherwise, or
doctor cannot tell.`,
		Example: `  stopgate doctor
  stopgate doctor --json | jq '.findings[] | select(.level == "dead")'`,
		Args: term.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (examination, error) {
		h, err := here.FindHere()
		if err != nil {
			return examination{}, err
		}
		ctx, stop := term.UntilSignal(cmd)
		defer stop()
		e := examination{hasProject: h.HasProject}
		e.Report = doctor.Examine(ctx, doctor.Place{StateDir: h.StateDir, Needs: gates.Needs, GlobalPath: h.GlobalPath, Dir: h.Cwd, Root: h.Root, HasProject: h.HasProject})
		if h.HasProject {
			if err := e.Keep(h.StateDir, h.Root, time.Now()); err != nil {
				e.add(doctor.Warn, "record", "the result cannot be kept for the web page: "+err.Error(), "")
			}
		}
		e.invalid = h.GlobalErr != nil || e.Report.Invalid
		e.validate(h)
		e.notifies(ctx, h)
		for _, note := range unprotected(ctx, h) {
			e.add(doctor.Warn, "protect", note, "correct the entry under protect: in .gauntlet/config.yml, if that is not what you want")
		}
		return e, nil
	})
}

// examination is what doctor found.
type examination struct {
	doctor.Report
	hasProject bool
	invalid    bool // a file is not valid, be it in force or not
}

func (e *examination) add(level doctor.Level, what, text, hint string) {
	e.Findings = append(e.Findings, doctor.Finding{Level: level, What: what, Text: plain.Line(text), Hint: plain.Line(hint)})
}

// validate adds what validate finds in the files that stops do not depend on.
func (e *examination) validate(h *here.Place) {
	for _, file := range []struct {
		what string
		look func(*here.Place) (string, []document.Fault)
	}{{"launcher", validateLauncher}, {"agent registry", validateRegistry}, {"ci", (*here.Place).ValidateCI}} {
		path, faults := file.look(h)
		for _, fault := range faults {
			e.invalid = true
			e.add(doctor.Warn, file.what, fault.String(), cmp.Or(fault.Hint, "stopgate validate"))
		}
		if path != "" && len(faults) == 0 {
			e.add(doctor.OK, file.what, path+" is valid", "")
		}
	}
}

// notifies warns of ways to notify a person that nothing uses: hooks run only a command, and the rest is the
// daemon's.
func (e *examination) notifies(ctx context.Context, h *here.Place) {
	ways := notify.Route(h.Global.Notify, paths.Home(os.Getenv), h.Root)
	var keys []string
	if ways.Desktop {
		keys = append(keys, "notify.desktop")
	}
	if len(ways.URLs) > 0 {
		keys = append(keys, "notify.urls")
	}
	if len(keys) == 0 || ways.Muted {
		return
	}

	if !daemon.ReadDaemon(ctx, h.StateDir).Running {
		be := " is"
		if len(keys) > 1 {
			be = " are"
		}
		e.add(doctor.Warn, "notify", strings.Join(keys, " and ")+be+" sent by the daemon, which is not running", "stopgate daemon install")
	}
	if ways.Command == "" {
		e.add(doctor.Warn, "notify", "a stop does not notify you: hooks use only notify.command, which is not set", "set notify.command in "+h.GlobalPath)
	}
}

// JSON is what a program gets.
func (e examination) JSON() any {
	return map[string]any{"live": e.Live(), "commands": e.Commands, "findings": e.Findings}
}

var _ term.Failing = examination{}

// Failure is how the command ends: as validate and health do, which it covers.
func (e examination) Failure() error { return term.FailedIf(!e.Live() || e.invalid) }

// Print implements term.View.
func (e examination) Print(out io.Writer) {
	p := term.PaintFor(out)
	for _, f := range e.Findings {
		mark := p.Green("ok  ")
		switch f.Level {
		case doctor.Warn, doctor.Unsure:
			mark = p.Yellow("warn")
		case doctor.Dead:
			mark = p.Red("DEAD")
		}
		fmt.Fprintf(out, "%s  %s: %s\n", mark, f.Label(), f.Text)
		if f.Hint != "" {
			fmt.Fprintf(out, "      %s\n", p.Faint("→ "+f.Hint))
		}
	}

	switch {
	case e.Partly():
		fmt.Fprintln(out, p.Red("stops are enforced, but a part of the configuration is not: see DEAD above"))
	case e.Dead():
		fmt.Fprintln(out, p.Red("enforcement is NOT live"))
	case !e.Live():
		fmt.Fprintln(out, p.Yellow("enforcement may not be live"))
	case e.invalid:
		fmt.Fprintln(out, p.Yellow("enforcement is live, but a configuration file is not valid"))
	case !e.hasProject:
		fmt.Fprintln(out, p.Bold("the hooks work, but there is nothing to enforce here"))
	case e.Commands == 0:
		fmt.Fprintln(out, p.Bold("the hooks work, but no gates are configured"))
	default:
		fmt.Fprintln(out, p.Bold("enforcement is live"))
	}
}
