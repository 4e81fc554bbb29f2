package hub

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// The hub trims as the configuration of its machine says, and never what is younger than a day.
func TestIssue20TheHubTrims(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	for text, want := range map[string]time.Duration{
		"": 30 * 24 * time.Hour, "retention:\n  keep: 240h\n": 240 * time.Hour, "retention:\n  keep: 1h\n": 24 * time.Hour, "retention: [\n": 30 * 24 * time.Hour,
	} {
		checktest.Write(t, filepath.Join(dir, ".config", "agent-gauntlet", "config.yml"), text)
		if got := keep(); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}

	checktest.Write(t, filepath.Join(dir, ".config", "agent-gauntlet", "config.yml"), "retention:\n  keep: 48h\n")
	f := linktest.New(t)
	now, quiet := time.Now(), slog.New(slog.DiscardHandler)
	h := &hub{Options: Options{Now: func() time.Time { return now }, Log: quiet}, id: member.Identity{Hub: 1}}
	if err := h.tidyOnce(t.Context()); err != nil {
		t.Errorf("without a store: %v", err)
	}
	log := f.Member("hub").Log
	h.state.set(log, nil)
	b, err := board.Open(t.Context(), f.Member("a").Log, "a", h.Now, quiet)
	checktest.OK(t, err)
	for n := range 4 {
		_, err := b.SetCap(t.Context(), board.DefaultCap, func(l *job.Limit) { l.Jobs = n })
		checktest.OK(t, err)
		checktest.OK(t, h.tidyOnce(t.Context()))
		now = now.Add(49 * time.Hour)
	}
	left := 0
	for _, err := range log.Rest(t.Context(), "cap.default") {
		checktest.OK(t, err)
		left++
	}
	if left != 1 { // the others were two days old when the last snapshot was taken
		t.Errorf("%d of 4 events are left", left)
	}
}
