package session

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newQueueShow() *cobra.Command {
	var follow bool
	cmd := atDesk(&cobra.Command{
		Use:   "show SESSION",
		Short: "Show a session's queue and its results",
		Long: `Show the commands of a session's queue with their status and the start of their results. If the
session has no queue, show its last one. --json prints the whole file.

Exit code 1: the session never had a queue, or its file is damaged. With --watch: the queue ended
before it was complete.`,
		Example: `  stopgate queue show main
  stopgate queue show main --watch
  stopgate queue show main --json | jq -r '.commands[-1].result'`,
		Args:              term.OneArg,
		ValidArgsFunction: sessionNames(known),
	}, func(d *desk, cmd *cobra.Command, args []string, asJSON bool) error {
		if follow {
			return d.follow(cmd, args[0], asJSON)
		}
		s, err := d.show(args[0])
		if err != nil {
			return err
		}
		return term.Once(cmd.OutOrStdout(), asJSON, s)
	})
	cmd.Flags().BoolVar(&follow, "watch", false, "keep showing changes until it ends")
	return cmd
}

// follow watches a queue to its end.
func (d *desk) follow(cmd *cobra.Command, session string, asJSON bool) error {
	ctx, stop := term.UntilSignal(cmd)
	defer stop()
	var last *queueShow
	err := term.Watch(ctx, cmd.OutOrStdout(), asJSON, func() (term.Glimpse, error) {
		s, err := d.show(session)
		last = s
		return s, err
	})
	if err == nil && last.view.broken() {
		return term.ErrSilent
	}
	return err
}

// queueShow is one queue at one moment.
type queueShow struct {
	view  queueView
	queue queue.Queue
	live  bool
	now   time.Time
}

// show is a session's queue, or its last one.
func (d *desk) show(session string) (*queueShow, error) {
	l, err := d.live(session)
	live := err == nil
	if errors.Is(err, queue.ErrNone) {
		l, err = d.queues.Last(session)
	}
	switch {
	case errors.Is(err, queue.ErrNone):
		return nil, forQueue(err, session)
	case err == nil && l.Err != nil:
		return nil, fmt.Errorf("%s: %w", l.Path, l.Err)
	case err != nil:
		return nil, err
	}
	now := time.Now()
	return &queueShow{d.view(l, now), l.Queue, live, now}, nil
}

// JSON is the queue's file, with where it is.
func (s *queueShow) JSON() any {
	return struct {
		Path string `json:"path"`
		queue.Queue
	}{s.view.Path, s.queue}
}

func (s *queueShow) Over() bool { return !s.live }

func (s *queueShow) Facts() []term.Fact {
	all := []term.Fact{{Text: s.title()}}
	for i := range s.queue.Commands {
		c := &s.queue.Commands[i]
		all = append(all, term.Fact{Text: fmt.Sprintf("%d  %s  %s", c.ID, term.Cut(plain.Line(c.Command), pipeCommand), s.state(c))})
	}
	return all
}

// title says which queue it is and how it stands as a whole.
func (s *queueShow) title() string {
	name := "session " + term.Shown(s.view.Session)
	tally := fmt.Sprintf("%d of %s done", s.view.Completed, plain.Count(s.view.Total, "command"))
	switch {
	case !s.live:
		return name + " has no queue; its last one: " + tally + ", " + s.view.State
	case s.view.Ended != "":
		return name + ": " + tally + ", " + s.view.State
	}
	return name + ": " + tally
}

func (s *queueShow) Lines(p term.Paint, width, height int) []string {
	lines := s.head(p, width)
	if rowsOf(lines, width) > height/2 {
		lines = []string{s.view.paint(p, term.Cut(s.title(), width))}
	}
	room := max(1, height-rowsOf(lines, width))
	blocks := s.blocks(p, width)
	if size(blocks) > room {
		for i := range blocks {
			blocks[i] = blocks[i][:1] // without results
		}
	}
	first, last := 0, len(blocks)
	if len(blocks) > room {
		first, last = s.window(len(blocks), room-1)
	}
	for _, block := range blocks[first:last] {
		lines = append(lines, block...)
	}
	if hidden := len(blocks) - (last - first); hidden > 0 {
		lines = append(lines, p.Faint(term.Cut("… "+plain.Count(hidden, "command")+" not shown", width)))
	}
	return lines
}

// head tells of the queue as a whole. The path is never cut: nobody could use it.
func (s *queueShow) head(p term.Paint, width int) []string {
	made, title := "created at "+term.Clock(s.view.CreatedAt, s.now), s.title()
	if term.Cells(made)+2+term.Cells(s.view.Path) <= width {
		return []string{s.view.paint(p, title), p.Faint(made + "  " + s.view.Path)}
	}
	return []string{s.view.paint(p, title), p.Faint(made), p.Faint(s.view.Path)}
}

// rowsOf is how many rows of a screen the lines take.
func rowsOf(lines []string, width int) int {
	n := 0
	for _, line := range lines {
		n += 1 + max(0, term.Cells(line)-1)/width
	}
	return n
}

func size(blocks [][]string) int {
	n := 0
	for _, block := range blocks {
		n += len(block)
	}
	return n
}

// window is the part of the commands that fits, around the one that matters now.
func (s *queueShow) window(total, room int) (first, last int) {
	first = min(max(0, s.view.Completed-room/2), total-room)
	return first, first + room
}

// blocks are the lines of each command: its own, and the beginning of its result.
func (s *queueShow) blocks(p term.Paint, width int) [][]string {
	numbers := len(strconv.Itoa(len(s.queue.Commands)))
	indent := numbers + 4
	commands, states := s.columns(width - indent - 2)
	all := make([][]string, len(s.queue.Commands))
	for i := range all {
		c := &s.queue.Commands[i]
		line := fmt.Sprintf("%s %*d  %s  %s", s.mark(p, c), numbers, c.ID, term.Pad(plain.Line(c.Command), commands), s.colour(p, c, term.Cut(s.state(c), states)))
		all[i] = append([]string{line}, result(p, c, width-indent, indent)...)
	}
	return all
}

// columns shares the width: the states come first, but leave a part to the commands.
func (s *queueShow) columns(width int) (commands, states int) {
	for i := range s.queue.Commands {
		c := &s.queue.Commands[i]
		commands, states = max(commands, term.Cells(plain.Line(c.Command))), max(states, term.Cells(s.state(c)))
	}
	commands = min(commands, pipeCommand)
	if commands+states > width {
		commands = min(commands, max(16, width-states, 1))
		states = max(1, width-commands)
	}
	return commands, states
}

// resultLines is how many lines of a result are shown.
const resultLines = 3

// result is the beginning of what a command came to.
func result(p term.Paint, c *queue.Command, width, indent int) []string {
	if c.Result == nil {
		return nil
	}
	const enough = 16 << 10 // bytes, to look for lines in
	text := *c.Result
	var lines []string
	for line := range strings.Lines(text[:min(len(text), enough)]) {
		line = plain.Line(line)
		if line == "" {
			continue
		}
		if len(lines) == resultLines {
			lines[resultLines-1] += " …"
			break
		}
		lines = append(lines, line)
	}
	room := min(width-2, 2*pipeCommand)
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", indent) + p.Faint("│ "+term.Cut(line, max(1, room)))
	}
	return lines
}

func (s *queueShow) mark(p term.Paint, c *queue.Command) string {
	switch {
	case c.Status == queue.Done:
		return p.Green("✓")
	case c.Status == queue.Failed:
		return p.Red("✗")
	case c.Status == queue.Active && s.live:
		return p.Bold("▸")
	case c.Status == queue.Active:
		return p.Yellow("!")
	}
	return p.Faint("·")
}

func (s *queueShow) colour(p term.Paint, c *queue.Command, text string) string {
	switch {
	case c.Status == queue.Failed:
		return p.Red(text)
	case c.Status == queue.Pending:
		return p.Faint(text)
	case c.Status == queue.Active:
		return s.view.paint(p, text)
	}
	return text
}

// state tells how far a command is.
func (s *queueShow) state(c *queue.Command) string {
	switch c.Status {
	case queue.Done:
		if c.CompletedAt == nil {
			return "done"
		}
		return "done at " + term.Clock(c.CompletedAt.Time, s.now)
	case queue.Failed:
		if c.Stopgate != nil && c.Stopgate.Why != "" {
			return "failed: " + plain.Line(c.Stopgate.Why)
		}
		return "failed"
	case queue.Active:
		if s.live && s.view.Ended == "" {
			return s.view.State
		}
		return "not done"
	}
	if !s.live {
		return "not typed"
	}
	return "pending"
}
