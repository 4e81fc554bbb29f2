package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/hook"
)

// Entry is one hook entry of ours. With Args the client starts Command without
// a shell; without, it is a shell's command line.
type Entry struct {
	Event   hook.Event
	Matcher string // "" matches everything
	Command string
	Args    []string
	Timeout time.Duration // 0: the file says nothing
}

func (e Entry) equal(f Entry) bool {
	return e.Event == f.Event && e.Matcher == f.Matcher && e.Command == f.Command &&
		slices.Equal(e.Args, f.Args) && e.Timeout == f.Timeout
}

// ours tells our entries from everybody else's.
func (e Entry) ours() bool {
	if len(e.Args) > 0 {
		return isStopgate(e.Command) && e.Args[0] == "hook"
	}
	program, rest := firstWord(e.Command)
	words := strings.Fields(rest)
	return isStopgate(program) && len(words) > 0 && words[0] == "hook"
}

// valid refuses an entry that we would not recognise as ours afterwards, or
// that would make the client drop the file.
func (e Entry) valid() error {
	switch {
	case !e.Event.Known():
		return fmt.Errorf("the client has no event %q", e.Event)
	case !e.ours():
		return fmt.Errorf("not a stopgate hook command: %q %q", e.Command, e.Args)
	case e.Timeout < 0:
		return fmt.Errorf("timeout %v of %s is negative", e.Timeout, e.Event)
	}
	return nil
}

func isStopgate(program string) bool {
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.TrimSuffix(base, ".exe") == "stopgate"
}

// firstWord splits a command line after its first word, which may be quoted.
func firstWord(line string) (word, rest string) {
	line = strings.TrimSpace(line)
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		if end := strings.IndexByte(line[1:], line[0]); end >= 0 {
			return line[1 : 1+end], line[end+2:]
		}
	}
	if end := strings.IndexAny(line, " \t\n"); end >= 0 {
		return line[:end], line[end:]
	}
	return line, ""
}

// readEntry reads a hook object. It takes what has the right type and ignores
// the rest, so that a damaged entry of ours is still known as ours.
func readEntry(event, matcher string, hookObject *hujson.Object) (Entry, bool) {
	if stringOf(member(hookObject, "type")) != "command" {
		return Entry{}, false
	}
	e := Entry{
		Event:   hook.Event(event),
		Matcher: matcher,
		Command: stringOf(member(hookObject, "command")),
		Timeout: seconds(numberOf(member(hookObject, "timeout"))),
	}
	if args, ok := arrayOf(member(hookObject, "args")); ok {
		for i := range args.Elements {
			e.Args = append(e.Args, argument(&args.Elements[i]))
		}
		if e.Args == nil {
			return Entry{}, false // exec form, but no argument: not ours
		}
	}
	return e, e.ours()
}

// argument of the wrong type becomes its JSON text, which differs from every
// argument we install, so that the next install puts it right.
func argument(v *hujson.Value) string {
	if kindOf(v) == '"' {
		return stringOf(v)
	}
	return hujson.Value{Value: v.Value}.String()
}
