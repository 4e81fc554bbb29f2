package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// UserEnvironment is what settings that no project can write put into the environment of the
// client: the user's in Claude Code's directory, and the administrator's.
func UserEnvironment(dir string) map[string]string {
	return Environment(inspectAll(inForceFor(userFile(dir), "", "")))
}

// userFile is the path of the user's settings in Claude Code's directory; empty where that is not known.
func userFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "settings.json")
}

// ProjectVariables names what the settings in a directory put into the environment of a
// client that takes them for the project's. known is false where a file cannot be read or
// decoded: Claude Code may decode more than we do, and may have read the file when it was whole.
//
// Every hook call asks, so there is no syntax tree.
func ProjectVariables(dir string) (names []string, known bool) {
	known = true
	for _, scope := range []Scope{Project, Local} {
		path, err := Path(scope, dir)
		if err != nil {
			continue // without a project there are none
		}
		more, err := variablesIn(path)
		names = append(names, more...)
		known = known && err == nil
	}
	return names, known
}

// variablesIn names the variables that a settings file sets. Their values may be of any type:
// Claude Code makes strings of them.
func variablesIn(path string) ([]string, error) {
	text, err := jsonfile.ReadText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte(jsonfile.ByteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	var root, env map[string]json.RawMessage
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	if len(root["env"]) > 0 {
		_ = json.Unmarshal(root["env"], &env) // anything but an object sets nothing
	}
	return slices.Collect(maps.Keys(env)), nil
}
