package daemon

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// longestMessage is how much of a message is answered: an agent may have been told a whole file.
const longestMessage = 16 << 10

// Conversation reads the transcript each time. A client that has said nothing yet has none.
func (p *plane) Conversation(ctx context.Context, id string, r api.Range) (daemonapi.Conversation, error) {
	a, err := p.Agent(ctx, id)
	if err != nil {
		return daemonapi.Conversation{}, err
	}
	if !a.ClaudeCode {
		return daemonapi.Conversation{}, api.Refusal("not_found", "agent "+a.ID+" is not Claude Code and has no conversation", "its output is in the log of "+a.Owner)
	}
	return readConversation(a.Session, a.Transcript, r)
}

// readConversation reads a part of a transcript. One that is not there is empty.
func readConversation(session, path string, r api.Range) (daemonapi.Conversation, error) {
	c := daemonapi.Conversation{Session: session, Messages: []daemonapi.Message{}}
	if path == "" {
		return c, nil
	}
	read := transcript.After
	if r.Before {
		read = transcript.Before
	}
	part, err := read(path, r.At, r.Limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, api.Refusal("unavailable", plain.Line(err.Error()), "")
	}
	c.From, c.Next, c.Size = part.From, part.Next, part.Size
	for _, e := range part.Events {
		c.Messages = append(c.Messages, messageView(e))
	}
	return c, nil
}

func messageView(e transcript.Placed) daemonapi.Message {
	m := daemonapi.Message{At: e.At, Kind: e.Kind.String(), Text: plain.Words(e.Text)}
	if !e.Time.IsZero() {
		m.Time = &e.Time
	}
	if m.Cut = len(m.Text) > longestMessage; m.Cut {
		m.Text = plain.Cut(m.Text, longestMessage)
	}
	return m
}

// screenPatience is how long tmux may take.
const screenPatience = 5 * time.Second

func (p *plane) Screen(ctx context.Context, id string, ansi bool) (daemonapi.Screen, error) {
	a, err := p.Agent(ctx, id)
	if err != nil {
		return daemonapi.Screen{}, err
	}
	switch {
	case !a.ClaudeCode:
		return daemonapi.Screen{}, api.Refusal("not_found", "agent "+a.ID+" is not Claude Code and has no screen", "its output is in the log of "+a.Owner)
	case a.Terminal == nil:
		return daemonapi.Screen{}, api.Refusal("conflict", "agent "+a.ID+" is "+a.Status+" and shows nothing", "")
	case p.opts.Capture == nil:
		return daemonapi.Screen{}, api.Refusal("unavailable", "this daemon cannot look at terminals", "")
	}
	ctx, cancel := context.WithTimeout(ctx, screenPatience)
	defer cancel()
	captured, err := p.opts.Capture(ctx, a.ID)
	if err != nil {
		return daemonapi.Screen{}, api.Refusal("unavailable", "cannot look at the terminal: "+plain.Line(err.Error()), "")
	}
	view := daemonapi.Screen{Time: p.opts.Now().UTC(), Text: plain.Text(captured), Kind: terminal.Recognise(captured)}
	if ansi {
		view.Text = plain.Coloured(captured)
	}
	return view, nil
}
