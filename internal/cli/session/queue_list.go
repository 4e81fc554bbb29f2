package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newQueueList() *cobra.Command {
	var asJSON, follow bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the queues that are under way",
		Long: `List the sessions that have a queue: how much of it is done, which command it is at, and
what that one waits for.`,
		Example: `  stopgate queue list
  stopgate queue list --watch
  stopgate queue list --json | jq -r '.[] | select(.waits) | .session'`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			desk, err := newDesk()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if follow {
				ctx, stop := term.UntilSignal(cmd)
				defer stop()
				return term.Watch(ctx, out, asJSON, desk.listWatcher())
			}
			list, err := desk.list()
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(out, list.JSON())
			}
			for _, line := range list.Lines(term.PaintFor(out), term.WidthOf(out), len(list.queues)+2) {
				fmt.Fprintln(out, line)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&follow, "watch", false, "go on as they change, until Ctrl-C")
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

func (l *queueList) Facts() []string {
	var all []string
	for _, v := range slices.Concat(l.queues, l.ended) {
		all = append(all, strings.Join(v.row(), "  "))
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

// age is how long ago the queue was made.
func (v *queueView) age(now time.Time) string {
	age := max(0, now.Sub(v.CreatedAt)) // the clock may have been set back
	switch {
	case v.CreatedAt.IsZero():
		return "-"
	case age < time.Minute:
		return strconv.Itoa(int(age.Seconds())) + "s"
	case age < 48*time.Hour:
		return term.Elapsed(age)
	}
	return strconv.Itoa(int(age.Hours()/24)) + "d"
}

func (l *queueList) Lines(p term.Paint, width, height int) []string {
	if len(l.queues) == 0 {
		return []string{
			term.Cut("no session has a queue", width),
			p.Faint(term.Cut("give one to a session with: stopgate queue create --session NAME '[\"/clear\"]'", width)),
		}
	}
	rows := [][]string{{"SESSION", "DONE", "COMMAND", "STATE", "AGE"}}
	for _, v := range l.queues {
		rows = append(rows, append(v.row(), v.age(l.now)))
	}
	widths := columnWidths(rows, width)
	lines := make([]string, len(rows))
	for n, row := range rows {
		for i := range row {
			row[i] = term.Pad(row[i], widths[i])
		}
		if n > 0 {
			row[3] = l.queues[n-1].paint(p, row[3])
		}
		lines[n] = strings.TrimRight(strings.Join(row, "  "), " ")
	}
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
	widths := make([]int, len(rows[0]))
	total := 2 * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], term.Cells(row[i]))
		}
		total += widths[i]
	}
	for _, give := range []struct{ column, least int }{{2, 16}, {3, 22}, {0, 8}, {2, 7}, {3, 5}} {
		taken := min(max(0, total-width), max(0, widths[give.column]-give.least))
		widths[give.column] -= taken
		total -= taken
	}
	return widths
}
