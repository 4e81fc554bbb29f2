package settings

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// DefaultTimeout is the timeout that an entry gets when it is installed.
func DefaultTimeout(event hook.Event) time.Duration {
	switch event {
	case hook.Stop:
		// Gates and a review fit in; Claude Code's 600 s are short for a test suite.
		return 1200 * time.Second
	case hook.UserPromptSubmit:
		return 30 * time.Second
	case hook.SessionEnd:
		// Without a timeout of ours Claude Code gives all SessionEnd hooks 1.5 s.
		return 20 * time.Second
	case hook.SessionStart, hook.SubagentStart, hook.StopFailure, hook.Notification:
		return 60 * time.Second
	case hook.PermissionRequest:
		// A person answers an agent's question in there, who may be asleep.
		return 24 * time.Hour
	}
	return 600 * time.Second
}

// defaultTimeout is what Claude Code grants an entry without a timeout.
func defaultTimeout(event hook.Event) time.Duration {
	switch event {
	case hook.UserPromptSubmit:
		return 30 * time.Second
	case hook.SessionEnd:
		return 1500 * time.Millisecond
	}
	return 600 * time.Second
}

// Timeout is how long Claude Code waits for our entry for the event, where the entry that it
// called says --timeout carried, or 0 without one.
//
// Claude Code runs equal entries of several files once, and the timeout of the last of them
// counts: local over project over user, measured with 2.1.325. So a shorter one
// anywhere in the files that count in the roots counts, and is never exceeded. Entries with
// another command line are called besides, with a time of their own; those that do not
// resolve to this binary do not call us at all. Without any entry it is what was carried, or
// the default.
//
// It runs inside the hook: whatever is wrong with a file, that file is skipped.
func Timeout(event hook.Event, carried time.Duration, roots ...string) time.Duration {
	called := func(e Entry) bool { return e.ours() && e.Living() && e.Call().Timeout == carried }
	timeout, found := smallest(event, called, "hook", roots)
	switch {
	case found && carried > 0:
		return min(timeout, carried)
	case found:
		return timeout
	case carried > 0:
		return carried
	}
	return DefaultTimeout(event)
}

// StopHookTimeout is the same for an entry that calls the gates' own stop hook; without
// any it is what the older tool installed.
func StopHookTimeout(roots ...string) time.Duration {
	called := func(e Entry) bool { return e.callsStopHook() && e.Living() }
	if timeout, found := smallest(hook.Stop, called, "stop-hook", roots); found {
		return timeout
	}
	return 300 * time.Second
}

// SupervisorTimeout is the same for an entry that calls the supervisor, under
// whatever name; without any entry it is what Claude Code grants.
func SupervisorTimeout(dirs ...string) time.Duration {
	reviews := func(e Entry) bool {
		_, is := e.review()
		return is && e.Living()
	}
	if timeout, found := smallest(hook.Stop, reviews, SupervisorHook, dirs); found {
		return timeout
	}
	return defaultTimeout(hook.Stop)
}

// smallest looks at the wanted entries. Each of them has the word in it.
func smallest(event hook.Event, wanted func(Entry) bool, word string, roots []string) (timeout time.Duration, found bool) {
	seen := map[string]bool{}
	for _, root := range roots {
		for _, at := range inForce(root, root) {
			if seen[at.path] {
				continue
			}
			seen[at.path] = true
			for _, e := range quickly(at.path, event, wanted, word) {
				if g := granted(e); !found || g < timeout {
					timeout, found = g, true
				}
			}
		}
	}
	return timeout, found
}

// quickly reads the wanted entries for one event without a syntax tree: 0.3 ms
// for a file with all events, where the tree takes 0.8 ms.
func quickly(path string, event hook.Event, wanted func(Entry) bool, word string) (found []Entry) {
	text, err := jsonfile.ReadText(path)
	if err != nil || !bytes.Contains(text, []byte(word)) {
		return nil
	}

	var root, events map[string]json.RawMessage
	var groups []struct {
		Hooks []struct {
			Type, Command string
			Args          []string
			Timeout       float64
		}
	}

	// An error leaves what has the wrong type at zero and decodes the rest.
	_ = json.Unmarshal(bytes.TrimPrefix(text, []byte(jsonfile.ByteOrderMark)), &root)
	_ = json.Unmarshal(root["hooks"], &events)
	_ = json.Unmarshal(events[string(event)], &groups)
	for _, g := range groups {
		for _, h := range g.Hooks {
			e := Entry{Event: event, Command: h.Command, Args: h.Args, Timeout: seconds(h.Timeout)}
			if h.Type == "command" && wanted(e) {
				found = append(found, e)
			}
		}
	}
	return found
}

// Answerable is how long a person can answer what an agent asks through the entry, and
// whether that is shorter than it would be if it were installed now. Entries for other
// events have nothing to do with that.
func (e Entry) Answerable() (long time.Duration, short bool) {
	if e.Event != hook.PermissionRequest {
		return 0, false
	}
	long = granted(e)
	return long, long < DefaultTimeout(e.Event)
}

func granted(e Entry) time.Duration {
	timeout := e.Timeout
	if timeout == 0 {
		timeout = defaultTimeout(e.Event)
	}
	if e.Event == hook.SessionEnd {
		return min(timeout, 60*time.Second) // Claude Code's cap
	}
	return timeout
}

// seconds converts a timeout as the files have it; 0 when it is none.
func seconds(s float64) time.Duration {
	ns := math.Round(s * float64(time.Second))
	switch {
	case math.IsNaN(ns) || ns <= 0:
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(ns)
}
