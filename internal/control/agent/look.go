package agent

import (
	"context"
	"strings"

	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Screen is what a client shows.
type Screen struct {
	Kind string // one of those of terminal.Recognise; empty: nothing special
	Text string // the last lines
}

// Look looks at a client's screen. Nothing is typed.
func (c Terminals) Look(ctx context.Context, agent string) (Screen, error) {
	captured, err := c.Capture(ctx, agent)
	if err != nil {
		return Screen{}, err
	}
	return Screen{Kind: terminal.Recognise(captured), Text: plain.LastLines(strings.TrimRight(plain.Text(captured), " \t\n"), 30)}, nil
}

// Capture is a client's whole screen, with the escape sequences that colour it.
func (c Terminals) Capture(ctx context.Context, agent string) (string, error) {
	at, err := c.terminal(agent)
	if err != nil {
		return "", err
	}
	panes, err := c.server().Panes(ctx, at.Session)
	if err != nil {
		return "", err
	}
	return panes[0].Capture(ctx) // the first is Claude Code's; others are a person's
}
