package plane

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
		Short: "Decide what pipelines and agents wait for",
		Long: `Decide what a pipeline or an agent waits for. An id may be cut: its beginning will do.
Answering moves the pipeline on; nothing else has to be done.`,
		Example: `  stopgate decision list
  stopgate decision answer 9f8e7d6c retry`,
	}, newDecisionList(), newDecisionShow(), newDecisionAnswer())
}

func newDecisionList() *cobra.Command {
	return lists(&cobra.Command{
		Use:   "list",
		Short: "List the decisions that somebody has to make",
		Long: `List the decisions that somebody has to make: how long they have waited, what led to them,
and how to answer. With --all also those that are settled.

Exit code 0: listed. 3: the daemon does not run.`,
		Example: `  stopgate decision list
  stopgate decision list --watch
  stopgate decision list --json | jq -r '.[].id'`,
	}, "also those that are settled", func(ctx context.Context, p *Plane, all bool) (term.Glimpse, error) {
		decisions, err := p.decisions(ctx, all)
		return decisionList(decisions, time.Now), err
	})
}

// decisions are those that are open, and with all those that are settled.
func (p *Plane) decisions(ctx context.Context, all bool) ([]daemonapi.Decision, error) {
	open, err := p.Decisions(ctx, false)
	if err != nil || !all {
		return append([]daemonapi.Decision{}, open...), err
	}
	settled, err := p.Decisions(ctx, true)
	list := append([]daemonapi.Decision{}, open...)
	for _, d := range settled {
		if d.Resolved != nil {
			list = append(list, d)
		}
	}
	return list, err
}

// findDecision finds the decision that somebody means by an id or the beginning of one.
func (p *Plane) findDecision(ctx context.Context, id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	if daemonapi.IsOwnerID(id) {
		return id, nil
	}
	d, err := p.Decision(ctx, id)
	found := map[string]string{}
	switch daemonapi.Code(err) {
	case "conflict":
		var all []daemonapi.Decision
		if all, err = p.decisions(ctx, true); err != nil {
			return "", err
		}
		for i := range all {
			if strings.HasPrefix(all[i].ID, id) {
				found[all[i].ID] = decisionAbout(&all[i])
			}
		}
	case "not_found":
	default:
		return d.ID, err
	}
	return onlyOne(id, found, "decision", "see those there are with: stopgate decision list --all")
}

func newDecisionShow() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "show ID",
		Short: "Show a decision: what it is about, and how to answer it",
		Long: `Show what a decision is about: what the agent said last, what it changed and what it cost, which
gates are red, what is asked, and the commands that answer it; or how it was settled.

Exit code 0: shown. 1: there is none. 3: the daemon does not run.`,
		Example:           `  stopgate decision show 9f8e7d6c`,
		Args:              term.OneArg,
		ValidArgsFunction: decisionIDs(false),
	}, func(ctx context.Context, p *Plane, args []string) error {
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
		Long: `Answer a decision with one of its options, by name or number, or with words for the agent, or
both. Where an agent asks several questions, give an answer for each: a choice by its label or
number, several with commas between where that is allowed, or words of your own.

An agent is refused: it must not decide about its own work.

Exit code 0: answered. 1: it is settled already, or there is none. 2: it has no such option.
3: the daemon could not be started, or this is an agent's shell.`,
		Example: `  stopgate decision answer 9f8e7d6c done
  stopgate decision answer 9f8e7d6c 1,3 "only on Mondays"
  stopgate decision answer 9f8e7d6c -m "use the staging database"`,
		Args:              ids(someArgs, 1),
		PreRunE:           forPeople,
		ValidArgsFunction: decisionIDs(true),
	}, func(ctx context.Context, p *Plane, args []string) error {
		answer := daemonapi.Answer{ID: daemonapi.NewID(), Message: message}
		if len(args) == 2 {
			answer.Option = args[1]
		} else {
			answer.Answers = args[1:]
		}
		return p.answer(ctx, args[0], answer)
	})
	cmd.Flags().StringVarP(&message, "message", "m", "", "words for the agent")
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
	err := fmt.Errorf("%s is for people, and this is an agent's shell (%s is set)", cmd.CommandPath(), marker)
	return term.CannotRun(err, "a person does it in a terminal of their own; an agent says what it needs with: stopgate emit agent:signal")
}

func (p *Plane) answer(ctx context.Context, arg string, answer daemonapi.Answer) error {
	id, err := p.findDecision(ctx, arg)
	if err != nil {
		return err
	}
	if answer.Option == "" && answer.Message == "" && len(answer.Answers) == 0 {
		d, err := p.Decision(ctx, id)
		if err != nil {
			return err
		}
		return term.BadUsage(errors.New("there is no answer"), strings.Join(answers(&d), "\n"))
	}
	d, err := insist(ctx, p, func() (daemonapi.Decision, error) { return p.Answer(ctx, id, answer) })
	if err != nil {
		return err
	}
	return p.tell(d, "decision "+shortID(d.ID)+" answered: "+cmp.Or(plain.Line(d.Chosen), plain.Line(strings.Join(d.Answers, "; ")), plain.Line(answer.Option), "your words"))
}

// decisionAbout is what a decision is about: "build, step test (idle)".
func decisionAbout(d *daemonapi.Decision) string {
	text := plain.Line(d.Name)
	if d.Step != "" {
		text += ", step " + plain.Line(d.Step)
	}
	return text + " (" + plain.Line(d.Source) + ")"
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
		return []string{term.Cut("no decisions to make", width)}
	}
	rows := [][]string{{"ID", "AGE", "SOURCE", "OF", "STEP", "ANSWERS", "WHAT"}}
	for i := range decisions {
		d := &decisions[i]
		rows = append(rows, []string{shortID(d.ID), term.Age(d.Created, now), plain.Line(d.Source), plain.Line(d.Name), plain.Line(d.Step), choices(d), decisionState(d)})
	}
	lines := decisionTable(rows, width, term.Headed(p, func(row, _ int, text string) string {
		if decisions[row].Resolved != nil {
			return p.Faint(text)
		}
		return text
	}))
	hint := p.Faint(term.Cut("see one with: stopgate decision show ID", width))
	return append(term.Fit(lines, max(1, height-1)), hint)
}

// decisionTable has what a decision is about in a line of its own where rows have no room for it.
func decisionTable(rows [][]string, width int, colour func(row, column int, text string) string) []string {
	const what = 6
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
	return completing(func(ctx context.Context, p *Plane, args []string, begun string) (words []string) {
		open, _ := p.decisions(ctx, false)
		for i := range open {
			d := &open[i]
			switch {
			case len(args) == 0 && strings.HasPrefix(d.ID, begun):
				words = append(words, shortID(d.ID)+"\t"+decisionAbout(d))
			case len(args) > 0 && options && strings.HasPrefix(d.ID, args[0]):
				words = append(words, possible(d, len(args)-1)...)
			}
		}
		return words
	})
}

// possible are the answers to a decision, or to one of its questions, with what they mean.
func possible(d *daemonapi.Decision, n int) (words []string) {
	if n < len(questions(d)) {
		for _, c := range questions(d)[n].Options {
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
