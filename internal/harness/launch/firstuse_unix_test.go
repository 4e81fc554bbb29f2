//go:build unix

package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFirstUse(t *testing.T) {
	const mine = `{"model":"opus","env":{"ANTHROPIC_AUTH_TOKEN":"a$b${c","N":5,"NULL":null},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`
	p := newPlace(t, "")
	write(t, mine, p.settings)
	o := p.options("-p", "x")
	asked := ""
	o.Ask = func(question string) (bool, error) { asked = question; return true, nil }
	plan, err := Prepare(o)
	must(t, err)
	if want := "Create " + p.config + " from " + p.settings + "? [y/N] "; asked != want {
		t.Errorf("asked %q", asked)
	}
	if got, _ := variable(plan, "ANTHROPIC_AUTH_TOKEN"); got != "a$b${c" {
		t.Errorf("the token became %q", got)
	}
	if diff := cmp.Diff([]string{"claude", "-p", "x"}, plan.Args); diff != "" {
		t.Error(diff)
	}
	if got := read(t, p.settings); got != mine {
		t.Errorf("settings.json became %s", got)
	}
	c, err := Load(p.config)
	must(t, err)
	env, err := c.Environment("default", nil)
	if diff := cmp.Diff(map[string]string{"ANTHROPIC_AUTH_TOKEN": "a$b${c", "N": "5"}, env); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff([]string{"model"}, c.SettingNames("default")); diff != "" || c.Current != "default" {
		t.Error(diff, c.Current)
	}
	if info, err := os.Stat(p.config); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	p.prepare() // and again, with nobody to ask
}

func TestFirstUseRefused(t *testing.T) {
	no := func(string) (bool, error) { return false, nil }
	never := func(string) (bool, error) { t.Error("asked for nothing"); return true, nil }
	for _, tt := range []struct {
		name, config, settings string
		ask                    func(string) (bool, error)
		missing                bool
	}{
		{"no", "", `{"env":{}}`, no, true},
		{"nobody to ask", "", `{"env":{}}`, nil, true},
		{"no settings", "", "", never, true},
		{"settings that are none", "", "{", never, true},
		{"a fault is no first use", "{", `{"env":{}}`, never, false},
		{"nor is a wrong type", `{"providers":[]}`, `{"env":{}}`, never, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t, tt.config)
			if tt.settings != "" {
				write(t, tt.settings, p.settings)
			}
			o := p.options()
			o.Ask = tt.ask
			_, err := Prepare(o)
			e, ok := errors.AsType[ConfigError](err)
			if !ok || errors.Is(err, fs.ErrNotExist) != tt.missing {
				t.Fatalf("got %v", err)
			}
			if tt.missing && !strings.Contains(e.Hint, `"providers"`) {
				t.Errorf("hint %q", e.Hint)
			}
			if tt.config == "" && exists(p.config) {
				t.Error("ccc.json was made all the same")
			}
		})
	}
}

// A terminal that fails is told, and nothing is made.
func TestFirstUseWithoutAnAnswer(t *testing.T) {
	p := newPlace(t, "")
	write(t, `{}`, p.settings)
	o := p.options()
	o.Ask = func(string) (bool, error) { return true, errors.New("no terminal") }
	if _, err := Prepare(o); err == nil || !strings.Contains(err.Error(), "no terminal") || exists(p.config) {
		t.Errorf("got %v", err)
	}
}

// Two first uses at once: the second finds what the first made.
func TestInitialKeepsWhatIsThere(t *testing.T) {
	path := write(t, plainConfig, t.TempDir(), ConfigFile)
	t.Setenv("STOPGATE_STATE_DIR", filepath.Join(t.TempDir(), "state"))
	must(t, initial(path, Object{}))
	if got := read(t, path); got != plainConfig {
		t.Errorf("it became %s", got)
	}
}
