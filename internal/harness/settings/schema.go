package settings

import (
	"maps"
	"math"
	"net/url"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// What makes Claude Code drop a file, measured with 2.1.197: a file with one
// good SessionStart hook and one defect, and whether the hook ran. Not tried, but
// taken to be the same: if, once and statusMessage in hooks other than command.
// What Claude Code forgives is left out here:
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

// faults lists what Claude Code drops the file for.
func (d document) faults(scope Scope) []jsonfile.Fault {
	if scope == Managed || scope == Plugin {
		return d.Check(managedFile())
	}
	return d.Check(settingsFile())
}

func settingsFile() jsonfile.Rule {
	return jsonfile.Fields(map[string]jsonfile.Rule{
		"hooks": eventLists(),

		"$schema":                    jsonfile.String,
		"alwaysThinkingEnabled":      jsonfile.Boolean,
		"apiKeyHelper":               jsonfile.String,
		"attribution":                jsonfile.Object,
		"awsAuthRefresh":             jsonfile.String,
		"cleanupPeriodDays":          jsonfile.Both(jsonfile.Number, jsonfile.Holds("a whole number above 0", wholeDays)),
		"disableAllHooks":            jsonfile.Boolean,
		"enableAllProjectMcpServers": jsonfile.Boolean,
		"enabledMcpjsonServers":      jsonfile.Array,
		"enabledPlugins":             jsonfile.Object,
		"env":                        jsonfile.Object,
		"extraKnownMarketplaces":     jsonfile.Object,
		"fileSuggestion":             jsonfile.Object,
		"includeCoAuthoredBy":        jsonfile.Boolean,
		"language":                   jsonfile.String,
		"model":                      jsonfile.String,
		"outputStyle":                jsonfile.String,
		"permissions":                permissionLists(),
		"respectGitignore":           jsonfile.Boolean,
		"sandbox":                    jsonfile.Object,
		"spinnerTipsEnabled":         jsonfile.Boolean,
		"statusLine":                 statusLine(),
	})
}

func managedFile() jsonfile.Rule {
	return jsonfile.Fields(map[string]jsonfile.Rule{"hooks": eventLists()})
}

// permissions.defaultMode has a closed list of values too, but one that grows
// with each client, so a wrong word is not reported.
func permissionLists() jsonfile.Rule {
	return jsonfile.Fields(map[string]jsonfile.Rule{
		"allow":                 jsonfile.Array,
		"deny":                  jsonfile.Array,
		"ask":                   jsonfile.Array,
		"additionalDirectories": jsonfile.ListOf(jsonfile.String),
		"defaultMode":           jsonfile.String,
	})
}

func statusLine() jsonfile.Rule {
	return jsonfile.Fields(map[string]jsonfile.Rule{
		"type":    jsonfile.OneOf("command"),
		"command": jsonfile.String,
		"padding": jsonfile.Number,
	}, "type", "command")
}

func eventLists() jsonfile.Rule {
	groups := jsonfile.ListOf(jsonfile.Fields(map[string]jsonfile.Rule{
		"matcher": jsonfile.String,
		"hooks":   jsonfile.ListOf(anyHook),
	}, "hooks"))
	return jsonfile.Each(known, func(c *jsonfile.Checker, v *hujson.Value, at string) {
		if _, ok := jsonfile.ArrayOf(v); ok {
			groups(c, v, at)
		}
	})
}

// anyHook checks a hook by its type.
func anyHook(c *jsonfile.Checker, v *hujson.Value, at string) {
	o, _ := jsonfile.ObjectOf(v)
	hookRule(jsonfile.StringOf(jsonfile.Member(o, "type")))(c, v, at)
}

func hookRule(kind string) jsonfile.Rule {
	switch kind {
	case "command":
		return hookOfType(map[string]jsonfile.Rule{
			"command":     jsonfile.String,
			"args":        jsonfile.ListOf(jsonfile.String),
			"shell":       jsonfile.OneOf("bash", "powershell"),
			"async":       jsonfile.Boolean,
			"asyncRewake": jsonfile.Boolean,
		}, "command")
	case "http":
		return hookOfType(map[string]jsonfile.Rule{
			"url":            jsonfile.Both(jsonfile.String, jsonfile.Holds("a URL", address)),
			"headers":        jsonfile.EachMember(jsonfile.String),
			"allowedEnvVars": jsonfile.ListOf(jsonfile.String),
		}, "url")
	case "prompt", "agent":
		return hookOfType(map[string]jsonfile.Rule{"prompt": jsonfile.String, "model": jsonfile.String}, "prompt")
	case "mcp_tool":
		return hookOfType(map[string]jsonfile.Rule{"server": jsonfile.String, "tool": jsonfile.String, "input": jsonfile.Object}, "server", "tool")
	}
	return jsonfile.Fields(map[string]jsonfile.Rule{"type": jsonfile.OneOf("command", "http", "prompt", "agent", "mcp_tool")}, "type")
}

func hookOfType(own map[string]jsonfile.Rule, required ...string) jsonfile.Rule {
	all := map[string]jsonfile.Rule{
		"timeout":       jsonfile.Both(jsonfile.Number, jsonfile.Holds("above 0", positive)),
		"if":            jsonfile.String,
		"once":          jsonfile.Boolean,
		"statusMessage": jsonfile.String,
	}
	maps.Copy(all, own)
	return jsonfile.Fields(all, required...)
}

func positive(v *hujson.Value) bool {
	n := jsonfile.NumberOf(v)
	return n > 0 && n <= math.MaxFloat64
}

func wholeDays(v *hujson.Value) bool {
	n := jsonfile.NumberOf(v)
	return n >= 1 && n == math.Trunc(n)
}

func address(v *hujson.Value) bool {
	u, err := url.Parse(jsonfile.StringOf(v))
	return err == nil && u.Scheme != ""
}
