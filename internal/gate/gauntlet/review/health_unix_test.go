//go:build unix

package review

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func (s *stage) survey(probe bool) map[string]Health {
	s.t.Helper()
	names := append(Names(), "other")
	list := CheckHealth(s.t.Context(), Survey{
		Adapters: names, Root: s.request.Root, Environ: s.request.Environ,
		StateDir: s.request.StateDir, Now: s.request.Now, Probe: probe,
	})
	all := map[string]Health{}
	for i, h := range list {
		if h.Adapter != names[i] {
			s.t.Errorf("%s in the place of %s", h.Adapter, names[i])
		}
		all[h.Adapter] = h
	}
	return all
}

func wantIll(t *testing.T, h Health, word string) {
	t.Helper()
	if h.Err == nil || !strings.Contains(h.Err.Error(), word) {
		t.Errorf("%+v, want %q", h, word)
	}
}

func TestHealthWithoutAsking(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.install("claude", "exit 1")
	s.install("codex", "exit 1")
	check(t, (quotas{s.request.StateDir}).usedUp("codex", noon))
	got := s.survey(false)
	if h := got["claude"]; h.Err != nil || h.Path != filepath.Join(s.bin, "claude") || !h.Cooling.IsZero() {
		t.Errorf("%+v", h)
	}
	wantIll(t, got["codex"], "asked again in 1h0m0s")
	if h := got["codex"]; !h.Cooling.Equal(noon.Truncate(time.Second).Add(coolDown)) || h.Path == "" {
		t.Errorf("%+v", h)
	}
	wantIll(t, got["gemini"], "gemini is not installed")
	wantIll(t, got["other"], "no such reviewer")
	if len(s.asked()) > 0 {
		t.Errorf("%v were asked", s.asked())
	}
}

func TestHealthByAsking(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.install("claude", say(`{"type":"result","subtype":"success","is_error":false,"result":"Hello!"}`))
	s.install("codex", "cat >/dev/null; echo 'You are out of usage credits'")
	s.install("gemini", "cat >/dev/null; echo not logged in >&2; exit 41")
	s.install("copilot", "cat >/dev/null")
	s.install("agent", say("Hi."))
	check(t, (quotas{s.request.StateDir}).usedUp("cursor", noon))
	got := s.survey(true)
	for _, name := range []string{"claude", "cursor"} {
		if h := got[name]; h.Err != nil || !h.Cooling.IsZero() {
			t.Errorf("%+v, want it well", h)
		}
	}
	wantIll(t, got["codex"], "out of quota: You are out of usage credits")
	wantIll(t, got["gemini"], "exit 41: not logged in")
	wantIll(t, got["github-copilot"], "it said nothing")
	if cooling := s.cooling(); !slices.Equal(cooling, []string{"codex"}) || got["codex"].Cooling.IsZero() {
		t.Errorf("%v cooling down", cooling)
	}
	if args := s.note("claude.args"); strings.Contains(args, "--json-schema") || !strings.Contains(args, "--max-turns\n1\n") {
		t.Errorf("claude was called with %q", args)
	}
}
