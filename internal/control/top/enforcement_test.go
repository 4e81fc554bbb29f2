package top

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
)

// A project is enforced when all that it takes is there. Else what is missing first is said, with the
// command that helps.
func TestSurvey(t *testing.T) {
	home, state, root := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude"))
	t.Chdir(home)
	want := func(enforced bool, why, hint string) {
		t.Helper()
		found := survey(state, []string{root, root, filepath.Join(root, "gone")}, noon)
		if len(found) != 1 || found[0].Enforced != enforced || found[0].Why != why || found[0].Hint != hint {
			t.Errorf("%+v, want %t, %q, %q", found, enforced, why, hint)
		}
	}
	write := func(path, text string) {
		t.Helper()
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}

	want(false, "it has no gates", "stopgate init")
	write(filepath.Join(root, ".gauntlet", "config.yml"), "hooks: {}\n")
	want(false, "hooks are not installed", "stopgate hooks install")
	program := filepath.Join(home, "stopgate")
	self, err := os.Executable()
	check(t, err)
	check(t, os.Symlink(self, program))
	local := filepath.Join(root, ".claude", "settings.json")
	_, err = settings.Install(local, settings.Plan(program, &config.Project{}, nil, time.Minute))
	check(t, err)
	const unapproved = "trust is not enforced: edits run without approval"
	want(true, unapproved, "")

	limit := func(failures int) {
		check(t, ledger.Open(state, root).Update(t.Context(), func(s *ledger.State) error {
			s.Series.Failures, s.Series.Limit = failures, failures > 0
			return nil
		}))
	}
	limit(4)
	want(false, "the retry limit is reached after 4 failing runs: "+ledger.LimitEnds, "stopgate clean")
	limit(0)

	write(filepath.Join(root, ".claude", "settings.local.json"), `{"disableAllHooks": true}`)
	want(false, filepath.Join(root, ".claude", "settings.local.json")+" switches all hooks off", "stopgate hooks install")
	check(t, os.Remove(filepath.Join(root, ".claude", "settings.local.json")))

	check(t, stop.Recess{Root: root, Since: before(time.Minute), Until: noon.Add(time.Hour)}.Begin(state))
	want(false, "switched off until 13:00:00", "stopgate on")
	check(t, stop.EndRecess(state, root))

	write(filepath.Join(home, ".config", "agent-gauntlet", "config.yml"), "trust: enforce\n")
	want(false, "its configuration is not approved", "stopgate trust --show")
	check(t, trust.NewStore(state).Approve(root, noon))
	want(true, "", "")
	write(filepath.Join(root, ".gauntlet", "config.yml"), "mode: observe\nhooks: {}\n")
	check(t, trust.NewStore(state).Approve(root, noon))
	found := survey(state, nil, noon)
	if len(found) != 1 || found[0].Enforced || found[0].Why != "failed gates do not block (mode: observe)" {
		t.Errorf("a project that was approved: %+v", found)
	}
}
