package launch

import (
	"runtime"
	"slices"
	"strings"
)

// environment is a list of variables, each of them once.
type environment struct {
	entries []string
	at      map[string]int // by key
}

// newEnvironment takes the last entry of each variable, as a child would.
func newEnvironment(entries []string) *environment {
	e := &environment{at: map[string]int{}}
	for _, entry := range entries {
		e.put(nameOf(entry), entry)
	}
	return e
}

func (e *environment) set(name, value string) { e.put(name, name+"="+value) }

func (e *environment) put(name, entry string) {
	if i, ok := e.at[key(name)]; ok {
		e.entries[i] = entry
		return
	}
	e.at[key(name)] = len(e.entries)
	e.entries = append(e.entries, entry)
}

func (e *environment) remove(unwanted func(name string) bool) {
	kept := slices.DeleteFunc(e.entries, func(entry string) bool { return unwanted(key(nameOf(entry))) })
	*e = *newEnvironment(kept)
}

// nameOf is the variable of an entry. Windows keeps entries whose name begins with
// an equals sign.
func nameOf(entry string) string {
	if i := strings.IndexByte(entry[min(1, len(entry)):], '='); i >= 0 {
		return entry[:i+1]
	}
	return entry
}

// key is what tells two variables apart.
func key(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// selects reports whether a variable chooses Claude Code's endpoint, key or model:
// one that is left over would send a provider's key to another's endpoint. The
// names are those of Claude Code 2.1.197.
func selects(name string) bool {
	switch name {
	case "CLAUDE_CODE_USE_POWERSHELL_TOOL", "CLAUDE_CODE_USE_NATIVE_FILE_SEARCH", "CLAUDE_CODE_USE_COWORK_PLUGINS":
		return false // switches of another kind
	case "CLAUDE_API_KEY", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", "CLAUDE_CODE_API_BASE_URL", "CLAUDE_CODE_SUBAGENT_MODEL",
		"CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
		"CLAUDE_CODE_HOST_AUTH_ENV_VAR", "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST":
		return true
	}
	return strings.HasPrefix(name, "ANTHROPIC_") ||
		strings.HasPrefix(name, "CLAUDE_CODE_USE_") ||
		strings.HasPrefix(name, "CLAUDE_CODE_OAUTH_TOKEN") ||
		strings.HasPrefix(name, "CLAUDE_CODE_SKIP_") && strings.HasSuffix(name, "_AUTH")
}

// aboutModel reports whether a variable that selects says which model, and not where
// it is or who asks.
func aboutModel(name string) bool { return strings.Contains(name, "MODEL") }

// shadowing tells which variables would shadow those of a provider. One that chooses
// endpoint or key inherits nothing of the kind; one that only chooses models inherits
// no others; one that chooses nothing uses Claude Code's own login.
func shadowing(provider map[string]string) func(name string) bool {
	models, more := false, false
	for name := range provider {
		if selects(key(name)) {
			models = true
			more = more || !aboutModel(key(name))
		}
	}
	return func(name string) bool { return models && selects(name) && (more || aboutModel(name)) }
}

// overlay puts the provider's variables in force, and takes out those that would
// shadow them.
func (e *environment) overlay(provider map[string]string) {
	e.remove(shadowing(provider))
	for _, name := range sorted(provider) {
		e.set(name, provider[name])
	}
}

func (e *environment) lookup(name string) (value string, found bool) {
	i, found := e.at[key(name)]
	if !found {
		return "", false
	}
	return e.entries[i][min(len(nameOf(e.entries[i]))+1, len(e.entries[i])):], true
}
