package launch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// load reads ccc.json. Where there is none, it offers to make one.
func (l *launch) load() (*Config, error) {
	path := filepath.Join(l.dir, ConfigFile)
	c, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	if made, failed := l.offer(path); failed != nil || !made {
		return nil, cmp.Or(failed, err)
	}
	return Load(path)
}

// offer makes ccc.json from Claude Code's settings, if there are any and a person
// agrees.
func (l *launch) offer(path string) (made bool, err error) {
	from := readSettingsFile(l.settings)
	if from.members == nil || l.Ask == nil {
		return false, nil
	}
	yes, err := l.Ask(fmt.Sprintf("Create %s from %s? [y/N] ", path, l.settings))
	if err != nil || !yes {
		return false, err
	}
	return true, initial(path, from.members)
}

// initial writes the first ccc.json, unless somebody else just did. Hooks stay where
// they are: in two places they would be two.
func initial(path string, from Object) error {
	_, err := jsonfile.Edit(path, func(d *jsonfile.Document) error {
		var there Object
		if err := d.Decode(&there); err != nil || len(there) > 0 {
			return err
		}
		d.Set("settings", from.without("env").without("hooks"))
		d.Set("providers", map[string]any{"default": map[string]any{"env": literals(from["env"])}})
		d.Set("current_provider", "default")
		return nil
	})
	return err
}

// literals are the variables of a settings file as ccc.json writes them.
func literals(env json.RawMessage) map[string]any {
	variables, _ := objectIn(env)
	all := map[string]any{}
	for name, value := range variables {
		text, ok := scalarIn(value)
		switch {
		case !ok: // Claude Code forgives it; it sets nothing
		case !forProvider(name): // it stays where it is
		case value[0] == '"':
			all[name] = literal(text)
		default:
			all[name] = value
		}
	}
	return all
}

// minimal shows the smallest ccc.json that works.
func minimal(path string) string {
	return fmt.Sprintf(`write %s, for example:
{
  "providers": {
    "claude": {},
    "NAME": {"env": {"ANTHROPIC_BASE_URL": "https://…", "ANTHROPIC_AUTH_TOKEN": "$NAME_TOKEN"}}
  }
}
A provider that sets nothing uses the login of Claude Code.`, path)
}
