package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// A glance tells how far a project is, at each step of setting it up, and what doctor found.
func TestIssue18AGlanceTellsWhetherAProjectIsEnforced(t *testing.T) {
	place := newPlace(t, "honest")
	global, now := &config.Global{Trust: config.TrustEnforce}, time.Now().Round(time.Second)
	look := func() Glance { return Look(place.StateDir, global, place.Root, now) }
	if g := look(); g.Configured || g.Trust != trust.Untrusted || g.Gone || len(g.Hooks.Scopes) != 1 || g.Off != nil || g.Tested != nil {
		t.Errorf("%+v", g)
	}
	checktest.Write(t, paths.ProjectConfig(place.Root), "hooks: {}\n")
	check(t, trust.NewStore(place.StateDir).Approve(place.Root, now))
	if g := look(); !g.Configured || g.Trust != trust.Approved || !g.ApprovedAt.Equal(now) {
		t.Errorf("%+v", g)
	}
	checktest.Write(t, paths.ProjectConfig(place.Root), "hooks: {} # edited\n")
	check(t, stop.Recess{Root: place.Root, Since: now, Until: now.Add(time.Hour), Why: "so"}.Begin(place.StateDir))
	if g := look(); g.Trust != trust.Edited || len(g.Changed) != 1 || g.Off == nil || g.Off.Why != "so" {
		t.Errorf("%+v", g)
	}
	check(t, Report{Findings: []Finding{{Level: OK}, {Level: Dead, What: "hooks", Text: "no entry"}}}.Keep(place.StateDir, place.Root, now))
	if g := look(); g.Tested == nil || g.Tested.Live || g.Tested.Fault != "hooks: no entry" || !g.Tested.Time.Equal(now) {
		t.Errorf("%+v", g.Tested)
	}
	check(t, Report{}.Keep(place.StateDir, place.Root, now))
	if g := look(); !g.Tested.Live {
		t.Errorf("%+v", g.Tested)
	}
	global.Trust = config.TrustOff
	if g := look(); g.Trust != "" {
		t.Errorf("%+v", g)
	}
	check(t, ledger.Open(place.StateDir, place.Root).Update(t.Context(), func(s *ledger.State) error {
		s.Series.Failures, s.Series.Limit = 4, true
		return nil
	}))
	checktest.Write(t, paths.ProjectConfig(place.Root), "mode: observe\nhooks: {}\n")
	if g := look(); g.Failures != 4 || g.Invalid || len(g.Exempt) != 1 || g.Exempt[0].Setting != "mode: observe" {
		t.Errorf("%+v", g)
	}
	checktest.Write(t, paths.ProjectConfig(place.Root), "mode: [\n")
	if g := look(); !g.Invalid {
		t.Errorf("%+v", g)
	}
	check(t, os.RemoveAll(place.Root))
	if g := look(); !g.Gone {
		t.Errorf("%+v", g)
	}
}

// A glance runs nothing: neither what hooks call, nor what a configuration or git's has.
func TestIssue18AGlanceRunsNothing(t *testing.T) {
	place := newPlace(t, "honest")
	mark := filepath.Join(t.TempDir(), "ran")
	trap := "#!/bin/sh\ntouch " + mark + "\n"
	for _, name := range []string{"stopgate", "git", "claude"} {
		path := filepath.Join(place.Root, "bin", name)
		checktest.Write(t, path, trap)
		check(t, os.Chmod(path, 0o755))
	}
	t.Setenv("PATH", filepath.Join(place.Root, "bin"))
	checktest.Write(t, paths.ProjectConfig(place.Root), "hooks:\n  Stop:\n    - run: touch "+mark+"\n")
	checktest.Write(t, filepath.Join(place.Root, ".git", "config"), "[core]\nfsmonitor = touch "+mark+"\n")
	checktest.Write(t, filepath.Join(place.Root, ".git", "HEAD"), "ref: refs/heads/main\n")
	check(t, trust.NewStore(place.StateDir).Approve(place.Root, time.Now()))
	check(t, os.Remove(paths.ProjectConfig(place.Root)))
	Look(place.StateDir, &config.Global{Trust: config.TrustEnforce}, place.Root, time.Now())
	if _, err := os.Stat(mark); err == nil {
		t.Error("something was run")
	}
}
