package settings

import (
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Program is the bare name by which a shared settings file calls us.
const Program = "stopgate"

// Call is the call of us that an installed entry makes.
type Call struct {
	Program string // a path, or the bare name in a file that others use too
	Event   hook.Event
	Timeout time.Duration // what --timeout says
	For     string        // what --for says; empty: Claude Code
}

// Line is the call as a shell's command line, which is the one form that every program
// understands that reads these files: Copilot CLI ignores "args". Where the program is
// missing it does nothing and succeeds, since others deny a tool call when a hook fails.
func (c Call) Line() string {
	return c.guard() + "; exec " + ShellCommand(c.Program, c.arguments()...)
}

func (c Call) arguments() []string {
	args := []string{"hook", string(c.Event)}
	if c.For != "" {
		args = append(args, "--for", c.For)
	}
	return append(args, "--timeout", plain.Duration(c.Timeout))
}

// guard is what comes before the call: all of it is built into the shell, so that it
// costs no process where the program is there.
func (c Call) guard() string {
	program := ShellCommand(c.Program)
	found := "command -v " + program + " >/dev/null"
	if c.Program != baseName(c.Program) {
		found = "[ -x " + program + " ]"
	}
	return found + " || " + c.missing()
}

// missing is what a shell does where the program is not there. A teammate who has never had
// it is told once, when a session starts: making the directory works only once. Who
// installed it for themselves is told at every stop.
func (c Call) missing() string {
	shared := c.Program == baseName(c.Program)
	switch {
	case shared && c.Event == hook.SessionStart:
		return `{ [ -d "$HOME" ] && { d="${XDG_CACHE_HOME:-$HOME/.cache}"; mkdir -p "$d" && mkdir "$d/` + ToldMissing + `" && ` + say(neverInstalled) + `; } 2>/dev/null; exit 0; }`
	case !shared && c.Event == hook.Stop:
		return "{ " + say(vanished) + "; exit 0; }"
	}
	return "exit 0"
}

// ToldMissing is the directory in the user's cache directory that says that the user knows
// that the program is missing.
const ToldMissing = "stopgate-missing"

const (
	neverInstalled = "This project checks its agents with stopgate, which is not on your PATH, so nothing is checked. " +
		"To install it: go install github.com/stopgate/stopgate/cmd/...@latest"
	vanished = "stopgate was moved or removed, so nothing is checked. Install it again, or take its hooks out of the settings of Claude Code."
)

// say prints what Claude Code shows to the person. The text has no quotes in it.
func say(text string) string { return `echo '{"systemMessage":"` + text + `"}'` }

// unguarded is the command line behind a guard of ours, whatever the guard does about a
// missing program: that text may differ between versions.
func unguarded(line string) string {
	for _, start := range []string{"command -v ", "[ -x "} {
		rest, ok := strings.CutPrefix(line, start)
		if !ok {
			continue
		}
		program, _ := firstWord(rest)
		call := ShellCommand(program) + " hook "
		if i := strings.LastIndex(line, "; exec "+call); i >= 0 {
			return line[i+len("; exec "):]
		}
	}
	return line
}

// Call is what the entry says of the call that it makes, as far as it is one.
func (e Entry) Call() Call {
	program, arguments := e.call()
	c := Call{Program: program, Event: e.Event}
	for i := 1; i < len(arguments); i++ {
		switch value := arguments[min(i+1, len(arguments)-1)]; arguments[i] {
		case "--for":
			c.For = value
		case "--timeout":
			c.Timeout, _ = time.ParseDuration(value) // 0 when it is none
		}
	}
	return c
}

// Current reports whether the entry calls us in the form that is installed today.
func (e Entry) Current() bool {
	return len(e.Args) == 0 && e.Command == e.Call().Line()
}

// Exactly is the command that starts an entry of exactly the form that is installed, today or by
// an older stopgate, without a shell where it is older. Callers use it
// to start an entry from a file that may come from anywhere.
func (e Entry) Exactly() (args []string, exact bool) {
	program, arguments := e.call()
	older := slices.Equal(arguments, []string{"hook", string(e.Event)})
	switch {
	case e.Current():
		return process.Shell(e.Command), true
	case older && (len(e.Args) > 0 || e.Command == ShellCommand(program, arguments...)):
		path, found := resolve(program)
		return append([]string{path}, arguments...), found
	}
	return nil, false
}

// newEntry is the entry that is installed for a call.
func newEntry(c Call) Entry {
	return Entry{Event: c.Event, Command: c.Line(), Timeout: c.Timeout, Status: statusMessage(c.Event)}
}

// statusMessage is what Claude Code shows while it waits.
func statusMessage(event hook.Event) string {
	if event.Loops() {
		return "stopgate is checking the work"
	}
	return "stopgate"
}
