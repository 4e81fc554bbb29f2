//go:build unix

package launch

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A launch's traces are found in a state directory of any name, and all of them go.
func TestWithdraw(t *testing.T) {
	const mine = "{\n  \"theme\": \"mine\"\n}\n"
	p := newPlace(t, `{"providers":{"glm":{"model":"glm"},"plain":{}}}`).supervised()
	p.state = filepath.Join(filepath.Dir(p.state), "a[b") // which is no pattern
	t.Setenv("STOPGATE_STATE_DIR", p.state)
	t.Setenv("CLAUDE_CONFIG_DIR", p.dir)
	write(t, mine, p.settings)
	if got := Touched(p.state, p.settings); got != nil {
		t.Errorf("before any launch: %q", got)
	}
	for _, tt := range []struct {
		name, provider string
		user           string // settings file that is asked for
		want           []string
	}{
		{"only our entry", "plain", p.settings, []string{p.settings}},
		{"our entry in a file that is not asked for", "plain", "/elsewhere/settings.json", nil},
		{"our entry and a provider's settings", "glm", p.settings, []string{p.settings}},
		{"a provider's settings", "glm", "/elsewhere/settings.json", []string{p.settings}},
	} {
		p.prepare(tt.provider)
		if diff := cmp.Diff(tt.want, Touched(p.state, tt.user)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		must(t, Withdraw(p.state, p.settings))
		if got := read(t, p.settings); got != mine {
			t.Errorf("%s: left %s", tt.name, got)
		}
		if got := Touched(p.state, p.settings); got != nil {
			t.Errorf("%s: still in %q", tt.name, got)
		}
	}
	m, err := NewRegistry(p.state).memoryOf(p.settings)
	must(t, err)
	if exists(m.file) {
		t.Errorf("still remembered: %s", read(t, m.file))
	}
}

// An entry of another program stays, even if its command is called like ours.
func TestWithdrawLeavesOthers(t *testing.T) {
	const others = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/none/ccc supervisor-hook"}]}]}}`
	p := newPlace(t, plainConfig)
	t.Setenv("CLAUDE_CONFIG_DIR", p.dir)
	write(t, others, p.settings)
	if got := Touched(p.state, p.settings); got != nil {
		t.Errorf("touched %q", got)
	}
	must(t, Withdraw(p.state, p.settings))
	if got := read(t, p.settings); got != others {
		t.Errorf("left %s", got)
	}
}
