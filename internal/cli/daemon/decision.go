package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewDecision() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "decision",
		Short: "List and answer the decisions that pipelines wait for",
		Long: `List, show and answer the decisions that pipelines and agents wait for. The pipeline continues
as soon as you answer. An id prefix is enough.`,
		Example: `  stopgate decision list
  stopgate decision answer 9f8e7d6c retry`,
	}, newDecisionList(), newDecisionShow(), newDecisionAnswer())
}

func newDecisionList() *cobra.Command {
	var n narrow
	var cmd *cobra.Command
	cmd = lists(&cobra.Command{
		Use:   "list",
		Short: "List open decisions",
		Long: `List open decisions: how long each has waited, what it is about, and its answers. In a fleet, those of
all machines are listed; HOST is . for this machine, and for one that does not answer it says how old
what is shown is. --all adds decisions of this machine that are already settled; with --host, those of
that machine. What you decided about a lost job is shown by stopgate job show.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`,
		Example: `  stopgate decision list
  stopgate decision list --all --project . --limit 10
  stopgate decision list --host vps
  stopgate decision list --watch
  stopgate decision list --json | jq -r '.[].id'`,
		PreRunE: func(*cobra.Command, []string) error { return n.check(cmd) },
	}, "include settled decisions", func(ctx context.Context, p *Daemon, all bool) (term.Glimpse, error) {
		if err := p.checkHost(ctx, n.host); err != nil {
			return nil, err
		}
		decisions, err := p.decisions(ctx, n.filter(), all)
		return decisionList(decisions, time.Now), err
	})
	n.flags(cmd, "decisions that were asked for", 0, "with --all, include at most this many settled ones")
	return cmd
}

// decisions are those that are open, and with all those that are settled.
func (p *Daemon) decisions(ctx context.Context, f daemonapi.Filter, all bool) ([]daemonapi.Decision, error) {
	settledFilter := f
	f.Limit = 0
	open, err := p.SomeDecisions(ctx, false, f)
	if err != nil || !all {
		return append([]daemonapi.Decision{}, open...), err
	}
	settled, err := p.SomeDecisions(ctx, true, settledFilter)
	list := append([]daemonapi.Decision{}, open...)
	for _, d := range settled {
		if d.Resolved != nil {
			list = append(list, d)
		}
	}
	return list, err
}

// findDecision finds the decision that an id, or a prefix of one, stands for.
func (p *Daemon) findDecision(ctx context.Context, id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	d, err := p.Decision(ctx, id)
	switch daemonapi.Code(err) {
	case "conflict":
		return "", term.Ambiguous(id, candidates(err))
	case "not_found":
		return "", term.Unknown("decision", id, "list decisions with: stopgate decision list --all")
	}
	return d.ID, err
}

func newDecisionShow() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "show ID",
		Short: "Show a decision and how to answer it",
		Long: `Show a decision: the agent's last message, its changes and cost, failed gates, the question, and
the commands that answer it; or how it was settled.

Exit code 0: shown. 2: no such decision. 3: the daemon is not running.`,
		Example:           `  stopgate decision show 9f8e7d6c`,
		Args:              term.OneArg,
		ValidArgsFunction: decisionIDs(false),
	}, func(ctx context.Context, p *Daemon, args []string) error {
		id, err := p.findDecision(ctx, args[0])
		if err != nil {
			return err
		}
		d, err := p.Decision(ctx, id)
		if err != nil {
			return err
		}
		if p.asJSON {
			return term.PrintJSON(p.out, d)
		}
		return p.showDecision(ctx, &d)
	})
}

func newDecisionAnswer() *cobra.Command {
	var message string
	cmd := acts(&cobra.Command{
		Use:     "answer ID [ANSWER…]",
		Aliases: []string{"resolve"},
		Short:   "Answer a decision",
		Long: `Answer a decision with one of its options (by name or number), with a message for the agent, or
with both. If an agent asks several questions, give one answer per question: the label or number
of a choice (comma-separated where several are allowed), or free text.

Agents cannot run this command: they must not decide about their own work.

Exit code 0: answered. 1: it is already settled, or this is an agent's shell. 2: no such decision
or option. 3: the daemon could not be started, or the machine of the fleet that asks does not answer.`,
		Example: `  stopgate decision answer 9f8e7d6c done
  stopgate decision answer 9f8e7d6c 1,3 "only on Mondays"
  stopgate decision answer 9f8e7d6c -m "use the staging database"`,
		Args:              ids(someArgs, 1),
		PreRunE:           forPeople,
		ValidArgsFunction: decisionIDs(true),
	}, func(ctx context.Context, p *Daemon, args []string) error {
		answer := daemonapi.Answer{ID: daemonapi.NewID(), Message: message}
		if len(args) == 2 {
			answer.Option = args[1]
		} else {
			answer.Answers = args[1:]
		}
		return p.answer(ctx, args[0], answer)
	})
	cmd.Flags().StringVarP(&message, "message", "m", "", "a message for the agent")
	return cmd
}

// forPeople refuses an agent what a person is asked to decide: its own work is what it
// would decide about.
func forPeople(cmd *cobra.Command, _ []string) error {
	return refused(cmd, environ.Agent(os.Environ()))
}

// notForAgents refuses the daemon's agents what ends the work of others. A person's own
// client may do it for them.
func notForAgents(cmd *cobra.Command, _ []string) error {
	for _, marker := range []string{agentdir.Variable, agentdir.OldVariable} {
		if os.Getenv(marker) != "" {
			return refused(cmd, marker)
		}
	}
	return nil
}

// refused refuses a command where a variable says that the shell is an agent's.
func refused(cmd *cobra.Command, marker string) error {
	if marker == "" {
		return nil
	}
	err := fmt.Errorf("agents cannot run %s (this is an agent's shell: %s is set)", cmd.CommandPath(), marker)
	return term.WithHint(err, "run it in your own terminal; an agent asks for it with: stopgate emit agent:signal")
}

func (p *Daemon) answer(ctx context.Context, arg string, answer daemonapi.Answer) error {
	id, err := p.findDecision(ctx, arg)
	if err != nil {
		return err
	}
	if answer.Option == "" && answer.Message == "" && len(answer.Answers) == 0 {
		d, err := p.Decision(ctx, id)
		if err != nil {
			return err
		}
		return term.BadUsage(errors.New("the answer is missing"), strings.Join(answers(&d), "\n"))
	}
	d, err := insist(ctx, p, func() (daemonapi.Decision, error) { return p.Answer(ctx, id, answer) })
	if err != nil {
		return err
	}
	return p.tell(d, "decision "+shortID(d.ID)+" answered: "+cmp.Or(plain.Line(d.Chosen), plain.Line(strings.Join(d.Answers, "; ")), plain.Line(answer.Option), "your message"))
}

// decisionAbout is what a decision is about: "build, step test (idle)".
func decisionAbout(d *daemonapi.Decision) string {
	text := decisionOf(d) + d.On()
	if d.Step != "" {
		text += ", step " + plain.Line(d.Step)
	}
	return text + " (" + plain.Line(d.Source) + ")"
}

// decisionOf is what asks: a pipeline or agent by its name, or a job of the fleet. There may be many jobs of one command.
func decisionOf(d *daemonapi.Decision) string {
	if d.Job == "" {
		return plain.Line(d.Name)
	}
	return plain.Line(cmp.Or(d.JobCommand, d.Name)) + " (job " + shortID(plain.Line(d.Job)) + ")"
}

// decisionList is decisions at one moment.
func decisionList(decisions []daemonapi.Decision, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.Decision]{
		All: decisions,
		Fact: func(d *daemonapi.Decision) string {
			return fmt.Sprintf("decision %s about %s: %s", shortID(d.ID), decisionAbout(d), decisionState(d))
		},
		Draw: func(p term.Paint, width, height int) []string {
			return decisionRows(decisions, now(), p, width, height)
		},
	}
}

// decisionState is what is asked, or how it was settled.
func decisionState(d *daemonapi.Decision) string {
	if d.Resolved != nil {
		return "settled: " + settledBy(d)
	}
	first, _, _ := strings.Cut(d.Context, "\n")
	return plain.Line(first)
}

func decisionRows(decisions []daemonapi.Decision, now time.Time, p term.Paint, width, height int) []string {
	if len(decisions) == 0 {
		return []string{term.Cut("no open decisions", width)}
	}
	rows := [][]string{{"ID", "AGE", "SOURCE", "OF", "STEP", "ANSWERS", "WHAT"}}
	var away []daemonapi.Away
	for i := range decisions {
		d := &decisions[i]
		away = append(away, d.Away)
		rows = append(rows, []string{shortID(d.ID), term.Age(d.Created, now), plain.Line(d.Source), decisionOf(d), plain.Line(d.Step), choices(d), decisionState(d)})
	}
	colour := withHosts(rows, 1, p, away, func(row, _ int, text string) string {
		if decisions[row].Resolved != nil {
			return p.Faint(text)
		}
		return text
	})
	lines := decisionTable(rows, width, term.Headed(p, colour))
	hint := p.Faint(term.Cut("show one with: stopgate decision show ID", width))
	return append(term.Fit(lines, max(1, height-1)), hint)
}

// decisionTable has what a decision is about in a line of its own where rows have no room for it.
func decisionTable(rows [][]string, width int, colour func(row, column int, text string) string) []string {
	what := len(rows[0]) - 1
	tooLong := func(line string) bool { return term.Cells(line) > width }
	if !slices.ContainsFunc(term.Table(rows, math.MaxInt, nil), tooLong) {
		return term.Table(rows, width, colour)
	}
	var texts []string
	for i, row := range rows {
		texts = append(texts, row[what])
		rows[i] = row[:what]
	}
	var lines []string
	for i, line := range term.Table(rows, width, colour) {
		lines = append(lines, line)
		if i > 0 {
			lines = append(lines, colour(i, what, term.Cut("  "+texts[i], width)))
		}
	}
	return lines
}

// decisionIDs completes the ids of open decisions, and then their options where these are asked
// for.
func decisionIDs(options bool) cobra.CompletionFunc {
	most := 1
	if options {
		most = math.MaxInt
	}
	return completing(most, func(ctx context.Context, p *Daemon, typed []string) (words []string) {
		open, _ := p.Decisions(ctx, false)
		for i := range open {
			d := &open[i]
			switch {
			case len(typed) == 0:
				words = append(words, shortID(d.ID)+"\t"+decisionAbout(d))
			case strings.HasPrefix(d.ID, typed[0]):
				words = append(words, possible(d, len(typed)-1)...)
			}
		}
		return words
	})
}

// possible are the answers to a decision, or to one of its questions, with what they mean.
func possible(d *daemonapi.Decision, n int) (words []string) {
	if n < len(d.Questions()) {
		for _, c := range d.Questions()[n].Options {
			words = append(words, plain.Line(c.Label)+"\t"+plain.Line(c.Description))
		}
	}
	if n == 0 {
		for _, o := range d.Options {
			if word := plain.Line(o.Name) + "\t" + plain.Line(o.Description); !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}
