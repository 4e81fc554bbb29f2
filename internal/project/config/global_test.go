package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestGlobalDefaults(t *testing.T) {
	want := &Global{Journal: Journal{MaxAge: 720 * time.Hour, MaxSize: 256 << 20}, Lifecycle: Lifecycle{WhenDaemonDown: AllowWhenDown}, Retention: defaultGlobal().Retention}
	got, err := LoadGlobal(filepath.Join(t.TempDir(), "missing.yml"))
	check(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("missing file (-want +got):\n%s", diff)
	}
	want.Exists = true
	for _, text := range []string{"", "trust: off\n", "notify:\njournal:\n", "journal: {payloads: false}\n"} {
		got, err := ParseGlobal("config.yml", []byte(text))
		check(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestGlobal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yml")
	write(t, file, `trust: enforce
notify:
  command: notify-send stopgate
journal:
  payloads: true
  max_age: 48h
  max_size: 64MiB
retention: {keep: 48h, log_size: 1MiB}
`)
	got, err := LoadGlobal(file)
	check(t, err)
	want := &Global{
		Exists:  true,
		Trust:   TrustEnforce,
		Notify:  Notify{Ways: Ways{Command: "notify-send stopgate"}},
		Journal: Journal{Payloads: true, MaxAge: 48 * time.Hour, MaxSize: 64 << 20},

		Lifecycle: Lifecycle{WhenDaemonDown: AllowWhenDown},
		Retention: Retention{Keep: 48 * time.Hour, KeepSize: 1 << 30, LogSize: 1 << 20},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "1KiB": 1 << 10, "3MiB": 3 << 20, "2GiB": 2 << 30, "256 MiB": 256 << 20,
		"8589934591GiB": 8589934591 << 30,
	} {
		g, err := ParseGlobal("config.yml", []byte("journal: {max_size: "+text+"}"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if g.Journal.MaxSize != want {
			t.Errorf("%s: got %d, want %d", text, g.Journal.MaxSize, want)
		}
	}
}

func TestGlobalStopHook(t *testing.T) {
	got, err := ParseGlobal("config.yml", []byte("stop_hook: {enabled: false, run_interval_minutes: 15, verify_fixes: true, runner: [x], deadline: 2m}\ndebug_log: {enabled: true}\n"))
	check(t, err)
	want := defaultGlobal()
	want.Exists = true
	want.StopHook = StopHook{Enabled: new(false), RunInterval: new(15 * time.Minute), VerifyFixes: new(true), Runner: []string{"x"}, Deadline: new(2 * time.Minute)}
	want.DebugLog.Enabled = new(true)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The seed's scenario "Global config invalid": the defaults hold. But a slip of
// the pen does not switch trust off.
func TestGlobalConfigInvalid(t *testing.T) {
	for text, want := range map[string]Trust{
		"stop_hook: {run_interval_minutes: x}\n": TrustOff,
		"trust: off\nnonsense: 1\n":              TrustOff,
		"a: [\n":                                 TrustOff,
		"trust: enforce\nnonsense: 1\n":          TrustEnforce,
		"trsut: enforce\n":                       TrustEnforce,
		"trust: enfroce\n":                       TrustEnforce,
		"trust: Enforced\n":                      TrustEnforce,
		"trust: enforce\na: [\n":                 TrustEnforce,
		"\xff\xfet\x00r\x00u\x00s\x00t\x00:\x00 \x00e\x00n\x00f\x00o\x00r\x00c\x00e\x00": TrustEnforce,
		strings.Repeat("#\n", maxFileSize):                                               TrustEnforce,
	} {
		file := filepath.Join(t.TempDir(), "config.yml")
		write(t, file, text)
		got, err := LoadGlobal(file)
		if err == nil {
			t.Errorf("%.40q: no fault", text)
			continue
		}
		expected := defaultGlobal()
		expected.Exists, expected.Trust = true, want
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", text, diff)
		}
	}
}

// A slip in one section leaves the others as they are, and takes all of its own away.
func TestGlobalKeepsSectionsWithoutFaults(t *testing.T) {
	const lifecycle = "lifecycle: {when_daemon_down: block, max_agents: 2}\n"
	kept := Lifecycle{WhenDaemonDown: BlockWhenDown, MaxAgents: 2}
	none := Lifecycle{WhenDaemonDown: AllowWhenDown}
	for text, want := range map[string]Lifecycle{
		lifecycle + "notify: {comand: x}\n":                                                       kept,
		"notify: {comand: x}\n" + lifecycle:                                                       kept,
		lifecycle + "nonsense: 1\n":                                                               kept,
		"prices: [{model: x}]\n" + lifecycle + "journal: 5\n":                                     kept,
		"prices: [" + strings.Repeat("5,", 2*maxFaults) + "]\n" + lifecycle:                       kept,
		"terminal: *nowhere\n" + lifecycle:                                                        kept,
		"lifecycle: {when_daemon_down: block, max_agents: many}\n":                                none,
		"lifecycle: {when_daemon_down: block, max_agents: *nowhere}\n":                            none,
		"lifecycle: {when_daemon_down: block, maxagents: 2}\n":                                    none,
		"prices: [" + strings.Repeat("5,", 2*maxFaults) + "]\nlifecycle: {max_agents: 2, x: 1}\n": none,
	} {
		file := filepath.Join(t.TempDir(), "config.yml")
		write(t, file, text)
		got, err := LoadGlobal(file)
		if err == nil {
			t.Errorf("%.60q: no fault", text)
		}
		if diff := cmp.Diff(want, got.Lifecycle); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", text, diff)
		}
	}
	file := filepath.Join(t.TempDir(), "config.yml")
	write(t, file, "notify: {command: tell, muted: 1}\nprices: [{model: x, input: 1, output: 2}]\n")
	if got, _ := LoadGlobal(file); got.Notify.Command != "" || len(got.Prices) != 1 {
		t.Errorf("%+v", got)
	}
}

// Losing the file that says trust: enforce must not go unnoticed.
func TestGlobalLinkIntoNowhere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "config.yml")
	environtest.Symlink(t, "gone.yml", link)
	if g, err := LoadGlobal(link); err == nil || !g.Enforces() {
		t.Errorf("got %+v and %v", g, err)
	}
}
