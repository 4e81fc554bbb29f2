package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGauntletDefaults(t *testing.T) {
	want := Gauntlet{
		LogDir:        "gauntlet_logs",
		AllowParallel: true,
		MaxRetries:    3,
		NewIssues:     High,
		SkipCritical:  SkipByPerson,
	}
	for _, text := range []string{"", "hooks:\n", "stop_hook:\ndebug_log:\nlogging:\nviolations:\nentry_points:\n", "entry_points: []\n"} {
		if diff := cmp.Diff(want, project(t, text).Gauntlet); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestGauntlet(t *testing.T) {
	got := project(t, `
base_branch: -origin/main
log_dir: build/logs
allow_parallel: false
max_parallel: 2
max_retries: 0
rerun_new_issue_threshold: low
cli:
  default_preference: [codex, github-copilot]
  check_usage_limit: true
debug_log:
  enabled: true
  max_size_mb: 0.5
stop_hook:
  enabled: false
  run_interval_minutes: 0
  verify_fixes: true
  runner: [agent-gauntlet, run, ""]
  deadline: 90.5
logging:
  level: warning
  console: {enabled: true, format: json}
  file: {enabled: false, format: text}
violations:
  skip_critical: anyone
`).Gauntlet
	want := Gauntlet{
		BaseBranch:   "-origin/main",
		LogDir:       "build/logs",
		MaxParallel:  2,
		NewIssues:    Low,
		CLI:          CLI{DefaultPreference: []string{"codex", "github-copilot"}, CheckUsageLimit: true},
		DebugLog:     DebugLog{Enabled: new(true), MaxSize: 512 << 10},
		SkipCritical: SkipByAnyone,
		StopHook: StopHook{
			Enabled:     new(false),
			RunInterval: new(time.Duration(0)),
			VerifyFixes: new(true),
			Runner:      []string{"agent-gauntlet", "run", ""},
			Deadline:    new(90*time.Second + 500*time.Millisecond),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{ // 0: a fault
		"240": 240 * time.Second, "0.25": 250 * time.Millisecond, "1.": time.Second, "90s": 90 * time.Second, "1h30m": 90 * time.Minute,
		"86400": 24 * time.Hour, "24h": 24 * time.Hour,
		"0": 0, "-1": 0, "0.0": 0, "86401": 0, "24h1s": 0, "1e3": 0, "0x10": 0, "1_000": 0, ".inf": 0, ".nan": 0, "\"90\"": 0,
		"99999999999999999999": 0, "1.2.3": 0, "true": 0, "~": 0, "[1]": 0, "0.0000000001": 0,
	} {
		check := newCheck("x")
		check.Timeout = 0
		err := parseCheck("x.yml", []byte("command: x\ntimeout: "+text), check)
		if check.Timeout != want || (err == nil) != (want > 0) {
			t.Errorf("%s: got %v and %v, want %v", text, check.Timeout, err, want)
		}
	}
}

// A debug log's section without enabled says no, as in the older tool; no section
// leaves it to the global config.
func TestResolveDebugLog(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		project, global string
		enabled         bool
		size            int64
	}{
		{"", "", false, 10 * mb},
		{"", "debug_log: {enabled: true, max_size_mb: 5}", true, 5 * mb},
		{"debug_log:", "debug_log: {enabled: true}", true, 10 * mb},
		{"debug_log: {max_size_mb: 2}", "debug_log: {enabled: true}", false, 2 * mb},
		{"debug_log: {enabled: true}", "debug_log: {enabled: false, max_size_mb: 7}", true, 7 * mb},
	} {
		global, err := ParseGlobal("config.yml", []byte(c.global))
		check(t, err)
		enabled, size := ResolveDebugLog(project(t, c.project).Gauntlet.DebugLog, global.DebugLog)
		if enabled != c.enabled || size != c.size {
			t.Errorf("%q over %q: got %v, %d", c.project, c.global, enabled, size)
		}
	}
}

func TestPriorities(t *testing.T) {
	order := []Priority{Low, Medium, High, Critical}
	for i, p := range order {
		for j, floor := range order {
			if got := p.AtLeast(floor); got != (i >= j) {
				t.Errorf("%s at least %s: %v", p, floor, got)
			}
		}
		if !Priority("blocker").AtLeast(p) {
			t.Errorf("an unknown priority is forgiven below %s", p)
		}
	}
}
