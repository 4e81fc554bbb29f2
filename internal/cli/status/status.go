// Package status has the commands that say what is happening and what was decided.
package status

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/launcher"
	"github.com/stopgate/stopgate/internal/cli/session"
	"github.com/stopgate/stopgate/internal/cli/setup"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// recentStops is how many stops status shows.
const recentStops = 10

func NewStatus() *cobra.Command {
	var asJSON, follow bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether this project is enforced, and the latest stops",
		Long: `Show whether this project is enforced, its open failures, what the supervisor's reviews
cost, and the latest stops; the queues of all tmux sessions and messages that wait to be sent;
and what the daemon is running or waiting for. To test that a block blocks: stopgate doctor

With --watch, show it again whenever the daemon reports a change, until Ctrl-C.

Exit code 0: shown. 3: the daemon is not running (with --watch). 130: interrupted.`,
		Example: `  stopgate status
  stopgate status --watch
  stopgate status --json | jq .unanswered`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := here.FindHere()
			if err != nil {
				return err
			}
			if follow {
				return watchStatus(h, cmd)
			}
			s, err := look(cmd.Context(), h)
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(cmd.OutOrStdout(), s)
			}
			return s.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&follow, "watch", false, "show it again on every change, until Ctrl-C")
	return cmd
}

type status struct {
	Root   string       `json:"root"`
	Config string       `json:"config"`         // valid, invalid, none, missing: approved, and not here
	Hooks  []string     `json:"hooks"`          // scopes that call us
	Dead   string       `json:"dead,omitempty"` // why the hooks that are installed do not count
	Trust  string       `json:"trust"`
	remedy trust.Remedy // where it was edited
	absent bool         // the branch does not have the configuration
	Global string       `json:"global_faults,omitempty"`
	Off    *stop.Recess `json:"off,omitempty"`
	// Exempt are the settings by which red gates block no stop.
	Exempt []config.Exemption `json:"exempt_by,omitempty"`
	Open   int                `json:"unanswered"` // stops received and not answered
	Gates  *gatesStatus       `json:"gates,omitempty"`
	// Protected are protected files that wait for approval.
	Protected []setup.WaitingView `json:"protected,omitempty"`
	// Supervisor is nil where nothing was reviewed.
	Supervisor *launcher.ReviewsStatus `json:"supervisor,omitempty"`
	session.SessionsStatus
	Daemon *daemon.DaemonStatus `json:"daemon"`
	Stops  []event.Record       `json:"stops"`

	reach    settings.Reach // by which files
	launched bool           // a supervised launch has put its entry into the settings
}

// gatesStatus is how the gates of a project stand.
type gatesStatus struct {
	Open     []openGate `json:"open"`
	Failures int        `json:"failures"` // failing runs of the series
	Limit    bool       `json:"retry_limit_reached"`
	Damaged  bool       `json:"ledger_damaged,omitempty"`
	// Running are the gates that run now.
	Running []gauntlet.Running `json:"running,omitempty"`
}

type openGate struct {
	Job        string    `json:"job"`
	Since      time.Time `json:"since"`
	Message    string    `json:"message"`
	Log        string    `json:"log,omitempty"`
	Violations int       `json:"violations,omitempty"`
}

func readGates(stateDir, root string) (*gatesStatus, error) {
	state, err := ledger.Open(stateDir, root).Read()
	if err != nil {
		return nil, err
	}
	g := &gatesStatus{Open: []openGate{}, Failures: state.Series.Failures, Limit: state.Series.Limit, Damaged: state.Damaged}
	for _, f := range state.Open {
		g.Open = append(g.Open, openGate{Job: f.Job, Since: f.Since, Message: f.Message, Log: logdir.Find(f.Log), Violations: len(f.Violations)})
	}
	return g, nil
}

// print shows what is red, if anything is.
func (g *gatesStatus) print(p term.Paint, row func(name, text, hint string)) {
	if g.Damaged {
		row("ledger", p.Yellow("damaged: every gate runs at the next stop"), "")
	}
	for _, r := range g.Running {
		row("running", plain.Line(r.Job)+" for "+time.Since(r.Since).Round(time.Second).String(), "")
	}
	for _, open := range g.Open {
		hint := open.Log
		if open.Violations > 0 {
			hint = "stopgate violations list"
		}
		row("failed", p.Red(plain.Line(open.Job))+" since "+open.Since.Local().Format(time.DateTime)+": "+plain.Line(open.Message), hint)
	}
	if g.Limit {
		row("limit", p.Yellow("reached after "+plain.Count(g.Failures, "failing run")+": "+ledger.LimitEnds), ledger.LimitRemedy)
	}
}

func look(ctx context.Context, h *here.Place) (*status, error) {
	s := &status{Root: h.Root, Config: "none", Hooks: []string{}, Stops: []event.Record{}, Daemon: daemon.ReadDaemon(ctx, h.StateDir)}
	if h.HasProject {
		s.Config = configWord(h)
	}
	if h.GlobalErr != nil {
		s.Global = h.GlobalErr.Error()
	}

	s.readHooks(settings.Inspect(h.Cwd))
	if unread, found := settings.OutOfReach(h.Cwd, h.Root); found && len(s.Hooks) == 0 && s.Dead == "" {
		s.Dead = unread.String() + ": " + unread.Then()
	}
	readTrust(h, s)

	if h.HasProject {
		checks, err := readGates(h.StateDir, h.Root)
		if err != nil {
			return nil, err
		}
		checks.Running = gauntlet.Now(h.StateDir, h.Root, gates.LogDir(h, io.Discard))
		s.Gates = checks
		project := h.Locator().Locate(h.Root, false).Project
		s.Protected = protected(ctx, h, project)
		if project != nil {
			s.Exempt = h.Global.Exemptions(project.Config, os.Environ(), paths.ProjectConfig(h.Root), h.GlobalPath)
		}
	}

	if recess, on := stop.InRecess(h.StateDir, h.Root, time.Now()); on {
		s.Off = &recess
	}
	sessions, err := session.ReadSessions(h.StateDir, filepath.Dir(h.GlobalPath))
	if err != nil {
		return nil, err
	}
	s.SessionsStatus = sessions
	return s, s.readStops(filepath.Join(h.StateDir, "journal"))
}

// protected are the protected files that wait for approval here.
func protected(ctx context.Context, h *here.Place, project *keeper.Project) []setup.WaitingView {
	if !protect.Protects(project) {
		return nil
	}
	_, all := setup.Waiting(ctx, h, project)
	return setup.ViewWaiting(all)
}

// more says how many there are besides one.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// configWord is how the configuration stands in the project's files.
func configWord(h *here.Place) string {
	if _, err := setup.ReadContents(h.ConfigDir(), h.ConfigDir()); err == nil {
		return "valid"
	}
	if !paths.HasConfig(h.Root) {
		return "missing"
	}
	return "invalid"
}

// readTrust says how the project stands to what was approved, and what that leads to where it
// was edited.
func readTrust(h *here.Place, s *status) {
	switch {
	case !h.Enforces():
		s.Trust = "not enforced"
		return
	case !h.HasProject:
		s.Trust = "enforced"
		return
	}
	standing, err := h.Trust().Standing(h.Root)
	if err != nil {
		s.Trust = err.Error()
		return
	}
	s.Trust, s.absent = string(standing.State), standing.Absent(os.Environ())
	if standing.State == trust.Edited {
		s.remedy = standing.Content.Remedy()
	}
}

// readHooks gathers where we are called from. A file that Claude Code drops, or
// hooks that are switched off, would be a comfort that is none.
func (s *status) readHooks(files []settings.File) {
	for _, file := range files {
		s.launched = s.launched || len(file.Supervisor) > 0 && file.Calls(files)
		switch {
		case len(file.Entries) == 0, file.Plugin != "" && !file.By.On:
		case file.Dropped():
			s.Dead = "Claude Code ignores " + file.Path + ": nothing is enforced"
		case !file.Calls(files):
			by, _ := settings.Disabled(files)
			s.Dead = by.Path + " switches all hooks off: nothing is enforced"
		default:
			s.Hooks = append(s.Hooks, file.Scope.String())
			s.reach.Scopes = append(s.reach.Scopes, file.Scope)
		}
	}
	if plugin, found := settings.Asleep(files); found && len(s.Hooks) == 0 && s.Dead == "" {
		s.Dead = plugin.WhyAsleep() + ": nothing is enforced"
	}
}

// readStops gathers the latest stops of the project.
func (s *status) readStops(dir string) error {
	open := map[string]bool{}
	here := spellings{root: s.Root}
	var reviews launcher.ReviewsStatus

	for entry, err := range journal.New(dir, journal.Limits{}).Read(journal.Position{}) {
		if err != nil {
			return err
		}
		r := entry.Record
		if r == nil || !here.same(r.Project) || r.Event != "Stop" && r.Event != "SubagentStop" {
			continue
		}
		if r.Kind == event.Received {
			open[r.Call] = true
			continue
		}

		delete(open, r.Call)
		reviews.Add(r)
		if s.Stops = append(s.Stops, *r); len(s.Stops) > recentStops {
			s.Stops = s.Stops[1:]
		}
	}

	s.Open = len(open)
	if reviews.Sessions > 0 {
		s.Supervisor = &reviews
	}
	return nil
}

func (s *status) print(out io.Writer) error { return s.write(term.Prose(out), term.PaintFor(out)) }

func (s *status) write(out io.Writer, p term.Paint) error {
	row := func(name, text, hint string) {
		if hint != "" {
			text += "  " + p.Faint("→ "+hint)
		}
		fmt.Fprintf(out, "%-8s %s\n", name, text)
	}

	row("project", term.Shown(s.Root), "")
	switch {
	case s.Config == "none":
		row("config", "none: nothing to enforce", "stopgate init")
	case s.absent:
		row("config", p.Yellow("not in this branch"), trust.GetHere)
	case s.Config == "missing":
		row("config", p.Yellow("missing"), "stopgate trust --restore")
	case s.Config == "invalid" && s.Trust == string(trust.Edited): // the approved copy is another
		row("config", p.Yellow("the current files are invalid"), "stopgate validate")
	case s.Config == "invalid":
		row("config", p.Red("invalid: nothing is enforced"), "stopgate validate")
	default:
		row("config", s.Config, "")
	}
	if s.Global != "" {
		row("global", p.Yellow("the global config has errors: invalid sections fall back to the defaults"), "stopgate validate")
	}

	switch state := trust.State(s.Trust); {
	case state == trust.Untrusted:
		row("trust", p.Red("not approved: nothing is enforced"), "stopgate trust --show")
	case s.Config == "missing":
		row("trust", p.Yellow("approved, but not here: "+s.remedy.String()), "")
	case state == trust.Edited:
		row("trust", p.Yellow("edited since it was approved: "+s.remedy.String()), "stopgate trust --show")
	default:
		row("trust", s.Trust, "")
	}

	switch {
	case len(s.Hooks) > 0:
		row("hooks", s.reach.Where(), "")
	case s.Dead != "":
		row("hooks", p.Red(s.Dead), "stopgate doctor")
	case s.launched:
		row("hooks", p.Yellow("only the supervisor's hook is installed: no gate is enforced"), "stopgate hooks install")
	default:
		row("hooks", p.Red("not installed: nothing is enforced"), "stopgate hooks install")
	}

	for _, exempt := range s.Exempt {
		row("blocks", p.Yellow("none ("+exempt.Setting+"): "+exempt.Means), plain.Line(exempt.Remedy()))
	}
	if s.Off != nil {
		text := "until " + s.Off.Until.Local().Format(time.DateTime)
		if s.Off.Why != "" {
			text += " (" + plain.Line(s.Off.Why) + ")"
		}
		row("off", p.Yellow(text), "stopgate on")
	}
	if s.Open > 0 {
		row("pending", p.Yellow(plain.Count(s.Open, "stop")+" without an answer: the hook is still running, or was killed before it enforced anything"), "stopgate log")
	}

	if s.Gates != nil {
		s.Gates.print(p, row)
	}
	if n := len(s.Protected); n > 0 {
		row("protect", p.Yellow(plain.Count(n, "protected file")+" changed without approval: "+s.Protected[0].String()+more(n-1)), "stopgate approve")
	}
	if s.Supervisor != nil {
		row("reviews", s.Supervisor.String(), "stopgate supervisor status")
	}
	s.SessionsStatus.Print(p, row)
	s.Daemon.Print(p, row)

	if len(s.Stops) > 0 {
		fmt.Fprintln(out, "\nlatest stops")
	}
	view := newLogView(out)
	view.paint = p
	for i := range s.Stops {
		if err := view.line(&s.Stops[i]); err != nil {
			return err
		}
	}
	return nil
}

// spellings knows one directory by all its paths: a project may be reached
// through a link.
type spellings struct {
	root string
	seen map[string]bool
}

func (s *spellings) same(path string) bool {
	if path == s.root || path == "" {
		return path == s.root
	}
	same, known := s.seen[path]
	if !known {
		same = disk.Same(path, s.root)
		if s.seen == nil {
			s.seen = map[string]bool{}
		}
		s.seen[path] = same
	}
	return same
}
