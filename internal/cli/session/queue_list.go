package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newQueueList() *cobra.Command {
	var follow bool
	cmd := atDesk(&cobra.Command{
		Use:   "list",
		Short: "List queues",
		Long:  `List the queues of all sessions: progress, active command, and what it waits for.`,
		Example: `  stopgate queue list
  stopgate queue list --watch
  stopgate queue list --json | jq -r '.[] | select(.waits) | .session'`,
		Args: term.NoArgs,
	}, func(d *desk, cmd *cobra.Command, _ []string, asJSON bool) error {
		if follow {
			ctx, stop := term.UntilSignal(cmd)
			defer stop()
			return term.Watch(ctx, cmd.OutOrStdout(), asJSON, d.listWatcher())
		}
		list, err := d.list()
		if err != nil {
			return err
		}
		return term.Once(cmd.OutOrStdout(), asJSON, list)
	})
	cmd.Flags().BoolVar(&follow, "watch", false, "keep showing changes until Ctrl-C")
	return cmd
}

// queueList is all queues at one moment.
type queueList struct {
	queues []queueView
	ended  []queueView // those that have come to their end since the last look
	now    time.Time
}

func (d *desk) list() (*queueList, error) {
	all, err := d.queues.List()
	if err != nil {
		return nil, err
	}
	l := &queueList{queues: []queueView{}, now: time.Now()}
	for _, listed := range all {
		l.queues = append(l.queues, d.view(listed, l.now))
	}
	return l, nil
}

// listWatcher looks at the list, and at what became of those that were in it before.
func (d *desk) listWatcher() func() (term.Glimpse, error) {
	var before []queueView
	return func() (term.Glimpse, error) {
		l, err := d.list()
		if err != nil {
			return nil, err
		}
		for _, old := range before {
			if slices.ContainsFunc(l.queues, func(v queueView) bool { return v.Session == old.Session }) {
				continue
			}
			if last, err := d.queues.Last(old.Session); err == nil {
				l.ended = append(l.ended, d.view(last, l.now))
			}
		}
		before = l.queues
		return l, nil
	}
}

func (l *queueList) JSON() any { return l.queues }

func (l *queueList) Over() bool { return false }

func (l *queueList) Facts() (all []term.Fact) {
	for _, v := range slices.Concat(l.queues, l.ended) {
		all = append(all, term.Fact{Text: strings.Join(v.row(), "  ")})
	}
	return all
}

// row is the view in the columns that do not change by themselves.
func (v *queueView) row() []string {
	if v.Fault != "" {
		return []string{term.Shown(v.Session), "-", "-", v.State}
	}
	command := "-"
	if v.Active != nil {
		command = term.Cut(plain.Line(v.Active.Command), pipeCommand)
	}
	return []string{term.Shown(v.Session), strconv.Itoa(v.Completed) + "/" + strconv.Itoa(v.Total), command, v.State}
}

// pipeCommand is how many columns of a command are shown where nothing is cut to the
// width of a screen.
const pipeCommand = 60

func (l *queueList) Lines(p term.Paint, width, height int) []string {
	if len(l.queues) == 0 {
		return []string{
			term.Cut("no queues", width),
			p.Faint(term.Cut("queue a command with: stopgate queue add SESSION COMMAND", width)),
		}
	}
	rows := [][]string{{"SESSION", "DONE", "COMMAND", "STATE", "AGE"}}
	for _, v := range l.queues {
		rows = append(rows, append(v.row(), term.Age(v.CreatedAt, l.now)))
	}
	lines := term.Columns(rows, columnWidths(rows, width), func(row, column int, text string) string {
		if row > 0 && column == 3 {
			return l.queues[row-1].paint(p, text)
		}
		return text
	})
	lines[0] = p.Faint(lines[0])
	return term.Fit(lines, height)
}

// paint colours a text about the queue.
func (v *queueView) paint(p term.Paint, text string) string {
	switch {
	case v.Fault != "" || v.broken():
		return p.Red(text)
	case v.Waits != "":
		return p.Yellow(text)
	}
	return text
}

// columnWidths shares the width among the columns: what is too much, the command
// gives first, then the state, then the session.
func columnWidths(rows [][]string, width int) []int {
	widths, total := term.Widths(rows)
	for _, give := range []struct{ column, least int }{{2, 16}, {3, 22}, {0, 8}, {2, 7}, {3, 5}} {
		taken := min(max(0, total-width), max(0, widths[give.column]-give.least))
		widths[give.column] -= taken
		total -= taken
	}
	return widths
}
