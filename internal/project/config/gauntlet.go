package config

import "math"

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
		{key: "base_branch", read: into(&g.BaseBranch, value.command)},
		{key: "log_dir", read: into(&g.LogDir, value.logDir)},
		{key: "allow_parallel", read: into(&g.AllowParallel, value.boolean)},
		{key: "max_parallel", read: func(v value) { v.count(&g.MaxParallel, 1, math.MaxInt) }},
		{key: "max_retries", read: func(v value) { v.count(&g.MaxRetries, 0, math.MaxInt) }},
		{key: "rerun_new_issue_threshold", read: func(v value) { oneOf(v, &g.NewIssues, Critical, High, Medium, Low) }},
		{key: "debug_log", read: func(v value) { readDebugLog(v, &g.DebugLog) }},
		{key: "stop_hook", read: func(v value) { readStopHook(v, &g.StopHook) }},
		{key: "logging", read: readLogging},
		{key: "violations", read: func(v value) { readViolations(v, &g.SkipCritical) }},
	}
}

func readCLI(v value, to *CLI) {
	v.mapping(
		field{key: "default_preference", required: true, read: someOf(&to.DefaultPreference, readReviewer)},
		field{key: "check_usage_limit", read: into(&to.CheckUsageLimit, value.boolean)},
	)
}

func readViolations(v value, to *SkipCritical) {
	v.mapping(
		field{key: "skip_critical", read: func(v value) { oneOf(v, to, SkipByPerson, SkipByAnyone) }},
	)
}

// readLogging takes what the older tool's files say about its own logging. It
// had no effect there either.
func readLogging(v value) {
	var level, format string
	var enabled bool
	sink := func(formats ...string) func(value) {
		return func(v value) {
			v.mapping(
				field{key: "enabled", read: into(&enabled, value.boolean)},
				field{key: "format", read: func(v value) { oneOf(v, &format, formats...) }},
			)
		}
	}
	v.mapping(
		field{key: "level", read: func(v value) { oneOf(v, &level, "debug", "info", "warning", "error") }},
		field{key: "console", read: sink("pretty", "json")},
		field{key: "file", read: sink("text", "json")},
	)
}
