package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

const maxIntervalMinutes = math.MaxInt64 / int64(time.Minute)

// What holds where nothing is configured. The unified hook looks at every stop; the older
// tool's hook looks once in ten minutes, and not at a stop that follows its own block.
var (
	HookDefaults     = StopHookSettings{Enabled: true, VerifyFixes: true}
	StopHookDefaults = StopHookSettings{Enabled: true, RunInterval: 10 * time.Minute}
)

const stopHookSays = "When gates run. The environment takes precedence, then the project, then the global config."

func (h *StopHook) fields() []field {
	minutes := units(time.Minute, 0, maxIntervalMinutes).As(func() schema { return document.Whole(0) })
	return []field{
		document.Key("enabled", &h.Enabled, document.Optional(document.Flag), "Whether gates run when the agent stops. Default: true."),
		document.Key("run_interval_minutes", &h.RunInterval, document.Optional(minutes), "The least number of minutes between two runs, unless there is an open failure. Default: 0; for stop-hook: 10."),
		document.Key("verify_fixes", &h.VerifyFixes, document.Optional(document.Flag), "Run the gates again when the agent stops after a block, instead of allowing that stop. Default: true; for stop-hook: false."),
		document.Key("runner", &h.Runner, runner(), "An external gauntlet to run instead of the gates: a program and its arguments."),
		document.Key("deadline", &h.Deadline, document.Optional(seconds), "The time limit for a whole run. Default: what the timeout of the installed hook leaves; this setting can only shorten it."),
	}
}

// runner reads a program and its arguments, which may be blank.
func runner() typeOf[[]string] {
	next := command()
	t := someOf(document.New(func(v value, to *string) bool {
		read := next
		next = argument()
		return read.Read(v, to)
	}, document.AnyText))
	return t.As(func() schema { return t.Schema().With("prefixItems", []schema{document.Words()}) })
}

// ResolveStopHook says what holds: for each setting what the environment says,
// then the project, then the global config, then the default. A variable with a
// value that means nothing is as good as none.
func ResolveStopHook(variables []string, project, global StopHook, defaults StopHookSettings) StopHookSettings {
	env := func(name string) string { return strings.TrimSpace(environ.Get(variables, "GAUNTLET_STOP_HOOK_"+name)) }
	settings := StopHookSettings{
		Enabled:     *firstSet(parseSwitch(env("ENABLED")), project.Enabled, global.Enabled, &defaults.Enabled),
		RunInterval: *firstSet(parseMinutes(env("INTERVAL_MINUTES")), project.RunInterval, global.RunInterval, &defaults.RunInterval),
		VerifyFixes: *firstSet(parseSwitch(env("VERIFY_FIXES")), project.VerifyFixes, global.VerifyFixes, &defaults.VerifyFixes),
		Runner:      project.Runner,
		Deadline:    *firstSet(parseDeadline(env("DEADLINE")), project.Deadline, global.Deadline, &defaults.Deadline),
	}
	if settings.Runner == nil {
		settings.Runner = global.Runner
	}
	return settings
}

// disabled is what keeps gates from running at a stop; nil where they do.
func disabled(variables []string, project, global StopHook, projectFile, globalFile string) *Exemption {
	const means = "no gate runs at a stop"
	if ResolveStopHook(variables, project, global, StopHookSettings{Enabled: true}).Enabled {
		return nil
	}
	if name, value, set := StopHookVariable(variables); set {
		return &Exemption{Setting: name + ": " + value, Means: means}
	}
	file := projectFile
	if project.Enabled == nil {
		file = globalFile
	}
	return &Exemption{"stop_hook.enabled: false", means, file}
}

// StopHookVariable is the variable that turns the stop hook on or off, if it is set to something that means one
// of them.
func StopHookVariable(variables []string) (name, value string, set bool) {
	name = "GAUNTLET_STOP_HOOK_ENABLED"
	value = strings.TrimSpace(environ.Get(variables, name))
	return name, value, parseSwitch(value) != nil
}

// firstSet returns the first that is not nil.
func firstSet[T any](settings ...*T) *T {
	for _, setting := range settings {
		if setting != nil {
			return setting
		}
	}
	return nil
}

func parseSwitch(text string) *bool {
	switch strings.ToLower(text) {
	case "true", "1":
		return new(true)
	case "false", "0":
		return new(false)
	}
	return nil
}

func parseMinutes(text string) *time.Duration {
	minutes, err := strconv.ParseUint(text, 10, 63)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil
	}
	// After a range error it is the largest number, which is what was meant.
	return new(time.Duration(min(int64(minutes), maxIntervalMinutes)) * time.Minute)
}

func parseDeadline(text string) *time.Duration {
	length, ok := parseSeconds(text)
	if !ok {
		var err error
		if length, err = time.ParseDuration(text); err != nil || length <= 0 {
			return nil
		}
	}
	return new(min(length, longestRun))
}
