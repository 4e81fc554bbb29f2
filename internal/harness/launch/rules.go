package launch

import (
	"fmt"
	"math"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// configRule says what ccc.json may hold. Keys that it does not name may be there
// too. It only checks: settings go on to Claude Code as they are written, so that there is nothing to
// decode them into.
func configRule() jsonfile.Rule {
	return jsonfile.Fields(map[string]jsonfile.Rule{
		"settings":         settingsRule(),
		"providers":        jsonfile.EachMember(settingsRule()),
		"current_provider": jsonfile.String,
		"claude_args":      jsonfile.ListOf(jsonfile.Both(jsonfile.String, withoutNUL())),
		"supervisor":       supervisorRule(),
	})
}

func settingsRule() jsonfile.Rule {
	return jsonfile.Fields(map[string]jsonfile.Rule{
		"env": func(c *jsonfile.Checker, v *hujson.Value, at string) {
			variableNames(c, v, at)
			jsonfile.EachMember(variableRule())(c, v, at)
		},
	})
}

func supervisorRule() jsonfile.Rule {
	number := func(condition string, ok func(n float64) bool) jsonfile.Rule {
		return jsonfile.Both(jsonfile.Number, jsonfile.Holds(condition, func(v *hujson.Value) bool { return ok(jsonfile.NumberOf(v)) }))
	}
	whole := func(least, most int) jsonfile.Rule {
		return number(fmt.Sprintf("a whole number from %d to %d", least, most), func(n float64) bool {
			return float64(least) <= n && n <= float64(most) && n == math.Trunc(n)
		})
	}
	return jsonfile.Fields(map[string]jsonfile.Rule{
		"max_iterations":  whole(1, config.MostIterations),
		"timeout_seconds": whole(1, int(config.LongestReview.Seconds())),
		"prompt_file":     jsonfile.Both(jsonfile.String, withoutNUL()),
		"max_cost_usd":    number("above 0", func(n float64) bool { return n > 0 && n <= math.MaxFloat64 }),
	})
}

func variableRule() jsonfile.Rule {
	scalar := func(c *jsonfile.Checker, v *hujson.Value, at string) {
		if kind := jsonfile.KindOf(v); !strings.ContainsRune(`"0tf`, rune(kind)) {
			c.Fault(v, at, jsonfile.MustBe("a string, a number or a boolean", v))
		}
	}
	return jsonfile.Both(scalar, withoutNUL())
}

// withoutNUL keeps out what no process can be given.
func withoutNUL() jsonfile.Rule {
	return jsonfile.Holds("without a NUL character", func(v *hujson.Value) bool {
		return !strings.Contains(jsonfile.StringOf(v), "\x00")
	})
}

// variableNames refuses what is no variable, and those by which we find ccc.json and
// our own state: it would be one place for us and another for Claude Code's hooks.
func variableNames(c *jsonfile.Checker, v *hujson.Value, at string) {
	env, _ := jsonfile.ObjectOf(v)
	for name, value := range jsonfile.Members(env) {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			c.Fault(value, at, fmt.Sprintf("has %q, which is not a variable name", name))
		case !forProvider(name):
			c.Fault(value, at+"."+name, "is read before a provider is chosen: set it in the shell that starts stopgate")
		}
	}
}

// forProvider reports whether a provider may set the variable: not those by which we
// have found it.
func forProvider(name string) bool {
	return name != "CLAUDE_CONFIG_DIR" && !strings.HasPrefix(name, "CCC_") && !strings.HasPrefix(name, "STOPGATE_")
}
