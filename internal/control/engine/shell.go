package engine

import (
	"cmp"
	"fmt"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// runStep starts the command of the current step, which is a shell step.
func (d *draft) runStep() { d.startShell(d.current().Run.Shell, "command", "") }

// startGate starts the command that decides for the agent.
func (d *draft) startGate(trigger string) { d.startShell(d.action(trigger).Run, "gate", trigger) }

// startShell starts a command: the step's, or the gate of a trigger.
func (d *draft) startShell(script, what, gate string) {
	d.needWorkspace()
	step := d.current()
	limit := runbook.DefaultTimeout
	if gate == "" {
		limit = cmp.Or(step.Timeout, limit)
	}
	if why := d.absent(append(d.environmentTexts(step), script)...); why != "" {
		d.fail(why)
		return
	}
	start := &ShellStart{Script: runbook.ExpandShell(script, d.values()), Cwd: d.cwd(), Step: d.Step}
	start.Env, start.EnvFile = d.environment(step.Env.Set)
	if d.fits(start, "the "+what+" with its variables has") {
		d.fact(ShellStarted{d.nextKey(), gate, limit})
		d.effect(Effect{Kind: StartShell, Shell: start})
	}
}

// endShell ends the command that runs, also where it is only about to start.
func (d *draft) endShell() {
	d.drop(d.Shell.Key)
	d.effect(Effect{Kind: KillShell, Target: d.Shell.Key})
}

// shellExited is the end of a command. Of one that was left before, nobody wants to know.
func (d *draft) shellExited(e ShellExited) {
	if d.Shell == nil || d.Shell.Key != e.Key {
		return
	}
	shell := *d.Shell
	e.Tail, e.Fault = clipStart(e.Tail, maxWords), clip(e.Fault, maxWords)
	e.Output = soundOutput(e.Output)
	d.fact(e)
	switch {
	case shell.Gate != "":
		d.gateEnded(shell, e)
	case e.Lost:
		d.escalate(question{
			source: FromLost, reason: "the command's result is unknown",
			context: fmt.Sprintf("The result of the command of step %q is unknown: it was interrupted", d.Step),
		})
	case e.Code == 0 && e.Fault != "":
		d.fail(e.Fault)
	case e.Code == 0:
		d.complete()
	default:
		d.fail(e.ending())
	}
}

// ending says in one line how a command failed.
func (e ShellExited) ending() string {
	status := fmt.Sprintf("exit status %d", e.Code)
	if e.Lost {
		status = "its result is unknown"
	}
	if line := plain.LastLine(e.Tail); line != "" {
		status += ": " + clip(line, 500)
	}
	return status
}
