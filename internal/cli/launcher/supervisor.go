package launcher

import (
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

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewSupervisor() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "supervisor",
		Short: "Turn reviews of a session on or off, and show their cost",
		Long: `The supervisor is a second Claude that reads the conversation when an agent is about to stop,
and sends the agent back to work if something is missing. It is off unless you turn it on: with
stopgate supervisor on or /supervisor in a running session, or for a whole session by starting
Claude Code as "CCC_SUPERVISOR=1 stopgate claude" (see stopgate claude --help).`,
		Example: `  stopgate supervisor status
  stopgate supervisor on --session 0f3a…`,
	}, newSupervisorSwitch("on", true), newSupervisorSwitch("off", false), newSupervisorStatus())
}

// inSession is the variable by which Claude Code tells its commands their session.
const inSession = "CLAUDE_CODE_SESSION_ID"

const sessionUsage = "session id, or a prefix of it (default: the session that runs the command)"

func newSupervisorSwitch(word string, on bool) *cobra.Command {
	var id string
	short := "Turn reviews of a session on"
	if !on {
		short = "Turn reviews of a session off"
	}

	cmd := &cobra.Command{
		Use:   word,
		Short: short,
		Long: short + `, no matter how it was started. This stays so when the
session is resumed. Inside Claude Code, the slash commands /supervisor and /supervisoroff
do the same; install them with: stopgate hooks install --slash-commands`,
		Example: "  stopgate supervisor " + word + " --session 5d8ff7a1-3c2b-4d1e-9f60-0a2b4c6d8e01",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			session, dir, err := findSession(id)
			if err != nil {
				return err
			}
			if err := switchSupervisor(cmd.Context(), dir, session, on); err != nil {
				return err
			}
			fmt.Fprintf(term.Prose(cmd.OutOrStdout()), "supervisor %s for session %s\n", word, session)
			if on {
				warnUncalled(term.Prose(cmd.OutOrStdout()))
			}
			return nil
		},
	}

	cmd.Flags().StringVar(&id, "session", "", sessionUsage)
	term.CompleteFlag(cmd, "session", reviewedSessions)
	return cmd
}

// switchSupervisor writes down what the person said. Switching on begins a new
// series.
func switchSupervisor(ctx context.Context, dir supervisor.Dir, session string, on bool) error {
	now := time.Now()
	_, err := dir.Update(ctx, session, now, func(s *supervisor.State) error {
		s.Enabled = &on
		if on {
			s.Renew()
		}
		return nil
	})
	if err == nil {
		// The log is for people; without it the switch is as good.
		_ = dir.Log(now, "switched by a person", "session_id", session, "enabled", fmt.Sprint(on))
	}
	return err
}

// warnUncalled says so where no hook would have anything reviewed.
func warnUncalled(out io.Writer) {
	cwd, err := os.Getwd()
	if err != nil {
		return
	}
	files := settings.Inspect(cwd)
	for _, f := range files {
		if f.Calls(files) && len(f.Supervisor) > 0 {
			return
		}
	}
	if slices.ContainsFunc(settings.InForce(files), func(e settings.Entry) bool { return e.Event == hook.Stop }) {
		return
	}
	fmt.Fprintln(out, "note: no stopgate hook is installed here, so nothing is reviewed; run: stopgate hooks install")
}

// findSession is the session that is meant, and where its state lies.
func findSession(id string) (session string, dir supervisor.Dir, err error) {
	path, err := paths.SupervisorDir(os.Getenv)
	if err != nil {
		return "", dir, err
	}
	dir = supervisor.At(path)
	session = cmp.Or(id, os.Getenv(inSession))
	if session == "" {
		return "", dir, term.BadUsage(errors.New("no session: this does not run inside Claude Code"), "name one with --session; ids are in: stopgate log")
	}
	if err := supervisor.CheckSession(session); err != nil {
		return "", dir, term.BadUsage(err, "ids are in: stopgate log")
	}
	if id == "" {
		return session, dir, nil // Claude Code's own word for it
	}

	state, err := paths.StateDir()
	if err != nil {
		return "", dir, err
	}
	session, err = here.Session(state, id, reviewedSessions(context.Background())...)
	return session, dir, err
}

func newSupervisorStatus() *cobra.Command {
	var id string
	cmd := term.Shows(&cobra.Command{
		Use:   "status",
		Short: "Show whether a session is reviewed, and what reviews cost",
		Long: `Show whether a session is reviewed, the number of its reviews and their cost. Outside a
session and without --session, list the sessions that were reviewed.`,
		Example: `  stopgate supervisor status
  stopgate supervisor status --json`,
		Args: term.NoArgs,
	}, func(*cobra.Command, []string) (term.View, error) {
		path, err := paths.SupervisorDir(os.Getenv)
		if err != nil {
			return nil, err
		}
		if id == "" && os.Getenv(inSession) == "" {
			return listSupervised(supervisor.At(path))
		}
		session, dir, err := findSession(id)
		if err != nil {
			return nil, err
		}
		return readSupervised(dir, session)
	})

	cmd.Flags().StringVar(&id, "session", "", sessionUsage)
	term.CompleteFlag(cmd, "session", reviewedSessions)
	return cmd
}

// supervised is how one session stands.
type supervised struct {
	Session  string             `json:"session_id"`
	On       *bool              `json:"on"` // nil: only the session itself knows
	Why      string             `json:"why"`
	Count    int                `json:"count"`
	Series   int                `json:"iteration"` // which review of its series the last one was
	Limit    int                `json:"limit"`
	Reviews  int                `json:"reviews"`
	Refusals int                `json:"refusals"`
	Spent    event.Cost         `json:"spent"`
	MaxCost  float64            `json:"max_cost_usd,omitempty"`
	Last     *supervisor.Review `json:"last,omitempty"`
	Updated  time.Time          `json:"updated_at,omitzero"`
	Output   string             `json:"output"`
	Log      string             `json:"log"`
}

func readSupervised(dir supervisor.Dir, session string) (*supervised, error) {
	state, err := dir.Read(session)
	if err != nil {
		return nil, err
	}
	limits := supervisorSettings()
	s := &supervised{
		Session: session, Count: state.Count, Series: state.Iteration(), Limit: limits.MaxIterations,
		Reviews: state.Reviews, Refusals: state.Refusals, Spent: state.Spent, MaxCost: limits.MaxCost,
		Last: state.Last, Updated: state.UpdatedAt, Output: dir.OutputFile(session), Log: dir.LogFile(),
	}
	started := os.Getenv(supervisor.Variable) == "1"
	switch {
	case state.Enabled != nil:
		s.On, s.Why = state.Enabled, "switched by a person"
	case session != os.Getenv(inSession):
		s.Why = "as it was started"
	case started:
		s.On, s.Why = &started, "started with CCC_SUPERVISOR=1"
	default:
		s.On, s.Why = &started, "not started with CCC_SUPERVISOR=1"
	}
	return s, nil
}

// supervisorSettings are those that hold here. What cannot be read is validate's to
// tell.
func supervisorSettings() config.SupervisorSettings {
	var own config.Supervisor
	if dir, err := paths.LauncherDir(os.Getenv); err == nil {
		own, _ = launch.LoadSupervisor(filepath.Join(dir, launch.ConfigFile))
	}
	var global config.Supervisor
	if path, err := paths.GlobalConfig(); err == nil {
		if g, err := config.LoadGlobal(path); err == nil {
			global = g.Supervisor
		}
	}
	return config.ResolveSupervisor(own, global)
}

// Print implements term.View.
func (s *supervised) Print(out io.Writer) {
	p := term.PaintFor(out)
	row := func(name, text string) { fmt.Fprintf(out, "%-10s %s\n", name, text) }
	switch {
	case s.On == nil:
		row("supervisor", s.Why)
	case *s.On:
		row("supervisor", p.Green("on")+p.Faint(" ("+s.Why+")"))
	default:
		row("supervisor", p.Faint("off ("+s.Why+")"))
	}
	row("session", s.Session)
	row("reviews", s.tally())
	row("cost", term.Money(s.Spent, s.MaxCost))
	if s.Last != nil {
		row("last", s.verdict(p))
	}
	row("log", s.Log)
	row("output", s.Output)
}

func (s *supervised) tally() string {
	return fmt.Sprintf("%s, %d refused; %d of at most %d in the current series", plain.Count(s.Reviews, "review"), s.Refusals, s.Series, s.Limit)
}

func (s *supervised) verdict(p term.Paint) string {
	when := s.Last.At.Local().Format(time.DateTime)
	if s.Last.AllowStop {
		return p.Green("complete") + " at " + when
	}
	text, _, more := strings.Cut(plain.Text(s.Last.Feedback), "\n")
	if more {
		text += " …"
	}
	return p.Yellow("not complete") + " at " + when + ": " + text
}

// reviewedSessions are the sessions with a state of the supervisor's, for the shell to complete.
func reviewedSessions(context.Context) []string {
	path, err := paths.SupervisorDir(os.Getenv)
	if err != nil {
		return nil
	}
	ids, err := supervisor.At(path).Sessions()
	if err != nil {
		return nil
	}
	return ids
}

type supervisedList []*supervised

func listSupervised(dir supervisor.Dir) (supervisedList, error) {
	ids, err := dir.Sessions()
	if err != nil {
		return nil, err
	}
	all := supervisedList{}
	for _, id := range ids {
		s, err := readSupervised(dir, id)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *supervised) int { return b.Updated.Compare(a.Updated) })
	return all, nil
}

// Print implements term.View.
func (all supervisedList) Print(out io.Writer) {
	if len(all) == 0 {
		fmt.Fprintln(out, "no reviewed sessions yet; start one with: CCC_SUPERVISOR=1 stopgate claude")
	}
	p := term.PaintFor(out)
	for _, s := range all {
		fmt.Fprintf(out, "%s  %s  %s, %d refused, $%.4f\n", s.Updated.Local().Format(time.DateTime), p.Bold(s.Session),
			plain.Count(s.Reviews, "review"), s.Refusals, s.Spent.USD)
	}
}
