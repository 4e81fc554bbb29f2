package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// File is what one settings file means for our hooks.
type File struct {
	Scope  Scope
	Path   string
	Exists bool
	Err    error            // it cannot be read or is no JSON; Claude Code ignores it silently
	Faults []jsonfile.Fault // wrong types; Claude Code ignores the whole file, as silently

	DisableAllHooks  *bool             // nil: not set
	ManagedHooksOnly bool              // only read from managed files
	Entries          []Entry           // ours
	Supervisor       []Entry           // those of ours that call the supervisor
	StopHook         []Entry           // those among the others that call the gates' own stop hook
	Foreign          int               // how many hooks of others there are
	Alike            []Entry           // those among them that seem to call us
	Env              map[string]string // what the file puts into the environment of hooks

	Plugin    string          // whose hooks these are; empty for a settings file
	By        Switch          // what decides whether Claude Code loads the plugin; zero: no file says anything
	installed installedPlugin // how Claude Code installed the plugin
	plugins   map[string]bool // which the file enables or disables
}

// Dropped reports whether Claude Code ignores the hooks of the file.
func (f File) Dropped() bool { return f.Err != nil || len(f.Faults) > 0 }

// Inspect looks at every settings file that counts in the project, in the
// client's order: user, project, local, managed. A root of "" leaves out the
// project's. Files that do not exist are listed too. Plugins that call us come last, also
// those that are not enabled.
func Inspect(root string) []File { return InspectFrom(root, root) }

// InspectFrom looks at the files that count for a client that was started in dir
// and takes the person's own settings in this project from localRoot as well.
func InspectFrom(dir, localRoot string) []File {
	user, _ := Path(User, "") // none without a home
	return inspectFor(user, dir, localRoot)
}

// inspectFor looks at the files and the plugins of the person with the settings file user.
func inspectFor(user, dir, localRoot string) []File {
	files := inspectAll(inForceFor(user, dir, localRoot))
	return append(files, inspectPlugins(user, dir, files)...)
}

func inspectAll(locations []location) (all []File) {
	for _, at := range locations {
		all = append(all, inspect(at))
	}
	return all
}

func inspect(at location) File {
	f := File{Scope: at.scope, Path: at.path}
	found, err := jsonfile.Read(at.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f // a link to nothing too: Claude Code takes it for a missing file
	}
	f.Exists = true
	if err != nil {
		f.Err = err
		return f
	}

	d := document{found}
	if f.Err = d.NeedObject(); f.Err != nil {
		return f
	}

	root, _ := d.Object()
	f.Faults = d.faults(at.scope)
	f.list(d.places())
	if at.scope == Plugin {
		return f // Claude Code reads nothing else of it
	}

	f.plugins = switches(jsonfile.Member(root, "enabledPlugins"))
	f.Env = environment(jsonfile.Member(root, "env"))
	switch jsonfile.KindOf(jsonfile.Member(root, "disableAllHooks")) {
	case 't':
		f.DisableAllHooks = new(true)
	case 'f':
		f.DisableAllHooks = new(false)
	}
	f.ManagedHooksOnly = at.scope == Managed && jsonfile.KindOf(jsonfile.Member(root, "allowManagedHooksOnly")) == 't'
	return f
}

func (f *File) list(places []place) {
	for _, p := range places {
		switch e := p.entry; {
		case e.ours():
			f.Entries = append(f.Entries, e)
		case e.CallsSupervisor():
			f.Supervisor = append(f.Supervisor, e)
		case e.callsStopHook():
			f.StopHook = append(f.StopHook, e)
			f.Foreign++
		case e.alike():
			f.Alike = append(f.Alike, e)
			f.Foreign++
		default:
			f.Foreign++
		}
	}
}

// LocalFromMain is the first client that also takes settings.local.json from the top of the
// repository's main worktree, wherever in the repository it was started. Measured: 2.1.210 reads
// the settings of the directory it was started in and no others. 2.1.211 and 2.1.325 read those and,
// over them, settings.local.json at that top: a linked worktree's own top counts only if they were
// started there.
const LocalFromMain = "2.1.211"

// Unread is a settings file of the project that holds our hooks and that clients do not read when
// they are started in a directory.
type Unread struct {
	path, dir, root string
	newer           bool // those from LocalFromMain on do
	elsewhere       bool // it is in another worktree
}

// OutOfReach is such a file for a client that is started in dir, in the project at root: dir is below
// the root, or in a worktree that has not got the file.
func OutOfReach(dir, root string) (u Unread, found bool) {
	top, inRepository := paths.MainWorktree(dir)
	if dir != root {
		if path, local := installedIn(root); path != "" {
			return Unread{path: path, dir: dir, root: root, newer: local && inRepository && samePlace(root, top)}, true
		}
	}
	_, within, _ := paths.Repository(root)
	other := filepath.Join(top, filepath.FromSlash(within))
	if !inRepository || samePlace(other, root) {
		return Unread{}, false
	}
	path, local := installedIn(other)
	return Unread{path: path, dir: dir, newer: local && within == ".", elsewhere: true}, path != ""
}

// installedIn is the settings file at a root that holds our hooks, or enables a plugin with them; empty where
// there is none.
func installedIn(root string) (path string, local bool) {
	for _, f := range Inspect(root) {
		if f.Plugin != "" && f.By.On {
			f.Scope, f.Path = f.By.Scope, f.By.Path // what brings the plugin here
		}
		if (f.Scope == Project || f.Scope == Local) && len(f.Entries) > 0 {
			return f.Path, f.Scope == Local
		}
	}
	return "", false
}

func samePlace(a, b string) bool { return paths.Canonical(a) == paths.Canonical(b) }

func (u Unread) String() string {
	if u.newer {
		return fmt.Sprintf("only Claude Code %s and newer reads %s when it is started in %s", LocalFromMain, u.path, u.dir)
	}
	return fmt.Sprintf("Claude Code does not read %[2]s when it is started in %[1]s", u.dir, u.path)
}

// Then is what follows from that.
func (u Unread) Then() string {
	if u.newer {
		return "with older versions nothing is enforced"
	}
	return "nothing is enforced"
}

// Hint is what helps.
func (u Unread) Hint() string {
	if u.elsewhere {
		return "stopgate hooks install; or for all worktrees: stopgate hooks install --user"
	}
	return fmt.Sprintf("start it in %s, or: stopgate hooks install --user", u.root)
}

// environment takes the strings: Claude Code forgives other values.
func environment(v *hujson.Value) map[string]string {
	env := map[string]string{}
	o, _ := jsonfile.ObjectOf(v)
	for name, value := range jsonfile.Members(o) {
		if jsonfile.KindOf(value) == '"' {
			env[name] = jsonfile.StringOf(value)
		}
	}
	return env
}

// Environment is what the files add to the environment of hooks. Measured with
// 2.1.197: local beats project beats user, and PATH there finds the hook's program;
// that managed files beat local is an assumption.
func Environment(files []File) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		if f.counts() {
			maps.Copy(all, f.Env)
		}
	}
	return all
}

// counts reports whether what the file says beside its hooks is in force: of a
// managed file with faults only the hooks are lost.
func (f File) counts() bool { return f.Err == nil && (!f.Dropped() || f.Scope == Managed) }

// InForce lists our entries that Claude Code really calls. One whose program is gone is not
// among them.
func InForce(files []File) []Entry {
	var out []Entry
	for _, f := range files {
		if !f.Calls(files) {
			continue
		}
		for _, e := range f.Entries {
			if e.Living() {
				out = append(out, e)
			}
		}
	}
	return out
}

// Unified reports whether Claude Code really calls "stopgate hook" for Stop and
// waits for its answer, by the files that count for a client that was started in
// one of the directories, and by one that it was given besides, where its path is not
// empty.
func Unified(file string, dirs ...string) bool {
	for _, dir := range dirs {
		files := Inspect(dir)
		if file != "" {
			files = append(files, inspect(location{Local, file})) // switched off by what switches those off
		}
		for _, e := range InForce(files) {
			if e.Event == hook.Stop && len(e.Spoilt) == 0 {
				return true
			}
		}
	}
	return false
}

// Calls reports whether Claude Code calls our entries in the file, which is one
// of files.
func (f File) Calls(files []File) bool {
	if f.Dropped() || f.asleep() {
		return false
	}
	by, disabled := Disabled(files)
	if f.Scope == Managed {
		return !disabled || by.Scope != Managed || by.ManagedHooksOnly
	}
	return !disabled
}

// Disabled reports whether the files switch off the hooks of user, project and
// local files, and names the file that does.
//
// Measured with 2.1.197: of disableAllHooks the last file that sets it counts,
// so a local false undoes a user's true, and a managed one beats all; it spares
// managed hooks unless a managed file has it. allowManagedHooksOnly counts in
// managed files alone.
func Disabled(files []File) (by File, disabled bool) {
	for _, f := range files {
		if f.counts() && f.DisableAllHooks != nil {
			by, disabled = f, *f.DisableAllHooks
		}
	}
	for _, f := range files {
		if f.ManagedHooksOnly {
			return f, true
		}
	}
	if !disabled {
		return File{}, false
	}
	return by, true
}
