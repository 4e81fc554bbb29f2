package settings

import (
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
)

// questions are the tools by which an agent asks a person. PreToolUse is
// installed for them alone unless the project has commands of its own there:
// each hook costs the client about 14 ms per call.
const questions = "AskUserQuestion|ExitPlanMode"

// EditTools are the tools by which an agent writes files, which they name. PostToolUse is
// installed for them alone: it tells in which projects the agent has worked.
var EditTools = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}

// standard lists the events that stopgate itself has a use for.
var standard = []hook.Event{
	hook.Stop, hook.SubagentStart, hook.SubagentStop, hook.StopFailure,
	hook.SessionStart, hook.SessionEnd, hook.UserPromptSubmit, hook.Notification,
	hook.PermissionRequest, hook.PreToolUse, hook.PreCompact, hook.PostToolUse, hook.CwdChanged,
}

// Plan lists the entries to install: the standard events, those that the project
// has commands for, and those that are installed already, since a file that
// serves all projects must not lose what another one asked for. project may be
// nil. A stop has as long as its longest command needs, unless a person says how long.
func Plan(program string, project *config.Project, installed []Entry, stop time.Duration) []Entry {
	wide := map[hook.Event]bool{}
	events := slices.Clone(standard)
	want := func(e hook.Event) {
		if !slices.Contains(events, e) {
			events = append(events, e)
		}
	}
	for _, e := range hook.Events() {
		if project != nil && len(project.Hooks[e]) > 0 {
			want(e)
			wide[e] = true
		}
	}
	for _, entry := range installed {
		want(entry.Event)
		wide[entry.Event] = wide[entry.Event] || entry.wide()
	}
	plan := make([]Entry, len(events))
	for i, e := range events {
		timeout := timeoutFor(e, project, installed)
		if e.Loops() && stop > 0 {
			timeout = stop
		}
		plan[i] = NewEntry(Call{Program: program, Event: e, Timeout: timeout})
		switch {
		case wide[e]:
		case e == hook.PreToolUse:
			plan[i].Matcher = questions
		case e == hook.PostToolUse:
			plan[i].Matcher = strings.Join(EditTools, "|")
		}
	}
	return plan
}

// Uncovered lists the events that the project has commands or gates for and that
// none of the entries calls us for.
func Uncovered(entries []Entry, project *config.Project) (missing []hook.Event) {
	for _, e := range hook.Events() {
		if len(project.Hooks[e]) == 0 && !(e == hook.Stop && project.HasGates()) {
			continue
		}
		if !slices.ContainsFunc(entries, func(entry Entry) bool { return entry.Event == e && entry.wide() }) {
			missing = append(missing, e)
		}
	}
	return missing
}

// timeoutFor is long enough for every command of the project and of those whose
// entries are there already. Only stops may take long; what the client bounds
// itself stays within that.
func timeoutFor(e hook.Event, project *config.Project, installed []Entry) time.Duration {
	timeout := DefaultTimeout(e)
	if !e.Loops() {
		return timeout
	}
	if project != nil {
		for _, command := range project.Hooks[e] {
			timeout = max(timeout, command.Timeout+spare)
		}
		if deadline := project.Gauntlet.StopHook.Deadline; e == hook.Stop && deadline != nil {
			timeout = max(timeout, *deadline+spare)
		}
	}
	for _, entry := range installed {
		if entry.Event == e {
			timeout = max(timeout, entry.Timeout)
		}
	}
	return timeout
}

// spare is what a hook needs beside its longest command.
const spare = 30 * time.Second
