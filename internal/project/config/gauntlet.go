package config

import (
	"math"

	"github.com/stopgate/stopgate/internal/project/document"
)

const defaultMaxRetries = 3

func defaultGauntlet() Gauntlet {
	return Gauntlet{
		LogDir:        "gauntlet_logs",
		AllowParallel: true,
		MaxRetries:    defaultMaxRetries,
		NewIssues:     High,
		SkipCritical:  SkipByPerson,
	}
}

// fields are the keys of config.yml that are about all gates.
func (g *Gauntlet) fields() []field {
	return []field{
		document.Key("base_branch", &g.BaseBranch, command(), "The branch that changes are compared with. Default: the remote's default branch, else origin/main."),
		document.Key("log_dir", &g.LogDir, logDir(), "The folder for logs and nothing else, relative to the project's root.").Default("gauntlet_logs"),
		document.Key("allow_parallel", &g.AllowParallel, document.Flag, "Run gates in parallel, where they allow it.").Default(true),
		document.Key("max_parallel", &g.MaxParallel, count(1, math.MaxInt), "How many gates run at once. Default: one more than there are cores."),
		document.Key("max_retries", &g.MaxRetries, count(0, math.MaxInt), "The retry limit: how many failing runs block the agent before its stop is allowed and a person is told.").Default(defaultMaxRetries),
		document.Key("rerun_new_issue_threshold", &g.NewIssues, oneOf(Critical, High, Medium, Low), "The lowest priority at which a review that verifies fixes may report new violations.").Default(High),
		document.Key("debug_log", &g.DebugLog, debugLog(), debugLogSays),
		document.Key("stop_hook", &g.StopHook, section((*StopHook).fields), stopHookSays),
		document.Key("logging", &logging{}, section((*logging).fields), "Accepted for compatibility with agent-gauntlet; has no effect."),
		document.Key("violations", g, section((*Gauntlet).violations), "Rules for violations."),
	}
}

func (c *CLI) fields() []field {
	return []field{
		document.Key("default_preference", &c.DefaultPreference, someOf(reviewer()), "The reviewers, in order of preference.").Needed(),
		document.Key("check_usage_limit", &c.CheckUsageLimit, document.Flag, "Let `stopgate health` send a test request to each of them.").Default(false),
	}
}

func (g *Gauntlet) violations() []field {
	return []field{
		document.Key("skip_critical", &g.SkipCritical, oneOf(SkipByPerson, SkipByAnyone), "Who may skip a critical violation.").Default(SkipByPerson),
	}
}

// logging is what the older tool's files say about its own logging. It had no effect there
// either.
type logging struct {
	level, format string
	enabled       bool
}

func (l *logging) fields() []field {
	sink := func(formats ...string) typeOf[logging] {
		return section(func(l *logging) []field {
			return []field{
				document.Key("enabled", &l.enabled, document.Flag, ""),
				document.Key("format", &l.format, oneOf(formats...), ""),
			}
		})
	}
	return []field{
		document.Key("level", &l.level, oneOf("debug", "info", "warning", "error"), ""),
		document.Key("console", l, sink("pretty", "json"), ""),
		document.Key("file", l, sink("text", "json"), ""),
	}
}
