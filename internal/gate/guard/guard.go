// Package guard is the keeper that runs a project's own commands on hook events.
package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Guard runs the commands under hooks: in the project's configuration.
type Guard struct{}

var _ keeper.Keeper = Guard{}

// Name implements keeper.Keeper.
func (Guard) Name() string { return "guard" }

// MaxBlocks implements keeper.Keeper. A command is the same each time: an agent
// that could not satisfy it in three rounds needs a person.
func (Guard) MaxBlocks() int { return 3 }

// Applies implements keeper.Keeper.
func (Guard) Applies(call *keeper.Call) bool { return len(matching(call)) > 0 }

// Judge runs every command that matches the call, in the order of the file. One
// failure does not keep the next command from running.
func (Guard) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	var runs []run
	for _, command := range matching(call) {
		runs = append(runs, execute(ctx, call, command))
	}
	return verdict(runs)
}

// matching lists the commands that the project has for the call.
func matching(call *keeper.Call) []config.Command {
	if call.Project == nil {
		return nil
	}
	var out []config.Command
	for _, command := range call.Project.Config.Hooks[call.Event()] {
		if matches(command.Match, call.Payload.Subjects()) {
			out = append(out, command)
		}
	}
	return out
}

// matches reports whether a pattern selects one of the subjects. The pattern *
// selects everything, also an event without a subject.
func matches(pattern string, subjects []string) bool {
	if pattern == "*" {
		return true
	}
	for _, subject := range subjects {
		if subject == pattern || doublestar.MatchUnvalidated(pattern, subject) {
			return true
		}
	}
	return false
}

// run is a command and how it ended.
type run struct {
	config.Command
	process.Result
	denial string // what a PreToolUse command said when it denied the tool
}

func execute(ctx context.Context, call *keeper.Call, command config.Command) run {
	result := call.Project.Content.Run(ctx, process.Command{
		Args:    process.Shell(command.Run),
		Dir:     call.Project.Root,
		Env:     Environ(call.Env, call),
		Stdin:   call.Raw,
		Timeout: command.Timeout,
		Lines:   command.OutputLines,
	})
	r := run{Command: command, Result: result}
	if call.Event() == hook.PreToolUse {
		r.denial = denial(result)
	}
	return r
}

// withheld reports whether the command was not run because its files are not as approved.
func (r *run) withheld() bool { return errors.Is(r.Err, trust.ErrWithheld) }

// Reported is the status of commands that failed and do not object.
const Reported = "reported"

func verdict(runs []run) keeper.Verdict {
	v := keeper.Verdict{Outcome: keeper.Passed}
	var objections []run
	var summaries, messages []string
	for _, r := range runs {
		switch {
		case r.denial != "":
			v.Outcome = keeper.Failed
			objections = append(objections, r)
			summaries = append(summaries, fmt.Sprintf("hook command %q denied the tool call", r.Run))
		case r.OK():
		case r.withheld() && r.OnFailure == config.Block:
			v.Outcome, v.Uncounted = keeper.Failed, true
			objections = append(objections, r)
			summaries = append(summaries, fmt.Sprintf("hook command %q was not run: %v", r.Run, r.Err))
		case !r.Ran():
			if v.Outcome == keeper.Passed {
				v.Outcome = keeper.CouldNotRun
			}
			messages = append(messages, fmt.Sprintf("hook command %q %s; nothing was checked", r.Run, r.Result))
		case r.OnFailure == config.Block:
			v.Outcome = keeper.Failed
			objections = append(objections, r)
			summaries = append(summaries, report(r))
		default:
			v.Outcome = keeper.Failed
			messages = append(messages, report(r))
		}
	}

	v.Status = v.Outcome.String()
	if v.Outcome == keeper.Failed && len(objections) == 0 {
		v.Status = Reported
	}
	v.Reason = reason(objections)
	v.Message = strings.Join(messages, "\n")
	if len(summaries) > 0 {
		v.Summary = strings.Join(append(summaries, messages...), "\n")
	}
	return v
}

// report tells the person. It goes into the journal too, so it holds nothing
// that the command printed.
func report(r run) string {
	text := fmt.Sprintf("hook command %q failed: %s", r.Run, r.Result)
	if r.Message != "" {
		text += " (" + r.Message + ")"
	}
	return text
}
