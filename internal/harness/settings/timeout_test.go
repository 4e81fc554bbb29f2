package settings

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

func TestTimeoutIsTheSmallestInForce(t *testing.T) {
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	put(t, filepath.Join(root, "user", "settings.json"), `{"hooks":{
		"Stop":[{"hooks":[{"type":"command","command":"stopgate","args":["hook","Stop"],"timeout":900}]}],
		"SubagentStop":[{"hooks":[{"type":"command","command":"stopgate hook SubagentStop"}]}],
		"SessionEnd":[{"hooks":[{"type":"command","command":"stopgate hook SessionEnd","timeout":3600}]}],
		"UserPromptSubmit":[{"hooks":[{"type":"command","command":"stopgate hook UserPromptSubmit","timeout":"9"}]}]
	}}`)
	put(t, filepath.Join(root, ".claude", "settings.json"), "\ufeff"+`{"hooks":{
		"Stop":[{"hooks":[{"type":"command","command":"other","timeout":5},{"type":"command","command":"stopgate","args":["hook","Stop"],"timeout":300.5}]}]
	}}`)
	put(t, filepath.Join(root, ".claude", "settings.local.json"), `{"hooks":`)
	for event, want := range map[hook.Event]time.Duration{
		hook.Stop:             300*time.Second + 500*time.Millisecond,
		hook.SubagentStop:     600 * time.Second, // the client's own
		hook.SessionEnd:       60 * time.Second,  // the client's cap
		hook.UserPromptSubmit: 30 * time.Second,
		hook.Notification:     60 * time.Second, // not installed: the default
	} {
		if got := Timeout(event, 0, root); got != want {
			t.Errorf("%s: %v, want %v", event, got, want)
		}
	}
}

// The timeout that an entry carries holds, unless a file gives an equal entry less. Nobody else's
// entry, no older one and none whose program is gone shortens it.
func TestE14TheEntryCarriesItsTimeout(t *testing.T) {
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	project := filepath.Join(root, ".claude", "settings.json")
	carried := 20 * time.Minute
	mustInstall(t, filepath.Join(root, "user", "settings.json"), newEntry(Call{living, hook.Stop, carried, ""}))
	stop := func(e Entry, timeout time.Duration) Entry {
		e.Timeout = timeout
		return e
	}
	for name, tt := range map[string]struct {
		entry Entry
		want  time.Duration
	}{
		"equal":             {newEntry(Call{living, hook.Stop, carried, ""}), carried},
		"equal, but longer": {stop(newEntry(Call{living, hook.Stop, carried, ""}), time.Hour), carried},
		"equal, but hasty":  {stop(newEntry(Call{living, hook.Stop, carried, ""}), time.Minute), time.Minute},
		"another timeout":   {newEntry(Call{living, hook.Stop, time.Minute, ""}), carried},
		"an older form":     {Entry{Event: hook.Stop, Command: living, Args: []string{"hook", "Stop"}, Timeout: time.Minute}, carried},
		"a program is gone": {stop(newEntry(Call{"/gone/stopgate", hook.Stop, carried, ""}), time.Minute), carried},
	} {
		os.Remove(project)
		mustInstall(t, project, tt.entry)
		if got := Timeout(hook.Stop, carried, root); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	os.Remove(filepath.Join(root, "user", "settings.json"))
	mustInstall(t, project, stop(newEntry(Call{living, hook.Stop, carried, ""}), time.Hour))
	if got := Timeout(hook.Stop, carried, root); got != carried {
		t.Errorf("the only one grants more: %v", got)
	}
	if got := Timeout(hook.Stop, time.Hour, root); got != time.Hour {
		t.Errorf("carried, but in no file: %v", got)
	}
}

func TestStopHookTimeout(t *testing.T) {
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	for entry, want := range map[string]time.Duration{
		`"command":"agent-gauntlet stop-hook","timeout":300`:                      300 * time.Second,
		`"command":"stopgate","args":["stop-hook"],"timeout":60`:                  60 * time.Second,
		`"command":"agent-gauntlet stop-hook"`:                                    600 * time.Second,
		`"command":"stopgate","args":["hook","Stop"],"timeout":60`:                300 * time.Second,
		`"command":"other stop-hook","timeout":60`:                                300 * time.Second,
		`"command":"/gone/stopgate stop-hook","timeout":60`:                       300 * time.Second,
		`"type":"prompt","command":"agent-gauntlet stop-hook","timeout":60,"x":1`: 300 * time.Second,
	} {
		put(t, filepath.Join(root, ".claude", "settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command",`+entry+`}]}]}}`)
		if got := StopHookTimeout(root); got != want {
			t.Errorf("%s: %v, want %v", entry, got, want)
		}
	}
}

func TestSupervisorTimeout(t *testing.T) {
	root := t.TempDir()
	ccc := programDir(t) + "/ccc" + suffix
	check(t, alias(living, ccc))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	for entry, want := range map[string]time.Duration{
		`"command":"` + ccc + ` supervisor-hook","timeout":660`:              660 * time.Second,
		`"command":"'` + living + `' supervisor-hook","timeout":70`:          70 * time.Second,
		`"command":"` + living + `","args":["supervisor-hook"],"timeout":80`: 80 * time.Second,
		`"command":"/gone/ccc supervisor-hook","timeout":5`:                  600 * time.Second,
		`"command":"` + ccc + ` supervisor-hook"`:                            600 * time.Second,
		`"command":"stopgate hook Stop","timeout":5`:                         600 * time.Second,
		`"command":"stopgate stop-hook","timeout":5`:                         600 * time.Second,
		`"type":"prompt","command":"ccc supervisor-hook","timeout":60,"x":1`: 600 * time.Second,
		`"command":"echo supervisor-hook is not ours","timeout":60`:          600 * time.Second,
	} {
		put(t, filepath.Join(root, ".claude", "settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command",`+entry+`}]}]}}`)
		if got := SupervisorTimeout(root, root); got != want {
			t.Errorf("%s: %v, want %v", entry, got, want)
		}
	}
	put(t, filepath.Join(root, "user", "settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"`+ccc+` supervisor-hook","timeout":30}]}]}}`)
	if got := SupervisorTimeout("", root); got != 30*time.Second {
		t.Errorf("of two: %v", got)
	}
}

func TestTimeoutToleratesAnyDamage(t *testing.T) {
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	for _, text := range []string{
		"", "{", "[]", "5", `{"hooks":5}`, `{"hooks":{"Stop":{}}}`, `{"hooks":{"Stop":[5,{},{"hooks":5},{"hooks":[5]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"other","timeout":1}]}]}}`,
	} {
		put(t, filepath.Join(root, ".claude", "settings.json"), text)
		if got := Timeout(hook.Stop, 0, root); got != DefaultTimeout(hook.Stop) {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got := Timeout(hook.Stop, 0, ""); got != DefaultTimeout(hook.Stop) {
		t.Errorf("outside a project: %v", got)
	}
}

func TestSeconds(t *testing.T) {
	for in, want := range map[float64]time.Duration{
		0: 0, -5: 0, 1.5: 1500 * time.Millisecond, 1e300: 1<<63 - 1, 0.1: 100 * time.Millisecond,
	} {
		if got := seconds(in); got != want {
			t.Errorf("seconds(%v) = %v", in, got)
		}
	}
}

// The hook calls Timeout, and the hook has a few milliseconds.
func BenchmarkTimeout(b *testing.B) {
	root := b.TempDir()
	b.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	for _, scope := range []Scope{User, Project, Local} {
		path, _ := Path(scope, root)
		for _, event := range hook.Events() {
			mustInstall(b, path, entry(event))
		}
	}
	for b.Loop() {
		Timeout(hook.Stop, 0, root)
	}
}
