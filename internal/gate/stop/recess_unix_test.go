//go:build unix

package stop

import (
	"os"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

func TestRecess(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		now  time.Time
		on   bool
	}{
		{"at its beginning", noon, true},
		{"within", noon.Add(30 * time.Minute), true},
		{"just before its end", noon.Add(time.Hour - 1), true},
		{"at its end", noon.Add(time.Hour), false},
		{"after", noon.Add(48 * time.Hour), false},
		{"the clock was set back", noon.Add(-1), false},
		{"the clock was set back by a year", noon.AddDate(-1, 0, 0), false},
	}
	s := newScene(t, failing)
	check(t, Recess{Root: s.root, Since: noon, Until: noon.Add(time.Hour), Why: "a demo"}.Begin(s.state))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, on := InRecess(s.state, s.root, tt.now); on != tt.on {
				t.Errorf("on: %t, want %t", on, tt.on)
			}
			s.now = func() time.Time { return tt.now }
			r := s.stop(fields{"prompt_id": tt.name})
			if !tt.on {
				wantBlock(t, r, "fix it")
				return
			}
			wantAllow(t, r, "off in this project until", "nothing is checked", "(a demo)")
			s.wantVerdict("off", "could_not_run", "off")
			wantAllow(t, s.call(hook.PreToolUse, nil)) // no noise
		})
	}
}

func TestRecessIsOfOneProject(t *testing.T) {
	s, other := newScene(t, failing), newScene(t, failing)
	now := time.Now()
	check(t, Recess{Root: s.root, Since: now, Until: now.Add(time.Hour)}.Begin(s.state))
	other.state = s.state
	wantBlock(t, other.stop(nil), "fix it")
	wantAllow(t, s.stop(nil), "off")
}

func TestRecessIsEnded(t *testing.T) {
	s := newScene(t, failing)
	now := time.Now()
	check(t, EndRecess(s.state, s.root)) // nothing to end
	check(t, Recess{Root: s.root, Since: now, Until: now.Add(time.Hour)}.Begin(s.state))
	wantAllow(t, s.stop(nil), "off")
	check(t, EndRecess(s.state, s.root))
	wantBlock(t, s.stop(nil), "fix it")
}

func TestRecessStandsBeforeInvalidConfigAndTrust(t *testing.T) {
	s := newScene(t, "")
	s.config("hooks: [\n")
	s.enforce()
	now := time.Now()
	check(t, Recess{Root: s.root, Since: now, Until: now.Add(time.Hour)}.Begin(s.state))
	wantAllow(t, s.stop(nil), "off in this project")
}

func TestDamagedRecessIsNone(t *testing.T) {
	s := newScene(t, failing)
	for _, text := range []string{"", "{", "null", `{"until":"9999-01-01T00:00:00Z","since":5}`} {
		write(t, recessPath(s.state, s.root), text)
		wantBlock(t, s.stop(fields{"prompt_id": text}), "fix it")
	}
	check(t, os.Remove(recessPath(s.state, s.root)))
}
