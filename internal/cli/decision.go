package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/client"
	"github.com/stopgate/stopgate/internal/plain"
)

func newDecision() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decision",
		Short: "Decide what pipelines and agents wait for",
		Long: `Decide what a pipeline or an agent waits for. An id may be cut: its beginning will do.
Answering moves the pipeline on; nothing else has to be done.`,
		Example: `  stopgate decision list
  stopgate decision answer 9f8e7d6c retry`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDecisionList(), newDecisionShow(), newDecisionAnswer())
	return cmd
}

func newDecisionList() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the decisions that somebody has to make",
		Long: `List the decisions that somebody has to make: how long they have waited, what led to them,
and how to answer. With --all also those that are settled.

Exit code 0: listed. 3: the daemon does not run.`,
		Example: `  stopgate decision list
  stopgate decision list --watch
  stopgate decision list --json | jq -r '.[].id'`,
		Args: noArgs,
		RunE: asking(func(ctx context.Context, p *plane, _ []string) error {
			return showList(ctx, p, o, func(ctx context.Context) (*decisionList, error) {
				all, err := p.decisions(ctx, o.all)
				return &decisionList{all, time.Now}, err
			})
		}),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "also those that are settled")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.follow, "watch", false, "go on as they change, until Ctrl-C")
	return cmd
}

// decisions are those that are open, and with all those that are settled.
func (p *plane) decisions(ctx context.Context, all bool) ([]client.Decision, error) {
	open, err := p.Decisions(ctx, false)
	if err != nil || !all {
		return append([]client.Decision{}, open...), err
	}
	settled, err := p.Decisions(ctx, true)
	list := append([]client.Decision{}, open...)
	for _, d := range settled {
		if d.Resolved != nil {
			list = append(list, d)
		}
	}
	return list, err
}

// findDecision finds the decision that somebody means by an id or the beginning of one.
func (p *plane) findDecision(ctx context.Context, id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	if client.IsOwnerID(id) {
		return id, nil
	}
	d, err := p.Decision(ctx, id)
	switch client.Code(err) {
	case "conflict":
	case "not_found":
		return onlyOne(id, nil, "decision", "see those there are with: stopgate decision list --all")
	default:
		return d.ID, err
	}
	all, err := p.decisions(ctx, true)
	if err != nil {
		return "", err
	}
	found := map[string]string{}
	for i := range all {
		if strings.HasPrefix(all[i].ID, id) {
			found[all[i].ID] = decisionAbout(&all[i])
		}
	}
	return onlyOne(id, found, "decision", "see those there are with: stopgate decision list --all")
}

func newDecisionShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a decision, and what can be answered",
		Long: `Show what a decision is about and what can be answered, or how it was settled.

Exit code 0: shown. 1: there is none. 3: the daemon does not run.`,
		Example: `  stopgate decision show 9f8e7d6c`,
		Args:    oneArg,
		RunE: asking(func(ctx context.Context, p *plane, args []string) error {
			id, err := p.findDecision(ctx, args[0])
			if err != nil {
				return err
			}
			d, err := p.Decision(ctx, id)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(p.out, d)
			}
			paint, width := paintFor(p.out), widthOf(p.out)
			fmt.Fprintf(p.out, "%s\n%s\n", paint.bold("decision "+shortID(d.ID)+" about "+decisionAbout(&d)),
				paint.faint("in "+shown(d.Project)+", since "+clock(d.Created, time.Now())))
			for _, line := range decisionLines(paint, &d, width) {
				fmt.Fprintln(p.out, line)
			}
			return nil
		}),
		ValidArgsFunction: decisionIDs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newDecisionAnswer() *cobra.Command {
	var message string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "answer ID [OPTION]",
		Aliases: []string{"resolve"},
		Short:   "Answer a decision",
		Long: `Answer a decision with one of its options, by name or number, or with words for the agent, or
both.

An agent is refused: it must not decide about its own work.

Exit code 0: answered. 1: it is settled already, or there is none. 2: it has no such option.
3: the daemon could not be started, or this is an agent's shell.`,
		Example: `  stopgate decision answer 9f8e7d6c done
  stopgate decision answer 9f8e7d6c 1
  stopgate decision answer 9f8e7d6c -m "use the staging database"`,
		Args: ids(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 2 {
				return nil
			}
			return usageError{fmt.Errorf("%s takes an id and an option, got %d arguments", cmd.CommandPath(), len(args)), "usage: " + cmd.UseLine()}
		}, 1),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return forPeople(cmd, os.Getenv) },
		RunE: acting(func(ctx context.Context, p *plane, args []string) error {
			answer := client.Answer{ID: client.NewID(), Option: strings.Join(args[1:], ""), Message: message}
			return p.answer(ctx, args[0], answer, asJSON)
		}),
		ValidArgsFunction: decisionIDs,
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "words for the agent")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// forPeople refuses an agent what a person is asked to decide: its own work is what it
// would decide about.
func forPeople(cmd *cobra.Command, getenv func(string) string) error {
	for _, name := range []string{"STOPGATE_AGENT_ID", "OJ_AGENT_ID", "CLAUDECODE"} {
		if getenv(name) != "" {
			err := fmt.Errorf("%s is for people, and this is an agent's shell (%s is set)", cmd.CommandPath(), name)
			return codeError{hintError{err, "a person does it in a terminal of their own; an agent says what it needs with: stopgate emit agent:signal"}, exitCouldNotRun}
		}
	}
	return nil
}

func (p *plane) answer(ctx context.Context, arg string, answer client.Answer, asJSON bool) error {
	id, err := p.findDecision(ctx, arg)
	if err != nil {
		return err
	}
	if answer.Option == "" && answer.Message == "" {
		d, err := p.Decision(ctx, id)
		if err != nil {
			return err
		}
		return usageError{errors.New("there is no answer"), "answer with: " + answerLine(&d)}
	}
	d, err := insist(ctx, p, func() (client.Decision, error) { return p.Answer(ctx, id, answer) })
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(p.out, d)
	}
	_, err = fmt.Fprintf(p.out, "decision %s answered: %s\n", shortID(d.ID), cmp.Or(plain.Line(d.Chosen), plain.Line(answer.Option), "your words"))
	return err
}

// decisionAbout is what a decision is about: "build, step test (idle)".
func decisionAbout(d *client.Decision) string {
	text := plain.Line(d.Name)
	if d.Step != "" {
		text += ", step " + plain.Line(d.Step)
	}
	return text + " (" + plain.Line(d.Source) + ")"
}

// answerLine is the command that answers a decision, with all options.
func answerLine(d *client.Decision) string {
	names := make([]string, len(d.Options))
	for i, o := range d.Options {
		names[i] = plain.Line(o.Name)
	}
	line := "stopgate decision answer " + shortID(d.ID)
	if len(names) > 0 {
		line += " " + strings.Join(names, "|")
	}
	return line
}

// decisionLines are what a decision is about and what can be answered, or how it was
// settled.
func decisionLines(p paint, d *client.Decision, width int) []string {
	if d == nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(d.Context) {
		if line = plain.Line(line); line != "" {
			lines = append(lines, p.yellow(cut("? "+line, width)))
		}
	}
	if d.Resolved != nil {
		return append(lines, cut("settled at "+clock(*d.Resolved, *d.Resolved)+": "+settledBy(d), width))
	}
	names := 0
	for _, o := range d.Options {
		names = max(names, cells(plain.Line(o.Name)))
	}
	for _, o := range d.Options {
		text := plain.Line(o.Description)
		if o.Recommended {
			text += " (recommended)"
		}
		lines = append(lines, cut(fmt.Sprintf("  %d  %s  %s", o.Number, pad(plain.Line(o.Name), names), text), width))
	}
	return append(lines, p.faint(cut("  → "+answerLine(d)+"   or: -m WORDS", width)))
}

// settledBy is how a decision was settled.
func settledBy(d *client.Decision) string {
	text := cmp.Or(plain.Line(d.Closed), plain.Line(d.Chosen), "answered")
	if d.Message != "" {
		text += ": " + plain.Line(d.Message)
	}
	return text
}

// decisionList is decisions at one moment.
type decisionList struct {
	decisions []client.Decision
	now       func() time.Time
}

func (l *decisionList) json() any { return l.decisions }

func (l *decisionList) over() bool { return false }

func (l *decisionList) facts() []string {
	var all []string
	for i := range l.decisions {
		d := &l.decisions[i]
		all = append(all, fmt.Sprintf("decision %s about %s: %s", shortID(d.ID), decisionAbout(d), decisionState(d)))
	}
	return all
}

// decisionState is what is asked, or how it was settled.
func decisionState(d *client.Decision) string {
	if d.Resolved != nil {
		return "settled: " + settledBy(d)
	}
	return plain.Line(d.Context)
}

func (l *decisionList) lines(p paint, width, height int) []string {
	if len(l.decisions) == 0 {
		return []string{cut("no decisions to make", width)}
	}
	now := l.now()
	rows := [][]string{{"ID", "AGE", "SOURCE", "OF", "STEP", "ANSWERS", "WHAT"}}
	for i := range l.decisions {
		d := &l.decisions[i]
		rows = append(rows, []string{shortID(d.ID), ageOf(d.Created, now), plain.Line(d.Source), plain.Line(d.Name), plain.Line(d.Step), optionNames(d), decisionState(d)})
	}
	lines := table(rows, width, func(row, _ int, text string) string {
		switch {
		case row == 0:
			return p.faint(text)
		case l.decisions[row-1].Resolved != nil:
			return p.faint(text)
		}
		return text
	})
	hint := p.faint(cut("answer one with: stopgate decision answer ID OPTION, or with words: -m WORDS", width))
	return append(fit(lines, max(1, height-1)), hint)
}

// optionNames are the options of a decision that is open.
func optionNames(d *client.Decision) string {
	if d.Resolved != nil {
		return "-"
	}
	names := make([]string, len(d.Options))
	for i, o := range d.Options {
		names[i] = plain.Line(o.Name)
	}
	return strings.Join(names, "|")
}

// decisionIDs completes the ids of open decisions, and then their options. It starts no
// daemon.
func decisionIDs(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	p, err := newPlane(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	open, _ := p.decisions(cmd.Context(), false) // then there is nothing to complete
	var words []string
	for i := range open {
		d := &open[i]
		switch {
		case len(args) == 0 && strings.HasPrefix(d.ID, begun):
			words = append(words, shortID(d.ID)+"\t"+decisionAbout(d))
		case len(args) == 1 && cmd.Name() == "answer" && strings.HasPrefix(d.ID, args[0]):
			for _, o := range d.Options {
				words = append(words, o.Name+"\t"+plain.Line(o.Description))
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
