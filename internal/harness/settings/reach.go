package settings

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// Reach is whether Claude Code calls stopgate when an agent stops, by its settings files.
type Reach struct {
	Scopes []Scope // of the files whose entries count
	Why    string  // an entry does not count, where none does
	Help   string  // the command that helps against that, where it is not to install the hooks
}

// ReachOf reads the settings files that count for a client that is started in dir. It can be asked by
// another program than the one that is called: what a bare name stands for, which depends on Claude Code's
// own PATH, is not looked up.
func ReachOf(dir string) (r Reach) {
	files := Inspect(dir)
	for _, f := range files {
		if f.Err != nil && f.Exists {
			r.Why = "Claude Code ignores " + f.Path + ": it cannot be read"
		}
		for _, e := range slices.Concat(f.Entries, f.Alike) {
			if e.Event != hook.Stop || !e.callsHook() {
				continue
			}
			if why := f.lost(files, e); why != "" {
				r.Why, r.Help = why, f.help()
			} else if !slices.Contains(r.Scopes, f.Scope) {
				r.Scopes = append(r.Scopes, f.Scope)
			}
		}
	}
	return r
}

// Where is where the entries are that count.
func (r Reach) Where() string {
	var files, places []string
	for _, scope := range r.Scopes {
		if scope != Plugin {
			files = append(files, scope.String())
		}
	}
	if len(files) > 0 {
		places = append(places, "in the "+strings.Join(files, ", ")+" settings")
	}
	if slices.Contains(r.Scopes, Plugin) {
		places = append(places, "by the plugin")
	}
	return strings.Join(places, " and ")
}

// lost is why an entry of the file does not count; "" where it does.
func (f File) lost(files []File, e Entry) string {
	program := e.Program()
	_, found := resolve(program)
	switch {
	case f.asleep():
		return f.WhyAsleep()
	case f.Dropped():
		return "Claude Code ignores " + f.Path + ", which has faults"
	case !f.Calls(files):
		by, _ := Disabled(files)
		return by.Path + " switches all hooks off"
	case len(e.Spoilt) > 0:
		return "the entry in " + f.Path + " has " + strings.Join(e.Spoilt, ", ") + ", so that its answer does not count"
	case baseName(program) != program && !found:
		return f.Path + " calls " + program + ", which is not there"
	}
	return ""
}

// help is the command against what lost says, where it is not to install the hooks.
func (f File) help() string {
	if f.asleep() {
		return f.Enable()
	}
	return ""
}
