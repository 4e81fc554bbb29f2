package terminal

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// status is what has to be known of a pane before anything is typed into it.
type status struct {
	session      string
	dead         bool // its program has ended
	inMode       bool // a person scrolls or chooses there; keys go to tmux
	inputOff     bool
	synchronized bool // keys go to all panes of the window
	noBrackets   bool // its program did not ask to be told of pastes
}

// statusFormat has the session's name last: it may hold spaces. A tmux that does not
// tell of bracketed pastes, such as 3.3a, leaves that field empty.
const statusFormat = "#{pid} #{pane_id} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} [#{bracket_paste_flag}] #{session_name}"

// readStatus reads the line of statusFormat for this pane. tmux answers for a pane that
// is gone too, with nothing in it.
func (p Pane) readStatus(line string) (status, error) {
	fields := strings.SplitN(line, " ", 8)
	if len(fields) < 8 || fields[1] != p.ID || p.PID != 0 && fields[0] != strconv.Itoa(p.PID) {
		return status{}, p.gone()
	}
	return status{
		session:      fields[7],
		dead:         fields[2] == "1",
		inMode:       fields[3] != "0",
		inputOff:     fields[4] == "1",
		synchronized: fields[5] == "1",
		noBrackets:   fields[6] == "[0]",
	}, nil
}

func (p Pane) gone() error { return fmt.Errorf("%w: %s", ErrNoPane, p.ID) }

// look asks for the pane's status, and runs a command after that in the same call.
func (p Pane) look(ctx context.Context, command ...string) (status, string, error) {
	return p.lookWith(ctx, "", command...)
}

func (p Pane) lookWith(ctx context.Context, stdin string, command ...string) (status, string, error) {
	if !isPaneID(p.ID) {
		return status{}, "", p.gone()
	}
	args := []string{"display-message", "-p", "-t", p.ID, statusFormat}
	if len(command) > 0 {
		args = slices.Concat(args, []string{";"}, command)
	}
	out, err := p.Server.tmux(ctx, stdin, args...)
	if err != nil {
		return status{}, "", p.explain(err)
	}
	line, rest, _ := strings.Cut(out, "\n")
	s, err := p.readStatus(line)
	return s, rest, err
}

// explain says ErrNoPane where that is the reason.
func (p Pane) explain(err error) error {
	if isMissing(err, "pane") {
		return p.gone()
	}
	return err
}

// Session is the name of the session that the pane is in.
func (p Pane) Session(ctx context.Context) (string, error) {
	s, _, err := p.look(ctx)
	return s.session, err
}

// Capture is the visible screen, with the escape sequences that colour it.
func (p Pane) Capture(ctx context.Context) (string, error) {
	_, screen, err := p.look(ctx, "capture-pane", "-e", "-p", "-t", p.ID)
	return screen, err
}

// Paste gives the pane's program a text as one paste, byte for byte and without an
// Enter. The text goes through a buffer of its own, which does not stay behind.
func (p Pane) Paste(ctx context.Context, text string) error {
	if err := Check(text); err != nil {
		return err
	}
	guard := "0"
	if strings.Contains(text, "\n") {
		guard = "#{==:#{bracket_paste_flag},0}"
	}
	buffer := "stopgate-" + rand.Text()
	s, err := p.do(ctx, text, guard, "load-buffer -b "+buffer+" - ; paste-buffer -p -r -d -b "+buffer+" -t "+p.ID)
	if err != nil {
		p.forget(context.WithoutCancel(ctx), buffer)
		return err
	}
	if s.noBrackets && guard != "0" {
		return fmt.Errorf("tmux pane %s: its program does not accept pasted text now", p.ID)
	}
	return nil
}

// forget removes a buffer that may be there because it was not pasted. If it is not
// there, this changes nothing.
func (p Pane) forget(ctx context.Context, buffer string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second) // a server that hangs is not waited for twice
	defer cancel()
	_, _ = p.Server.tmux(ctx, "", "delete-buffer", "-b", buffer)
}

// Enter presses the Enter key.
func (p Pane) Enter(ctx context.Context) error {
	_, err := p.do(ctx, "", "0", "send-keys -t "+p.ID+" Enter")
	return err
}

// do runs a command in the same call that looks whether what is typed reaches the pane's
// program, and nobody else. What is typed elsewhere it does not run, nor where guard,
// which is a format, says so.
func (p Pane) do(ctx context.Context, stdin, guard, command string) (status, error) {
	unless := "#{||:#{||:#{pane_dead},#{pane_input_off}},#{||:#{||:#{pane_synchronized},#{pane_in_mode}}," + guard + "}}"
	if p.PID != 0 {
		unless = "#{||:#{!=:#{pid}," + strconv.Itoa(p.PID) + "}," + unless + "}"
	}

	for again := false; ; again = true {
		s, _, err := p.lookWith(ctx, stdin, "if-shell", "-F", "-t", p.ID, unless, "", command)
		switch {
		case err != nil:
			return s, err
		case s.dead:
			return s, fmt.Errorf("tmux pane %s: its program has ended", p.ID)
		case s.inputOff:
			return s, fmt.Errorf("tmux pane %s: its input is disabled (enable it with: tmux select-pane -e)", p.ID)
		case s.synchronized:
			return s, fmt.Errorf("tmux pane %s: its window types into all panes at once (turn that off with: tmux set-option synchronize-panes off)", p.ID)
		case !s.inMode:
			return s, nil
		case again:
			return s, fmt.Errorf("tmux pane %s: it is in copy or choose mode", p.ID)
		}

		if _, err := p.Server.tmux(ctx, "", "copy-mode", "-q", "-t", p.ID); err != nil {
			return s, p.explain(err)
		}
	}
}
