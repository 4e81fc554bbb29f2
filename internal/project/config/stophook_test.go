package config

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStopHookDefaults(t *testing.T) {
	for _, want := range []StopHookSettings{
		{Enabled: true, VerifyFixes: true},             // of the unified hook
		{Enabled: true, RunInterval: 10 * time.Minute}, // of the older tool's
	} {
		defaults := HookDefaults
		if !want.VerifyFixes {
			defaults = StopHookDefaults
		}
		if diff := cmp.Diff(want, ResolveStopHook(nil, StopHook{}, StopHook{}, defaults)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Each setting comes from the first place that says something, whatever the
// others do.
func TestStopHookPrecedence(t *testing.T) {
	place := rapid.Custom(func(t *rapid.T) StopHook {
		var s StopHook
		set := rapid.Bool()
		if set.Draw(t, "enabled is set") {
			s.Enabled = new(rapid.Bool().Draw(t, "enabled"))
		}
		if set.Draw(t, "verify is set") {
			s.VerifyFixes = new(rapid.Bool().Draw(t, "verify"))
		}
		if set.Draw(t, "interval is set") {
			s.RunInterval = new(time.Duration(rapid.IntRange(0, 99).Draw(t, "interval")) * time.Minute)
		}
		if set.Draw(t, "deadline is set") {
			s.Deadline = new(time.Duration(rapid.IntRange(1, 99).Draw(t, "deadline")) * time.Second)
		}
		if set.Draw(t, "runner is set") {
			s.Runner = []string{rapid.StringMatching("[a-z]+").Draw(t, "runner")}
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		project, global := place.Draw(t, "project"), place.Draw(t, "global")
		got := ResolveStopHook(nil, project, global, StopHookDefaults)
		want := StopHookSettings{Enabled: true, RunInterval: 10 * time.Minute}
		for _, s := range []StopHook{global, project} {
			if s.Enabled != nil {
				want.Enabled = *s.Enabled
			}
			if s.VerifyFixes != nil {
				want.VerifyFixes = *s.VerifyFixes
			}
			if s.RunInterval != nil {
				want.RunInterval = *s.RunInterval
			}
			if s.Deadline != nil {
				want.Deadline = *s.Deadline
			}
			if s.Runner != nil {
				want.Runner = s.Runner
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestStopHookEnvironment(t *testing.T) {
	const kept = 7 * time.Minute // what the project says
	ages := time.Duration(math.MaxInt64).Truncate(time.Minute)
	project := StopHook{Enabled: new(false), VerifyFixes: new(true), RunInterval: new(kept), Deadline: new(kept)}
	for _, c := range []struct {
		variable string
		want     func(*StopHookSettings)
	}{
		{"ENABLED=true", func(s *StopHookSettings) { s.Enabled = true }},
		{"ENABLED= TRUE\t", func(s *StopHookSettings) { s.Enabled = true }},
		{"ENABLED=1", func(s *StopHookSettings) { s.Enabled = true }},
		{"ENABLED=0", nil},
		{"ENABLED=yes", nil},
		{"ENABLED=", nil},
		{"ENABLEDX=true", nil},
		{"VERIFY_FIXES=False", func(s *StopHookSettings) { s.VerifyFixes = false }},
		{"VERIFY_FIXES=0", func(s *StopHookSettings) { s.VerifyFixes = false }},
		{"VERIFY_FIXES=off", nil},
		{"INTERVAL_MINUTES=0", func(s *StopHookSettings) { s.RunInterval = 0 }},
		{"INTERVAL_MINUTES= 15 ", func(s *StopHookSettings) { s.RunInterval = 15 * time.Minute }},
		{"INTERVAL_MINUTES=-1", nil},
		{"INTERVAL_MINUTES=+1", nil},
		{"INTERVAL_MINUTES=1.5", nil},
		{"INTERVAL_MINUTES=10abc", nil},
		{"INTERVAL_MINUTES=1_0", nil},
		{"INTERVAL_MINUTES=0x1", nil},
		{"INTERVAL_MINUTES=153722868", func(s *StopHookSettings) { s.RunInterval = ages }},
		{"INTERVAL_MINUTES=9223372036854775807", func(s *StopHookSettings) { s.RunInterval = ages }},
		{"INTERVAL_MINUTES=18446744073709551616", func(s *StopHookSettings) { s.RunInterval = ages }},
		{"INTERVAL_MINUTES=999999999999999999999999", func(s *StopHookSettings) { s.RunInterval = ages }},
		{"DEADLINE=30", func(s *StopHookSettings) { s.Deadline = 30 * time.Second }},
		{"DEADLINE=1.5", func(s *StopHookSettings) { s.Deadline = 1500 * time.Millisecond }},
		{"DEADLINE= 2m ", func(s *StopHookSettings) { s.Deadline = 2 * time.Minute }},
		{"DEADLINE=9000h", func(s *StopHookSettings) { s.Deadline = 24 * time.Hour }},
		{"DEADLINE=0", nil},
		{"DEADLINE=-5s", nil},
		{"DEADLINE=soon", nil},
		{"DEADLINE=99999999999999999999", nil},
		{"RUNNER=evil", nil},
	} {
		want := StopHookSettings{VerifyFixes: true, RunInterval: kept, Deadline: kept}
		if c.want != nil {
			c.want(&want)
		}
		got := ResolveStopHook([]string{"PATH=/bin", "GAUNTLET_STOP_HOOK_" + c.variable}, project, StopHook{}, HookDefaults)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.variable, diff)
		}
	}
}
