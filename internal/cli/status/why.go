package status

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// NewWhy makes the command that explains one stop.
func NewWhy() *cobra.Command {
	var call string
	cmd := &cobra.Command{
		Use:   "why [SESSION]",
		Short: "Explain the last stop: why it was allowed or blocked",
		Long: `Explain one stop on one screen: why it was allowed or blocked, what was judged, what ran,
what was answered from proofs, what was skipped and why, what it cost, the end of the log of a
gate that failed, and what to do next.

Without SESSION it is the last stop in this project, else the last one of that session (an id
prefix is enough). "stopgate log" lists all stops; --call explains one of them by its id, which
"stopgate log --json" has as "call".

Exit code 0: shown, or no agent has stopped yet. 2: no project here, or no such session or stop.`,
		Example: `  stopgate why
  stopgate why 3f2a
  stopgate why --call 01K8ZQ
  stopgate why --json | jq -r .stop.decision`,
		Args: term.AtMostOneArg,
	}
	cmd.Flags().StringVar(&call, "call", "", "explain the stop with this id (a prefix is enough)")
	term.CompleteArgs(cmd, 1, sessions)
	return term.Shows(cmd, func(cmd *cobra.Command, args []string) (*explanation, error) {
		if err := here.NotEmpty(cmd, "call"); err != nil {
			return nil, err
		}
		return explain(call, args)
	})
}

// explain explains the stop that is meant.
func explain(call string, args []string) (*explanation, error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	e, err := find(state, call, args)
	if err != nil {
		return nil, err
	}
	e.stateDir = state
	return e, nil
}

// find finds the stop that is meant.
func find(state, call string, args []string) (*explanation, error) {
	j := journal.New(filepath.Join(state, "journal"), journal.Limits{})
	switch {
	case call != "" && len(args) > 0:
		return nil, term.BadUsage(fmt.Errorf("give a session or --call, not both"), "for example: stopgate why --call "+term.ShellWord(call))
	case call != "":
		return byCall(j, call)
	case len(args) > 0:
		return ofSession(j, state, args[0])
	}

	h, err := here.MustExist(here.FindHere())
	if err != nil {
		return nil, err
	}
	root := spellings{root: h.Root}
	e, err := newest(j, stops.Filter{Project: root.same, Except: doctor.SessionPrefix})
	if err == nil && e.Stop == nil {
		headline, next := silence(h)
		e.Headline, e.Next = headline, []string{next}
	}
	return e, err
}

// ofSession is the last stop of a session. Only an id that is not whole can mean another session, and
// looking for those takes long.
func ofSession(j *journal.Journal, state, id string) (*explanation, error) {
	e, err := newest(j, stops.Filter{Session: id})
	if err != nil || e.Stop != nil && e.Stop.Session == id {
		return e, err
	}
	session, err := here.Session(state, id)
	if err != nil {
		return nil, err
	}
	return newest(j, stops.Filter{Session: session})
}

// byCall is the stop whose id begins so.
func byCall(j *journal.Journal, id string) (*explanation, error) {
	const most = 20 // that a person can choose from
	found, err := stops.Find(j, id, most)
	if err != nil {
		return nil, err
	}
	all, byID := map[string]string{}, map[string]*stops.Stop{}
	for _, s := range found {
		all[s.ID], byID[s.ID] = s.Time.Local().Format(time.DateTime)+"  "+string(s.Decision), s
	}
	if len(found) == 1 {
		return about(found[0], 0), nil
	}
	only, err := term.OnlyOne(id, all, "stop", `list stops with their ids: stopgate log --event Stop --json | jq -r .call`)
	if err != nil {
		return nil, err
	}
	return about(byID[only], 0), nil
}

// newest is the last stop that a filter wants.
func newest(j *journal.Journal, f stops.Filter) (*explanation, error) {
	r := &stops.Reader{Journal: j, Filter: f}
	for s, err := range r.Newest() {
		if err != nil {
			return nil, err
		}
		return about(s, r.Lost), nil
	}
	return &explanation{Lost: r.Lost, Headline: "No agent has stopped in this session yet", Next: []string{}}, nil
}

// explanation is a stop as it is explained.
type explanation struct {
	Headline string      `json:"headline"`
	Stop     *stops.Stop `json:"stop"` // null where no agent has stopped
	Next     []string    `json:"next"`
	// Lost is how many records of the journal cannot be read; a later stop may be among them.
	Lost int `json:"lost_records,omitempty"`

	now      func() time.Time
	stateDir string
}

func about(s *stops.Stop, lost int) *explanation {
	next := s.Next()
	if next == nil {
		next = []string{}
	}
	return &explanation{Headline: s.Headline(), Stop: s, Next: next, Lost: lost, now: time.Now}
}

// silence is why no stop of a project may be on record, and the command that helps.
func silence(h *here.Place) (why, next string) {
	s := &status{Hooks: []string{}}
	s.readHooks(settings.Inspect(h.Cwd))
	readTrust(h, s)
	const none = "No agent has stopped in this project yet"
	switch {
	case s.Dead != "":
		return none + ", and no stop would be blocked: " + s.Dead, "find out what is wrong: stopgate doctor"
	case len(s.Hooks) == 0:
		return none + ", and no stop would be blocked: the hooks are not installed", "install them: stopgate hooks install"
	case s.Trust == "untrusted":
		return none + ", and no stop would be blocked: the project is not approved", "read what would run: stopgate trust --show; then approve it: stopgate trust"
	}
	return none, "test that a stop is blocked: stopgate doctor"
}

// Print implements term.View.
func (e *explanation) Print(out io.Writer) {
	w := whyWriter{paint: term.PaintFor(out), width: term.WidthOf(out), stateDir: e.stateDir}
	for _, line := range w.lines(e) {
		fmt.Fprintln(out, line)
	}
}
