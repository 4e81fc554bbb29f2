package status

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

type statsOptions struct {
	since   time.Duration
	here    bool
	project string
}

// NewStats makes the command that counts stops.
func NewStats() *cobra.Command {
	o := statsOptions{since: 7 * 24 * time.Hour}
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count stops, blocks, what gates caught and what proofs saved",
		Long: `Count the stops in the journal: how many were blocked, what gates caught, what proofs saved in
time and money, what reviews cost, and which gates are flaky or slow. All projects together, unless
--here or --project names one.

How it is counted:
  caught  a gate failed, once or several times in a row, and then passed for
          other content
  flaky   a gate failed where its run before had passed, or passed where it had
          failed, on the same content and approval
  saved   times a gate was answered from a proof × the median time (and cost) of
          its own runs in this period; where it never ran in this period,
          nothing is counted. Likewise for the supervisor's verdicts that were
          used again
  slow    by the median of a gate's runs

Costs are those that Claude Code reports; other reviewers report none. The journal is kept for 30
days by default. The test stops of doctor are not counted.

Exit code 0: shown, also where no agent has stopped. 2: usage error, or no project here.`,
		Example: `  stopgate stats
  stopgate stats --since 1d --here
  stopgate stats --json | jq '.gates[] | select(.flips > 0)'`,
		Args: term.NoArgs,
	}
	cmd.Flags().Var((*term.DurationFlag)(&o.since), "since", "how far back, such as 12h or 30d; 0 for everything")
	cmd.Flags().Lookup("since").DefValue = "7d"
	cmd.Flags().BoolVar(&o.here, "here", false, "count only this project")
	cmd.Flags().StringVar(&o.project, "project", "", "count only the project in this `DIR`")
	_ = cmd.MarkFlagDirname("project") // the flag is there
	return term.Shows(cmd, func(cmd *cobra.Command, _ []string) (*stats, error) {
		if err := o.check(cmd); err != nil {
			return nil, err
		}
		return o.count(time.Now())
	})
}

func (o *statsOptions) check(cmd *cobra.Command) error {
	if err := term.AtMostOne(cmd, "here", "project"); err != nil {
		return err
	}
	return here.NotEmpty(cmd, "project")
}

// root is the project that is counted; empty for all.
func (o *statsOptions) root() (string, error) {
	if o.here {
		h, err := here.MustExist(here.FindHere())
		if err != nil {
			return "", err
		}
		return h.Root, nil
	}
	if o.project == "" {
		return "", nil
	}
	return filepath.Abs(o.project)
}

// count reads the journal.
func (o *statsOptions) count(now time.Time) (*stats, error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	root, err := o.root()
	if err != nil {
		return nil, err
	}
	filter := stops.Filter{Except: doctor.SessionPrefix}
	if o.since > 0 {
		filter.Since = now.Add(-o.since)
	}
	one := spellings{root: root}
	if root != "" {
		filter.Project = one.same
	}

	r := &stops.Reader{Journal: journal.New(filepath.Join(state, "journal"), journal.Limits{}), Filter: filter}
	var tally stops.Tally
	for s, err := range r.Oldest() {
		if err != nil {
			return nil, err
		}
		tally.Add(s)
	}
	out := statsOf(&tally, func(tree string) bool { return root == "" || one.same(tree) })
	out.Since, out.Project, out.Lost = filter.Since, root, r.Lost
	return out, nil
}

// stats is what was counted.
type stats struct {
	Since    time.Time    `json:"since,omitzero"` // missing: as far back as the journal goes
	Project  string       `json:"project,omitempty"`
	Sessions int          `json:"sessions"`
	Totals   stops.Totals `json:"totals"`
	Caught   int          `json:"caught"`
	Saved    stops.Saving `json:"saved"`
	Reviews  gateReviews  `json:"reviews"`
	Gates    []gateStats  `json:"gates"`
	More     bool         `json:"more,omitempty"` // there were more gates or sessions than are counted one by one
	Lost     int          `json:"lost_records,omitempty"`
}

// gateReviews are the reviews that gates had made.
type gateReviews struct {
	Runs   int        `json:"runs"`
	Failed int        `json:"failed"`
	Cost   event.Cost `json:"cost"`
}

// gateStats is a gate, with what follows from its counts.
type gateStats struct {
	*stops.Gate
	Runs      int          `json:"runs"`
	MedianMS  int64        `json:"median_ms"`
	SlowestMS int64        `json:"slowest_ms"`
	Saved     stops.Saving `json:"saved"`
}

// statsOf adds up the gates of the trees that are wanted.
func statsOf(t *stops.Tally, wanted func(root string) bool) *stats {
	out := &stats{Totals: t.Totals(), Sessions: len(t.Sessions()), Gates: []gateStats{}, More: t.More()}
	if out.Totals.Gaps == nil {
		out.Totals.Gaps = map[stops.GapKind]int{}
	}
	out.Saved = out.Totals.Reviews.Saved()
	for _, g := range t.Gates() {
		if !wanted(g.Root) {
			continue
		}
		saved := g.Saved()
		out.Gates = append(out.Gates, gateStats{g, g.Runs(), g.Typical().Milliseconds(), g.Slowest().Milliseconds(), saved})
		out.Caught += g.Caught
		out.Saved = out.Saved.Plus(saved)
		if isReview(g.Job) {
			out.Reviews.Runs += g.Runs()
			out.Reviews.Failed += g.Failed
			out.Reviews.Cost = out.Reviews.Cost.Plus(g.Cost)
		}
	}
	return out
}

// worst are the gates with most of something, the first first; those without any are left out.
func (s *stats) worst(most int, of func(g *gateStats) float64) []gateStats {
	all := slices.DeleteFunc(slices.Clone(s.Gates), func(g gateStats) bool { return of(&g) <= 0 })
	slices.SortStableFunc(all, func(a, b gateStats) int {
		return cmp.Or(cmp.Compare(of(&b), of(&a)), cmp.Compare(a.Root, b.Root), cmp.Compare(a.Job, b.Job))
	})
	return all[:min(len(all), most)]
}

func isReview(job string) bool { return strings.HasPrefix(job, "review:") }
