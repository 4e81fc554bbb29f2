package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

const maxIntervalMinutes = math.MaxInt64 / int64(time.Minute)

// What holds where nothing is configured. The unified hook looks at every stop; the older
// tool's hook looks once in ten minutes, and not at a stop that follows its own block.
var (
	HookDefaults     = StopHookSettings{Enabled: true, VerifyFixes: true}
	StopHookDefaults = StopHookSettings{Enabled: true, RunInterval: 10 * time.Minute}
)

func readStopHook(v value, to *StopHook) {
	v.mapping(
		field{key: "enabled", read: optional(&to.Enabled, value.boolean)},
		field{key: "run_interval_minutes", read: optional(&to.RunInterval, value.minutes)},
		field{key: "verify_fixes", read: optional(&to.VerifyFixes, value.boolean)},
		field{key: "runner", read: func(v value) { readRunner(v, &to.Runner) }},
		field{key: "deadline", read: optional(&to.Deadline, value.seconds)},
	)
}

func (v value) minutes(to *time.Duration) bool {
	var minutes int64
	if !v.integer(&minutes, 0, maxIntervalMinutes) {
		return false
	}
	*to = time.Duration(minutes) * time.Minute
	return true
}

// readRunner reads a program and its arguments, which may be blank.
func readRunner(v value, to *[]string) {
	next := value.command
	someOf(to, func(item value, to *string) bool {
		read := next
		next = value.argument
		return read(item, to)
	})(v)
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
	const name = "GAUNTLET_STOP_HOOK_ENABLED"
	if ResolveStopHook(variables, project, global, StopHookSettings{Enabled: true}).Enabled {
		return nil
	}
	if value := environ.Get(variables, name); parseSwitch(strings.TrimSpace(value)) != nil {
		return &Exemption{Setting: name + ": " + value, Means: means}
	}
	file := projectFile
	if project.Enabled == nil {
		file = globalFile
	}
	return &Exemption{"stop_hook.enabled: false", means, file}
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
