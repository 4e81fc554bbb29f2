package settings

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Agent is a client that is about to be started for an agent.
type Agent struct {
	Program string   // stopgate, absolute
	Aliases []string // further names by which the agent may call it
	Dir     string   // where Claude Code is started
	// ConfigDir is where Claude Code keeps the user's settings; empty where that is not known.
	ConfigDir string
	// Prompt is a file that Claude Code is told to read first, absolute; empty without one.
	Prompt string
}

// File is the text of the settings file that Claude Code gets besides those that count in
// its directory, which it merges. It has only our entries, and none that is in force
// already, so that nothing runs twice, and lets the agent signal without being asked.
//
// It does not switch on hooks that a person has switched off. What is left out then is
// what would run twice if the person switched them on again.
func (a Agent) File() ([]byte, error) {
	hooks := map[hook.Event][]groupJSON{}
	for _, e := range a.entries(a.inspect()) {
		hooks[e.Event] = append(hooks[e.Event], groupOf(e))
	}
	var file struct {
		Hooks       map[hook.Event][]groupJSON `json:"hooks"`
		Permissions struct {
			Allow []string `json:"allow"`
		} `json:"permissions"`
	}
	file.Hooks, file.Permissions.Allow = hooks, a.allowed()
	return json.MarshalIndent(file, "", "  ")
}

// inspect looks at the files that Claude Code is sure to read, and at the one that it may
// read, as its version decides.
func (a Agent) inspect() (sure, perhaps []File) {
	sure = a.read()
	if top, found := paths.MainWorktree(a.Dir); found && top != a.Dir {
		if path, err := Path(Local, top); err == nil {
			perhaps = []File{inspect(location{Local, path})}
		}
	}
	return sure, perhaps
}

// Disabled is the function of that name for the files that count for Claude Code.
func (a Agent) Disabled() (by File, disabled bool) {
	return Disabled(a.read())
}

// read looks at the files that Claude Code is sure to read.
func (a Agent) read() []File { return inspectFor(userFile(a.ConfigDir), a.Dir, a.Dir) }

// entries are those of the standard events that no file has. Where a file may have one, or
// has one that is not for all that the event is about, the same command is written again:
// Claude Code calls equal ones once.
func (a Agent) entries(sure, perhaps []File) (all []Entry) {
	for _, e := range Plan(a.Program, nil, nil, 0) {
		there, known := a.called(sure, e.Event)
		if e.Matcher != "" {
			e.Matcher = matcherOf(uncovered(toolsFor(e.Event), there))
			known = e.Matcher == ""
		}
		if known {
			continue
		}
		maybe, _ := a.called(perhaps, e.Event)
		if there = append(there, maybe...); len(there) > 0 {
			e.Command, e.Args, e.Timeout = there[0].Command, there[0].Args, max(e.Timeout, there[0].Timeout)
		}
		all = append(all, e)
	}
	return all
}

// called are the entries by which Claude Code calls the program for an event, and waits for the
// answer; known reports whether one of them is for all that the event is about. The daemon
// asks, which is another binary: to it even these entries only look like its own.
func (a Agent) called(files []File, event hook.Event) (entries []Entry, known bool) {
	for _, f := range files {
		if f.Dropped() || f.asleep() {
			continue
		}
		for _, e := range append(slices.Clone(f.Entries), f.Alike...) {
			if e.Event == event && len(e.Spoilt) == 0 && e.callsHook() && e.starts(a.Program) {
				entries = append(entries, e)
				known = known || e.wide()
			}
		}
	}
	return entries, known
}

// uncovered are those of the tools that none of the entries is called for.
func uncovered(tools []string, entries []Entry) []string {
	return slices.DeleteFunc(slices.Clone(tools), func(tool string) bool {
		return slices.ContainsFunc(entries, func(e Entry) bool { return e.wide() || matches(e.Matcher, tool) })
	})
}

// matches reports whether Claude Code takes a matcher for a subject. Measured: plain names
// with bars between them are compared as they are, anything else is a regular expression. A
// matcher is for all that a pattern is for if it has the pattern in it.
func matches(matcher, subject string) bool {
	switch {
	case isPattern(subject):
		return strings.Contains(matcher, subject)
	case !isPattern(matcher):
		return slices.Contains(strings.Split(matcher, "|"), subject)
	}
	pattern, err := regexp.Compile(matcher)
	return err == nil && pattern.MatchString(subject)
}

// allowed are the permissions for the command by which the agent signals, and for reading its
// prompt. Measured with 2.1.197 and 2.1.325: the first hold for quoted paths too, and for no
// command beside it; of files a path from the root begins with two slashes. What has brackets
// in its path cannot be written as one, nor what Claude Code would take for a pattern.
func (a Agent) allowed() []string {
	allow := []string{}
	for _, program := range append([]string{a.Program}, a.Aliases...) {
		rule := "Bash(" + ShellCommand(program) + " emit agent:signal:*)"
		if !strings.ContainsAny(program, "()*\n") && !slices.Contains(allow, rule) {
			allow = append(allow, rule)
		}
	}
	if prompt := filepath.ToSlash(a.Prompt); strings.HasPrefix(prompt, "/") && !strings.ContainsAny(prompt, "()*?[]{}!\\\n") {
		allow = append(allow, "Read(/"+prompt+")")
	}
	return allow
}
