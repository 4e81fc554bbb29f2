package settings

import (
	"maps"
	"path/filepath"
	"slices"
)

// UserEnvironment is what the user's settings in the client's directory put into the
// environment of the client.
func UserEnvironment(dir string) map[string]string {
	if dir == "" {
		return nil
	}
	return Environment([]File{inspect(location{User, filepath.Join(dir, "settings.json")})})
}

// ProjectVariables names what the settings in a directory put into the environment of a
// client that takes them for the project's. A file that the client drops may have been whole
// when the client read it: its variables count.
func ProjectVariables(dir string) []string {
	if dir == "" {
		return nil
	}
	var names []string
	for _, scope := range []Scope{Project, Local} {
		if path, err := Path(scope, dir); err == nil {
			names = slices.AppendSeq(names, maps.Keys(inspect(location{scope, path}).Env))
		}
	}
	return names
}
