package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Entry is one hook entry of ours. With Args Claude Code starts Command without
// a shell; without, it is a shell's command line.
type Entry struct {
	Event   hook.Event
	Matcher string // "" matches everything
	Command string
	Args    []string
	Timeout time.Duration // 0: the file says nothing
	Status  string        // what Claude Code shows while it waits; any text is as good as ours
	Plugin  string        // Claude Code's plugin that brings it; empty for a settings file's
	Spoilt  []string      // keys by which Claude Code does not wait for the answer, or does not call at all
}

func (e Entry) equal(f Entry) bool {
	return e.Event == f.Event && e.Matcher == f.Matcher && e.Command == f.Command &&
		slices.Equal(e.Args, f.Args) && e.Timeout == f.Timeout && slices.Equal(e.Spoilt, f.Spoilt) &&
		(e.Status == "") == (f.Status == "")
}

// wide reports whether Claude Code calls the entry for all that the event is
// about. Where there is nothing to select, it ignores the matcher.
func (e Entry) wide() bool {
	return e.Matcher == "" || e.Matcher == "*" || !e.Event.HasSubject()
}

// programs are the names that we are called by.
var programs = []string{"stopgate", "conclaude", "agent-gauntlet"}

// ours tells the entries that call "stopgate hook" from everybody else's. They resolve to
// this very binary, by whatever name; where there is no such program any more, they have our
// name. What is in a shared file to the letter as we write it is ours too, whichever stopgate is
// first on the PATH: that may be a version manager's. Entries of other tools, and of another
// stopgate that is alive, are not ours to change.
func (e Entry) ours() bool {
	if !e.callsHook() {
		return false
	}
	program := e.Program()
	path, found := resolve(program)
	if !found {
		return baseName(program) == Program && installable(program)
	}
	return isSelf(path) || program == Program && e.Current()
}

// Resolve is the file that the entry starts.
func (e Entry) Resolve() (path string, found bool) { return resolve(e.Program()) }

// Living reports whether the entry resolves to this very binary. One that is ours and does not
// is left from a program that was moved or removed, and answers nothing.
func (e Entry) Living() bool {
	path, found := resolve(e.Program())
	return found && isSelf(path)
}

// starts reports whether the entry starts the program at a path.
func (e Entry) starts(program string) bool {
	path, found := resolve(e.Program())
	return found && sameFile(path, program)
}

// callsHook knows "NAME hook" and, under our other name, "conclaude EVENT".
func (e Entry) callsHook() bool {
	program, arguments := e.call()
	return len(arguments) > 0 && (arguments[0] == "hook" || baseName(program) == "conclaude" && known(arguments[0]))
}

// callsStopHook knows "stopgate stop-hook" and "agent-gauntlet stop-hook".
func (e Entry) callsStopHook() bool {
	program, arguments := e.call()
	return len(arguments) > 0 && arguments[0] == "stop-hook" && slices.Contains(programs, baseName(program))
}

// CallsSupervisor tells the entries that call our supervisor from everybody
// else's: a launch writes the name that it was called by. Programs at one of the
// own paths are ours under any name.
func (e Entry) CallsSupervisor(own ...string) bool {
	program, reviews := e.review()
	switch baseName(program) {
	case "stopgate", "ccc":
		return reviews
	}
	return reviews && slices.ContainsFunc(own, func(path string) bool { return ShellCommand(path) == ShellCommand(program) })
}

// review is the program of an entry of the form "PROGRAM supervisor-hook".
func (e Entry) review() (program string, is bool) {
	program, arguments := e.call()
	return program, e.Event == hook.Stop && slices.Equal(arguments, []string{SupervisorHook})
}

// SupervisorHook is the command of ours that Claude Code calls when a supervised agent
// stops.
const SupervisorHook = "supervisor-hook"

// call is the program that Claude Code starts, and its arguments as far as they can
// be told from a command line.
func (e Entry) call() (program string, arguments []string) {
	if len(e.Args) > 0 {
		return e.Command, e.Args
	}
	program, rest := firstWord(unguarded(e.Command))
	return program, strings.Fields(rest)
}

// alike reports whether an entry that is not ours seems to call us all the same,
// through another program or with variables before the name.
func (e Entry) alike() bool {
	words := strings.FieldsFunc(e.Line(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	})
	named := func(word string) bool { return baseName(word) == Program }
	called := func(word string) bool { return word == "hook" || known(word) }
	return slices.ContainsFunc(words, named) && slices.ContainsFunc(words, called)
}

// Program is what Claude Code starts.
func (e Entry) Program() string {
	program, _ := e.call()
	return program
}

// Line is the command line for people to read. Of what is installed today the guard is left
// out.
func (e Entry) Line() string {
	if e.Current() {
		return unguarded(e.Command)
	}
	return strings.Join(append([]string{e.Command}, e.Args...), " ")
}

// valid refuses an entry that we would not recognise as ours afterwards, or
// that would make Claude Code drop the file.
func (e Entry) valid() error {
	switch {
	case !e.Event.Known():
		return fmt.Errorf("unknown Claude Code event %q", e.Event)
	case !e.ours():
		return fmt.Errorf("not a stopgate hook command: %q %q", e.Command, e.Args)
	case e.Timeout < 0:
		return fmt.Errorf("timeout %v of %s is negative", e.Timeout, e.Event)
	}
	return nil
}

func baseName(program string) string {
	return strings.TrimSuffix(program[strings.LastIndexAny(program, `/\`)+1:], ".exe")
}

// readEntry reads a hook object. It takes what has the right type and ignores
// the rest, so that a damaged entry of ours is still known as ours. What cannot be
// ours is empty.
func readEntry(event, matcher string, hookObject *hujson.Object) Entry {
	if jsonfile.StringOf(jsonfile.Member(hookObject, "type")) != "command" {
		return Entry{}
	}
	e := Entry{
		Event:   hook.Event(event),
		Matcher: matcher,
		Command: jsonfile.StringOf(jsonfile.Member(hookObject, "command")),
		Timeout: seconds(jsonfile.NumberOf(jsonfile.Member(hookObject, "timeout"))),
		Status:  jsonfile.StringOf(jsonfile.Member(hookObject, "statusMessage")),
		Spoilt:  spoilt(hookObject),
	}
	if args, ok := jsonfile.ArrayOf(jsonfile.Member(hookObject, "args")); ok {
		for i := range args.Elements {
			e.Args = append(e.Args, argument(&args.Elements[i]))
		}
		if e.Args == nil {
			return Entry{} // exec form, but no argument: not ours
		}
	}
	return e
}

// spoilt lists the keys that keep a hook from deciding anything. Measured: the
// decision of an async hook is ignored, asyncRewake puts it into the background
// of the TUI, and with an if it never runs on an event that is not about a tool.
// A value of the wrong type is listed too, so that the next install removes it. Our
// command line is for sh, so another shell does not start it.
func spoilt(hookObject *hujson.Object) (keys []string) {
	if v := jsonfile.Member(hookObject, "shell"); v != nil && jsonfile.StringOf(v) != "bash" {
		keys = append(keys, "shell")
	}
	for _, key := range []string{"async", "asyncRewake", "if", "once"} {
		if v := jsonfile.Member(hookObject, key); v != nil && jsonfile.KindOf(v) != 'f' {
			keys = append(keys, key)
		}
	}
	return keys
}

// argument of the wrong type becomes its JSON text, which differs from every
// argument we install, so that the next install puts it right.
func argument(v *hujson.Value) string {
	if jsonfile.KindOf(v) == '"' {
		return jsonfile.StringOf(v)
	}
	return hujson.Value{Value: v.Value}.String()
}
