package top

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// terminalProgram carries out what Next wants, in a terminal.
type terminalProgram struct {
	ctx    context.Context
	source *Source
	tea    *tea.Program

	state    State
	unfollow context.CancelFunc
}

var _ tea.Model = (*terminalProgram)(nil)

// Init implements tea.Model. What runs as a command restores the terminal when it panics.
func (p *terminalProgram) Init() tea.Cmd {
	tell := func(event any) { p.tea.Send(event) }
	return tea.Batch(
		tick,
		func() tea.Msg { p.source.Watch(p.ctx, tell); return nil },
	)
}

// tick is the time now: ages grow.
func tick() tea.Msg { return Tick{time.Now()} }

// Update implements tea.Model.
func (p *terminalProgram) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	event, next := translated(msg)
	state, effects := Next(p.state, event)
	p.state = state
	commands := []tea.Cmd{next}
	for _, effect := range effects {
		commands = append(commands, p.carryOut(effect))
	}
	return p, tea.Batch(commands...)
}

// translated is a message of Bubble Tea as an event of ours, and what follows from it in any case.
func translated(msg tea.Msg) (event any, next tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		return Resize{m.Width, m.Height}, nil
	case tea.KeyPressMsg:
		return Key{m.Keystroke(), m.Text}, nil
	case tea.PasteMsg:
		return Key{Text: plain.Line(m.Content)}, nil
	case Tick:
		return m, tea.Tick(time.Second, func(now time.Time) tea.Msg { return Tick{now} })
	}
	return msg, nil
}

// View implements tea.Model.
func (p *terminalProgram) View() tea.View {
	v := tea.NewView(Screen(&p.state))
	v.AltScreen = true
	return v
}

// carryOut is the command for an effect.
func (p *terminalProgram) carryOut(effect any) tea.Cmd {
	switch e := effect.(type) {
	case Quit:
		return tea.Quit
	case Suspend:
		return tea.Exec(outside(suspend), nil)
	case Refresh:
		p.source.Refresh()
	case Survey:
		return func() tea.Msg { return p.source.Survey(e.Roots) }
	case Show:
		return func() tea.Msg { return p.source.Show(p.ctx, e.Ref) }
	case Peek:
		return tea.Tick(rest, func(time.Time) tea.Msg { return Peeked(e) })
	case Answer:
		return func() tea.Msg { return p.source.Answer(p.ctx, e) }
	case Follow:
		return p.follow(e)
	case Attach:
		return attach(e)
	}
	return nil
}

// rest is how long a person stays on a row to be shown its details.
const rest = 150 * time.Millisecond

// follow follows one log at a time.
func (p *terminalProgram) follow(f Follow) tea.Cmd {
	if p.unfollow != nil {
		p.unfollow()
		p.unfollow = nil
	}
	if f.Owner == "" {
		return nil
	}
	ctx, cancel := context.WithCancel(p.ctx)
	p.unfollow = cancel
	return func() tea.Msg {
		p.source.Follow(ctx, f, func(event any) { p.tea.Send(event) })
		return nil
	}
}

// attach gives the terminal to "stopgate agent attach" until the person comes back.
func attach(a Attach) tea.Cmd {
	stopgate, err := program.Stopgate()
	if err != nil {
		return func() tea.Msg { return Attached{err} }
	}
	args := []string{"agent", "attach", a.Agent}
	if a.ReadOnly {
		args = append(args, "--read-only")
	}
	cmd := exec.Command(stopgate, args...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, &said
	return tea.Exec(outside(cmd.Run), func(err error) tea.Msg {
		if text := plain.Line(said.String()); err != nil && text != "" {
			err = errors.New(text)
		}
		return Attached{err}
	})
}
