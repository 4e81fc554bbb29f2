package launch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// settingsFile is what one of Claude Code's settings files says.
type settingsFile struct {
	path    string
	text    []byte
	members Object // nil: there is none, or Claude Code drops it
}

// settingsFiles are those in force for Claude Code when it is started in dir with the
// person's own file at user, in Claude Code's order. Newer clients also take a local file
// from the top of the main worktree.
func settingsFiles(user, dir string) []settingsFile {
	all := []string{user}
	add := func(scope settings.Scope, root string) {
		if path, err := settings.Path(scope, root); err == nil && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	add(settings.Project, dir)
	add(settings.Local, dir)
	if root, ok := paths.MainWorktree(dir); ok {
		add(settings.Local, root)
	}
	add(settings.Managed, "")
	var files []settingsFile
	for _, path := range all {
		files = append(files, readSettingsFile(path))
	}
	return files
}

// readSettingsFile does not mind what is wrong with a file: Claude Code does not either.
func readSettingsFile(path string) settingsFile {
	f := settingsFile{path: path}
	f.text, _ = jsonfile.ReadText(path)
	f.members, _ = objectIn(bytes.TrimPrefix(f.text, []byte(jsonfile.ByteOrderMark)))
	return f
}

// fault is why Claude Code drops a file that is no JSON object.
func (f settingsFile) fault() error {
	if f.members != nil || len(f.text) == 0 {
		return nil
	}
	d, err := jsonfile.Parse(f.path, f.text)
	if err != nil {
		return err
	}
	return d.NeedObject()
}

// hooksDisabled names the file that switches all hooks off; "" if none does. The
// last one that says anything counts.
func hooksDisabled(files []settingsFile) string {
	by := ""
	for _, f := range files {
		switch string(f.members["disableAllHooks"]) {
		case "true":
			by = f.path
		case "false":
			by = ""
		}
	}
	return by
}

// shadows lists the variables in a settings file that would take the place of the
// provider's: Claude Code puts those of its files before those of its process. One of
// the same value shadows nothing.
func (f settingsFile) shadows(provider map[string]string) []string {
	env, _ := objectIn(f.members["env"])
	shadow := shadowing(provider)
	var names []string
	for _, name := range sorted(env) {
		text, ok := scalarIn(env[name])
		value, ours := provider[name]
		if ok && !(ours && text == value) && (ours || shadow(name)) {
			names = append(names, name)
		}
	}
	return names
}

// checkShadows refuses a launch in which Claude Code would not get what the provider
// sets. It names the variables and never their values.
func checkShadows(files []settingsFile, c *Config, name string, provider map[string]string) error {
	var lines []string
	for _, f := range files {
		if names := f.shadows(provider); len(names) > 0 {
			lines = append(lines, fmt.Sprintf("env in %s would override what provider %s sets: %s", f.path, Shown(name), strings.Join(names, ", ")))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return ConfigError{
		errors.New(strings.Join(lines, "\n")),
		fmt.Sprintf("remove them there, or move them to providers.%s.env in %s", Shown(name), c.Path),
	}
}
