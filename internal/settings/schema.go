package settings

import (
	"maps"

	"github.com/tailscale/hujson"
)

// What makes the client drop a file, measured with 2.1.197: a file with one
// good SessionStart hook and one defect, and whether the hook ran. Not tried, but
// taken to be the same: if, once and statusMessage in hooks other than command.
// What the client forgives is left out here:
//
//   - unknown keys everywhere, and unknown events with any value;
//   - hooks that is no object, or a known event that is no array: these are
//     ignored, and the rest of the file is in force;
//   - values in env and rules in permissions.allow, deny and ask of any type;
//   - an empty command, a timeout of 0.5 or 1e9, an unknown effortLevel;
//   - of duplicate keys all but the last; a byte order mark; CRLF; broken UTF-8.
//
// A managed file is checked for its hooks alone: there a timeout of 0 cost the
// hooks, but "model":5 did not.

func settingsFile() rule {
	return fields(map[string]rule{
		"hooks": eventLists(),

		"$schema":                    aString,
		"alwaysThinkingEnabled":      aBoolean,
		"apiKeyHelper":               aString,
		"attribution":                anObject,
		"awsAuthRefresh":             aString,
		"cleanupPeriodDays":          both(aNumber, holds("a whole number above 0", wholeDays)),
		"disableAllHooks":            aBoolean,
		"enableAllProjectMcpServers": aBoolean,
		"enabledMcpjsonServers":      anArray,
		"enabledPlugins":             anObject,
		"env":                        anObject,
		"extraKnownMarketplaces":     anObject,
		"fileSuggestion":             anObject,
		"includeCoAuthoredBy":        aBoolean,
		"language":                   aString,
		"model":                      aString,
		"outputStyle":                aString,
		"permissions":                permissionLists(),
		"respectGitignore":           aBoolean,
		"sandbox":                    anObject,
		"spinnerTipsEnabled":         aBoolean,
		"statusLine":                 statusLine(),
	})
}

func managedFile() rule { return fields(map[string]rule{"hooks": eventLists()}) }

// permissions.defaultMode has a closed list of values too, but one that grows
// with each client, so a wrong word is not reported.
func permissionLists() rule {
	return fields(map[string]rule{
		"allow":                 anArray,
		"deny":                  anArray,
		"ask":                   anArray,
		"additionalDirectories": listOf(aString),
		"defaultMode":           aString,
	})
}

func statusLine() rule {
	return fields(map[string]rule{
		"type":    oneOf("command"),
		"command": aString,
		"padding": aNumber,
	}, "type", "command")
}

func eventLists() rule {
	groups := listOf(fields(map[string]rule{
		"matcher": aString,
		"hooks":   listOf(anyHook),
	}, "hooks"))
	return each(known, func(i *inspector, v *hujson.Value, at string) {
		if _, ok := arrayOf(v); ok {
			groups(i, v, at)
		}
	})
}

// anyHook checks a hook by its type.
func anyHook(i *inspector, v *hujson.Value, at string) {
	o, _ := objectOf(v)
	hookRule(stringOf(member(o, "type")))(i, v, at)
}

func hookRule(kind string) rule {
	switch kind {
	case "command":
		return hookOfType(map[string]rule{
			"command":     aString,
			"args":        listOf(aString),
			"shell":       oneOf("bash", "powershell"),
			"async":       aBoolean,
			"asyncRewake": aBoolean,
		}, "command")
	case "http":
		return hookOfType(map[string]rule{
			"url":            both(aString, holds("a URL", address)),
			"headers":        both(anObject, each(anyName, aString)),
			"allowedEnvVars": listOf(aString),
		}, "url")
	case "prompt", "agent":
		return hookOfType(map[string]rule{"prompt": aString, "model": aString}, "prompt")
	case "mcp_tool":
		return hookOfType(map[string]rule{"server": aString, "tool": aString, "input": anObject}, "server", "tool")
	}
	return fields(map[string]rule{"type": oneOf("command", "http", "prompt", "agent", "mcp_tool")}, "type")
}

func hookOfType(own map[string]rule, required ...string) rule {
	all := map[string]rule{
		"timeout":       both(aNumber, holds("above 0", positive)),
		"if":            aString,
		"once":          aBoolean,
		"statusMessage": aString,
	}
	maps.Copy(all, own)
	return fields(all, required...)
}

func anyName(string) bool { return true }
