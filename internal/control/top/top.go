// Package top is the terminal's view of all agents and pipelines: which one needs a person, why it
// stopped or did not, and whether anything is enforced.
//
// State and Next are pure: an event and a state give a state and what is to be done. Screen is a
// function of the state. Source asks the daemon; Run puts them together in a terminal.
package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// errNoTerminal says that there is no screen to draw on, and what shows the same without one.
var errNoTerminal = errors.New("top needs a terminal; use: stopgate pipeline list, stopgate status")

// Run shows the view until the person quits.
func Run(ctx context.Context) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return errNoTerminal
	}
	stateDir, err := paths.StateDir()
	if err != nil {
		return err
	}
	source := NewSource(daemonapi.At(stateDir), stateDir)
	return run(ctx, source, State{Agent: environ.Agent(os.Environ())})
}

// run is Run with a source and a beginning.
func run(ctx context.Context, source *Source, begin State) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &terminalProgram{ctx: ctx, source: source, state: begin}
	p.tea = tea.NewProgram(p, tea.WithContext(ctx), tea.WithFPS(framesPerSecond))
	_, err := p.tea.Run()
	if errors.Is(err, tea.ErrProgramPanic) {
		return errors.New("internal error; the terminal was restored")
	}
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("terminal: %s", strings.TrimPrefix(err.Error(), "bubbletea: "))
	}
	return nil
}

// framesPerSecond is how often the screen is drawn at most: keys are to be felt at once, over ssh too.
const framesPerSecond = 30
