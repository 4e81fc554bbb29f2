package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// A plugin of Claude Code brings hooks too. The folder plugin of our repository is one, with the entries that
// Plan has for a shared file. Measured with 2.1.197:
//
//   - of enabledPlugins the last file that counts and has true, false or an array for the plugin decides, and
//     only true enables it; other values are passed over;
//   - that the plugin is installed, and for which project, does not matter, but its marketplace must be known;
//   - from a marketplace that is a directory the plugin is loaded where it lies there, from others as it was
//     copied when it was installed;
//   - disableAllHooks switches its hooks off;
//   - an entry of a plugin and an equal one of a settings file are both called.

// Switch is what a settings file says of a plugin.
type Switch struct {
	Scope Scope  // of the file
	Path  string // of the file
	On    bool
}

// switches are the plugins that a settings file enables or disables.
func switches(v *hujson.Value) map[string]bool {
	all := map[string]bool{}
	o, _ := jsonfile.ObjectOf(v)
	for id, value := range jsonfile.Members(o) {
		switch jsonfile.KindOf(value) {
		case 't', 'f', '[':
			all[id] = jsonfile.KindOf(value) == 't'
		}
	}
	return all
}

// pluginStore is what Claude Code has written down about plugins.
type pluginStore struct {
	installed map[string][]installedPlugin
	markets   map[string]marketplace
}

type installedPlugin struct {
	Scope       string `json:"scope"`
	InstallPath string `json:"installPath"`
	ProjectPath string `json:"projectPath"` // empty for the user's
}

type marketplace struct {
	Source struct {
		Source string `json:"source"`
	} `json:"source"`
	Location string `json:"installLocation"`
}

// readPlugins reads what lies beside the user's settings file. What cannot be read Claude Code takes for
// empty.
func readPlugins(user string) (s pluginStore) {
	if user == "" {
		return s
	}
	dir := filepath.Join(filepath.Dir(user), "plugins")
	var installed struct {
		Plugins map[string][]installedPlugin `json:"plugins"`
	}
	decode(filepath.Join(dir, "installed_plugins.json"), &installed)
	decode(filepath.Join(dir, "known_marketplaces.json"), &s.markets)
	s.installed = installed.Plugins
	return s
}

// IsOurPlugin reports whether a folder is that of our plugin. The variable that names the folder of a plugin
// is also there for hooks of a client that another plugin has started.
func IsOurPlugin(folder string) bool {
	var manifest struct {
		Name string `json:"name"`
	}
	if folder != "" {
		decode(filepath.Join(folder, ".claude-plugin", "plugin.json"), &manifest)
	}
	return manifest.Name == Program
}

func decode(path string, into any) {
	if text, err := jsonfile.ReadText(path); err == nil {
		_ = json.Unmarshal(text, into) // what has another type stays empty
	}
}

// inspectPlugins looks at the plugins that call us, for a client that is started in dir and reads files.
func inspectPlugins(user, dir string, files []File) (all []File) {
	store, decided := readPlugins(user), switchedBy(files)
	ids := slices.Collect(maps.Keys(store.installed))
	for id := range decided {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		by, said := decided[id]
		if !said && !store.installedFor(id, dir) {
			continue // it is another project's
		}
		if f, found := store.inspect(id, dir); found {
			f.By = by
			all = append(all, f)
		}
	}
	return all
}

// switchedBy is for each plugin the file that decides about it.
func switchedBy(files []File) map[string]Switch {
	decided := map[string]Switch{}
	for _, f := range files {
		for id, on := range f.plugins {
			if f.counts() {
				decided[id] = Switch{f.Scope, f.Path, on}
			}
		}
	}
	return decided
}

// installedFor reports whether a plugin is the user's, or was installed for a project.
func (s pluginStore) installedFor(id, dir string) bool {
	p := s.record(id, dir)
	return p.InstallPath != "" && (p.ProjectPath == "" || p.isFor(dir))
}

// record is what was installed of a plugin: for this project, else for the user or for another one.
func (s pluginStore) record(id, dir string) (found installedPlugin) {
	for _, p := range s.installed[id] {
		if found.InstallPath == "" || p.isFor(dir) || found.ProjectPath != "" && p.ProjectPath == "" && !found.isFor(dir) {
			found = p
		}
	}
	return found
}

func (p installedPlugin) isFor(dir string) bool {
	return p.ProjectPath != "" && dir != "" && samePlace(p.ProjectPath, dir)
}

// inspect looks at the hooks of a plugin; it is found where one of them may call us.
func (s pluginStore) inspect(id, dir string) (f File, found bool) {
	folder := s.folder(id, dir)
	if folder == "" {
		return File{}, false
	}
	f = inspect(location{Plugin, filepath.Join(folder, "hooks", "hooks.json")})
	f.Plugin, f.installed = id, s.record(id, dir)
	for i := range f.Entries {
		f.Entries[i].Plugin = id
	}
	return f, len(f.Entries)+len(f.Supervisor)+len(f.StopHook)+len(f.Alike) > 0
}

// folder is what Claude Code loads the plugin from; empty where it loads nothing.
func (s pluginStore) folder(id, dir string) string {
	name, market, _ := strings.Cut(id, "@")
	at, known := s.markets[market]
	if !known {
		return ""
	}
	if at.Source.Source == "directory" {
		return at.folder(name)
	}
	return s.record(id, dir).InstallPath
}

// folder is where a plugin lies in a marketplace.
func (m marketplace) folder(name string) string {
	var list struct {
		Plugins []struct {
			Name   string          `json:"name"`
			Source json.RawMessage `json:"source"`
		} `json:"plugins"`
	}
	decode(filepath.Join(m.Location, ".claude-plugin", "marketplace.json"), &list)
	for _, p := range list.Plugins {
		var source string
		if p.Name == name && json.Unmarshal(p.Source, &source) == nil {
			return filepath.Join(m.Location, filepath.FromSlash(source))
		}
	}
	return ""
}

// CallingPlugin is the plugin that calls this stopgate, if one does.
func CallingPlugin(files []File) (plugin File, found bool) {
	for _, f := range files {
		if f.Plugin != "" && f.Calls(files) && slices.ContainsFunc(f.Entries, Entry.Living) {
			return f, true
		}
	}
	return File{}, false
}

// InstallCommand is the command that installs the hooks as a project needs them. A plugin has the same hooks in all
// projects, and none are installed beside it.
func InstallCommand(files []File) string {
	const install = "stopgate hooks install"
	if plugin, found := CallingPlugin(files); found {
		return plugin.Disable() + " && " + install
	}
	return install
}

// Asleep is a plugin of ours that is there and not enabled, if one is.
func Asleep(files []File) (f File, found bool) {
	i := slices.IndexFunc(files, func(f File) bool { return f.asleep() && len(f.Entries)+len(f.Alike) > 0 })
	if i < 0 {
		return File{}, false
	}
	return files[i], true
}

// asleep reports whether the file is that of a plugin which Claude Code does not load.
func (f File) asleep() bool { return f.Scope == Plugin && !f.By.On }

// WhyAsleep is what keeps Claude Code from loading the plugin.
func (f File) WhyAsleep() string {
	if f.By.Path == "" {
		return fmt.Sprintf("the plugin %s is installed, but not enabled", f.Plugin)
	}
	return fmt.Sprintf("the plugin %s is disabled in %s", f.Plugin, f.By.Path)
}

// Enable is the command that has Claude Code load the plugin.
func (f File) Enable() string {
	return "claude plugin enable " + ShellCommand(f.Plugin) + scopeFlag(f.By.Scope.String())
}

// Disable is the command that has Claude Code not load the plugin in one project.
func (f File) Disable() string {
	return "claude plugin disable " + ShellCommand(f.Plugin) + scopeFlag(Local.String())
}

// Remove is the command that removes the plugin, from whatever directory.
func (f File) Remove() string {
	command := "claude plugin uninstall " + ShellCommand(f.Plugin) + scopeFlag(f.installed.Scope)
	if f.installed.ProjectPath != "" {
		return "cd " + ShellCommand(f.installed.ProjectPath) + " && " + command
	}
	return command
}

// RemoveMarket is the command that removes the marketplace that the plugin came from.
func (f File) RemoveMarket() string {
	_, market, _ := strings.Cut(f.Plugin, "@")
	return "claude plugin marketplace remove " + ShellCommand(market)
}

// Renew is the command that brings the entries of the file to what this stopgate installs.
func (f File) Renew() string {
	switch f.Scope {
	case Plugin:
		return "claude plugin update " + ShellCommand(f.Plugin) + scopeFlag(f.installed.Scope)
	case Managed:
		return "ask your administrator to update " + f.Path
	}
	return "stopgate hooks install --" + f.Scope.String()
}

// scopeFlag names a scope for Claude Code, whose default is the user's.
func scopeFlag(scope string) string {
	if scope == "" || scope == User.String() {
		return ""
	}
	return " --scope " + scope
}
