package engine

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// runStep starts the command of a shell step.
func (d *draft) runStep(step runbook.Step) {
	start := &ShellStart{
		Script: runbook.ExpandShell(step.Run.Shell, d.values()),
		Cwd:    d.cwd(), Step: step.Name,
	}
	if d.fits(start, "the command with its variables takes") {
		d.startShell(start, "")
	}
}

// startShell starts a command: the step's, or the gate of a trigger.
func (d *draft) startShell(start *ShellStart, gate string) {
	d.fact(ShellStarted{d.nextKey(), gate})
	d.effect(Effect{Kind: StartShell, Shell: start})
}

// shellExited is the end of a command. Of one that was left before, nobody wants to know.
func (d *draft) shellExited(e ShellExited) {
	if d.Shell == nil || d.Shell.Key != e.Key {
		return
	}
	shell := *d.Shell
	e.Tail = clipStart(e.Tail, maxWords)
	d.fact(ShellEnded{e.Key, e.Code, e.Lost, e.Tail})
	switch {
	case shell.Gate != "":
		d.gateEnded(shell, e)
	case e.Lost:
		d.escalate(question{
			source: FromLost, reason: "the command's result is unknown",
			context: fmt.Sprintf("Nobody knows how the command of step %q ended: it was cut off", d.Step),
		})
	case e.Code == 0:
		d.complete()
	default:
		d.fail(e.outcome())
	}
}

// outcome says in one line how a command failed.
func (e ShellExited) outcome() string {
	status := fmt.Sprintf("exit status %d", e.Code)
	if e.Lost {
		status = "its result is unknown"
	}
	if line := lastLine(e.Tail); line != "" {
		status += ": " + clip(line, 500)
	}
	return status
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
