package settings

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// EnabledPlugin is a plugin that Claude Code loads.
type EnabledPlugin struct {
	ID    string // NAME@MARKETPLACE
	By    Switch
	Hooks []Entry // as far as its folder is known
}

// EnabledPlugins are the plugins of a client that is started in dir, in the order of their ids.
func EnabledPlugins(dir string) (all []EnabledPlugin) {
	user, _ := Path(User, "") // without a home there is none
	store := readPlugins(user)
	switched := switchedBy(Inspect(dir))
	for _, id := range slices.Sorted(maps.Keys(switched)) {
		if by := switched[id]; by.On {
			all = append(all, EnabledPlugin{id, by, store.hooks(id, dir)})
		}
	}
	return all
}

// hooks are those of a plugin. What cannot be read has none, as for Claude Code.
func (s pluginStore) hooks(id, dir string) (all []Entry) {
	folder := s.folder(id, dir)
	if folder == "" {
		return nil
	}
	found, err := jsonfile.Read(filepath.Join(folder, "hooks", "hooks.json"))
	if err != nil {
		return nil
	}
	for _, p := range (document{found}).places() {
		all = append(all, p.entry)
	}
	return all
}
