package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newAgentLogs() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs ID",
		Short: "Print an agent's conversation or output",
		Long: `Print an agent's conversation: prompts (>), messages, tool calls (·), failed tool calls (✗),
answers it got (<), and notes from hooks and Claude Code (!). For an agent that is not Claude
Code, print its output. Agents that have ended are included. An agent on another machine of the
fleet cannot be followed: with --follow, print the end of its conversation or output.

Exit code 0: printed. 2: no such agent. 3: the daemon is not running.`,
		Example: `  stopgate agent logs 3f9a12bc
  stopgate agent logs 3f9a12bc --follow`,
		Args: ids(term.OneArg, 1),
		RunE: Asking(func(ctx context.Context, p *Daemon, args []string) error {
			a, err := p.findAgent(ctx, args[0])
			switch {
			case err != nil:
				return err
			case !a.ClaudeCode:
				return p.printLogOf(ctx, a.Owner, a.Away, follow)
			}
			t := newTalk(p, a)
			if a.Host != "" {
				return t.printAfar(ctx, follow)
			}
			if follow {
				return t.follow(ctx)
			}
			return t.print(ctx)
		}),
		ValidArgsFunction: agentIDs(1),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing until the agent ends")
	return cmd
}

// talkEvery is how often agent logs -f looks for more of a conversation: Claude Code
// itself writes it with a delay of a tenth of a second.
const talkEvery = 200 * time.Millisecond

// talk prints the conversation of an agent.
type talk struct {
	*Daemon
	agent    daemonapi.Agent
	paint    term.Paint
	width    int
	now      func() time.Time
	day      string // of what was printed last
	follower transcript.Follower
	convo    transcript.Conversation
}

func newTalk(p *Daemon, a daemonapi.Agent) *talk {
	t := &talk{Daemon: p, agent: a, paint: term.PaintFor(p.out), width: term.WidthOf(p.out), now: time.Now}
	t.day = t.now().Local().Format(time.DateOnly)
	return t
}

// print prints what there is. A client that never began to talk has left at most what its
// terminal showed, in the log of its pipeline.
func (t *talk) print(ctx context.Context) error {
	err := t.more()
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(t.errOut, "stopgate: %s has no conversation yet; this is the log of its pipeline\n", agentTitle(&t.agent))
		return t.printLog(ctx, t.agent.Owner, false)
	}
	return err
}

// maxMessages is how much of a conversation another machine is asked for.
const maxMessages = 500

// printAfar prints the end of a conversation on another machine, which reads its transcript for us.
func (t *talk) printAfar(ctx context.Context, follow bool) error {
	if follow {
		fmt.Fprintf(t.errOut, "stopgate: %s cannot be followed from here; this is the end of its conversation\n", agentTitle(&t.agent))
	}
	talked, err := t.Conversation(ctx, t.agent.ID, maxMessages)
	if err != nil {
		return err
	}
	if len(talked.Messages) == 0 {
		fmt.Fprintf(t.errOut, "stopgate: %s has no conversation yet; this is the log of its pipeline\n", agentTitle(&t.agent))
		return t.printLog(ctx, t.agent.Owner, false)
	}
	for _, m := range talked.Messages {
		if err := t.event(eventOf(m)); err != nil {
			return err
		}
	}
	return nil
}

// eventOf is a message as an event of a transcript.
func eventOf(m daemonapi.Message) transcript.Event {
	e := transcript.Event{Kind: transcript.KindOf(m.Kind), Text: m.Text}
	if m.Time != nil {
		e.Time = *m.Time
	}
	return e
}

// follow prints what there is and what comes, until the agent has ended.
func (t *talk) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	status, err := t.Status(ctx)
	if err != nil {
		return err
	}
	news, ended := t.news(ctx, t.agent.Owner, status.Events)
	tick := time.NewTicker(talkEvery)
	defer tick.Stop()

	for look := true; ; {
		if look {
			if err := t.ask(ctx); err != nil {
				return err
			}
		}
		if err := t.more(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if t.agent.Status == "exited" {
			return nil
		}

		select {
		case <-ctx.Done():
			return term.WithCode(nil, term.ExitInterrupted)
		case err := <-ended:
			switch {
			case ctx.Err() != nil:
				return term.WithCode(nil, term.ExitInterrupted)
			case isLost(err):
				return gone()
			}
			return err
		case <-news:
			look = true
		case <-tick.C:
			look = t.follower.Path == "" // the daemon finds it once there is one
		}
	}
}

// ask learns how the agent is.
func (t *talk) ask(ctx context.Context) (err error) {
	t.agent, err = t.Agent(ctx, t.agent.ID)
	switch {
	case ctx.Err() != nil:
		return term.WithCode(nil, term.ExitInterrupted)
	case isLost(err):
		return gone()
	}
	return err
}

// more prints what is new. A client that began another session goes on in another file.
func (t *talk) more() error {
	if path := t.path(); path != "" && path != t.follower.Path {
		if t.follower.Path != "" {
			fmt.Fprintln(t.out, t.paint.Faint("new conversation"))
		}
		t.follower = transcript.Follower{Path: path}
		t.convo = transcript.Conversation{}
	}
	if t.follower.Path == "" {
		return fs.ErrNotExist
	}
	var failed error
	err := t.follower.Next(func(line []byte) {
		for _, e := range t.convo.Line(line) {
			if failed == nil {
				failed = t.event(e)
			}
		}
	})
	return errors.Join(err, failed)
}

// path is where the conversation is: what the daemon has found, or a session since then
// beside it.
func (t *talk) path() string {
	path, _ := transcript.Find("", t.agent.Transcript, t.agent.Session) // it looks nowhere else
	return cmp.Or(path, t.agent.Transcript)
}

// event prints one event.
func (t *talk) event(e transcript.Event) error {
	if day := e.Time.Local().Format(time.DateOnly); !e.Time.IsZero() && day != t.day {
		t.day = day
		if _, err := fmt.Fprintln(t.out, t.paint.Faint(day)); err != nil {
			return err
		}
	}
	return term.PrintLines(t.out, t.lines(e))
}

// lines are an event's, with its time before the first.
func (t *talk) lines(e transcript.Event) []string {
	stamp := strings.Repeat(" ", len(time.TimeOnly))
	if !e.Time.IsZero() {
		stamp = e.Time.Local().Format(time.TimeOnly)
	}

	mark, colour, whole := " ", func(text string) string { return text }, true
	switch e.Kind {
	case transcript.Prompt:
		mark, colour = ">", t.paint.Bold
	case transcript.Note:
		mark, colour = "!", t.paint.Yellow
	case transcript.Tool:
		mark, colour, whole = "·", t.paint.Faint, false
	case transcript.Answer:
		mark, colour = "<", t.paint.Bold
	case transcript.Failed:
		mark, colour, whole = "✗", t.paint.Red, false
	case transcript.Fault:
		mark, colour = "✗", t.paint.Red
	}

	room := max(1, t.width-len(stamp)-3)
	text := []string{term.Cut(plain.Line(e.Text), room)}
	if whole {
		text = term.Wrap(e.Text, room)
	}
	for i := range text {
		text[i] = colour(text[i])
	}
	return term.Hang(t.paint.Faint(stamp)+" "+colour(mark)+" ", text)
}
