package settings

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/commandline"
)

// questions are the tools by which an agent asks a person. PreToolUse is
// installed for them alone unless the project has commands of its own there:
// each hook costs Claude Code about 14 ms per call.
var questions = []string{"AskUserQuestion", "ExitPlanMode"}

// edits are the tools by which an agent writes files, which they name: Claude Code's own, and
// those of MCP servers that have such a word in their names. PostToolUse is installed for them
// alone: it tells in which projects the agent has worked. Tools that only read must not
// count: a person's red project is not the agent's because it was read.
var edits = []string{
	"Edit", "MultiEdit", "Write", "NotebookEdit",
	"mcp__.*(write|edit|create|update|replace|insert|append|delete|remove|move|rename|patch|save).*",
}

var editing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(matcherOf(edits)) })

// Edits reports whether a tool is one that writes files.
func Edits(tool string) bool { return editing().MatchString(tool) }

// toolsFor are the tools that the entry for an event is called for where no project has
// commands of its own there; nil: it is called for everything.
func toolsFor(e hook.Event) []string {
	switch e {
	case hook.PreToolUse:
		return questions
	case hook.PostToolUse:
		return edits
	}
	return nil
}

// matcherOf is the matcher for tools, which are names and patterns. Claude Code compares
// plain names as they are and looks for any other matcher anywhere in a tool's name, where
// Write is found in TodoWrite.
func matcherOf(tools []string) string {
	all := strings.Join(tools, "|")
	if !slices.ContainsFunc(tools, isPattern) {
		return all
	}
	return "^(" + all + ")$"
}

// isPattern tells patterns, and matchers that are one, from plain names.
func isPattern(matcher string) bool {
	return strings.ContainsFunc(matcher, func(r rune) bool { return commandline.IsSpecial(r) && r != '|' })
}

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
		if project != nil && project.HasRules(e) {
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
		plan[i] = newEntry(Call{Program: program, Event: e, Timeout: timeout})
		if !wide[e] {
			plan[i].Matcher = matcherOf(toolsFor(e))
		}
	}
	return plan
}

// Uncovered lists the events that the project has commands or gates for and that
// none of the entries calls us for.
func Uncovered(entries []Entry, project *config.Project) (missing []hook.Event) {
	for _, e := range hook.Events() {
		if !project.HasRules(e) && !(e == hook.Stop && project.HasGates()) {
			continue
		}
		if !slices.ContainsFunc(entries, func(entry Entry) bool { return entry.Event == e && entry.wide() }) {
			missing = append(missing, e)
		}
	}
	return missing
}

// Narrow lists the events that entries call us for, but not for all tools that they would be
// installed for today.
func Narrow(entries []Entry) (events []hook.Event) {
	for _, e := range standard {
		there := slices.DeleteFunc(slices.Clone(entries), func(entry Entry) bool { return entry.Event != e })
		if len(there) > 0 && len(uncovered(toolsFor(e), there)) > 0 {
			events = append(events, e)
		}
	}
	return events
}

// timeoutFor is long enough for every command of the project and of those whose
// entries are there already. Only stops may take long; what Claude Code bounds
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
