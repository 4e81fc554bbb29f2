//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// Each thing that can be wrong comes with what helps against it.
func TestStoreVerifyAdvice(t *testing.T) {
	for name, test := range map[string]struct {
		wrong       func(t *testing.T, path string, old []byte)
		out, errOut string
		code        int
	}{
		"sound":      {func(*testing.T, string, []byte) {}, "stopgate.db: 2 events on 1 subject, sound\n", "", 0},
		"a backup":   {func(t *testing.T, path string, old []byte) { write(t, path, old) }, "start the daemon once", "stopgate: the store has changed since the daemon stopped\n", 1},
		"no head":    {func(t *testing.T, path string, _ []byte) { write(t, heads(path), []byte("x")) }, "the daemon writes it again", "stopgate: the store has changed since the daemon stopped\n", 1},
		"empty":      {func(t *testing.T, path string, _ []byte) { write(t, path, nil) }, "were recorded", "restore a backup", 1},
		"not there":  {func(t *testing.T, path string, _ []byte) { os.Remove(path) }, "were recorded", "restore a backup", 1},
		"never been": {func(t *testing.T, path string, _ []byte) { os.Remove(path); os.Remove(heads(path)) }, "no daemon has run yet", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			t.Setenv("STOPGATE_STATE_DIR", state)
			path := filepath.Join(state, "stopgate.db")
			addEvent(t, path, "one", 0)
			old, err := os.ReadFile(path)
			check(t, err)
			addEvent(t, path, "two", 1)
			test.wrong(t, path, old)
			var out, errOut strings.Builder
			code := storeVerify(false, &out, &errOut)
			if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(errOut.String(), test.errOut) || (test.errOut == "") != (errOut.Len() == 0) {
				t.Errorf("exit %d\n%s\n%s", code, out.String(), errOut.String())
			}
		})
	}
}

func heads(database string) string { return strings.TrimSuffix(database, ".db") + ".heads" }

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	check(t, os.WriteFile(path, data, 0o600))
}

// addEvent is a daemon's short life.
func addEvent(t *testing.T, path, id string, expected store.Position) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	check(t, err)
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: id, Expected: expected}); err != nil {
		t.Fatal(err)
	}
	check(t, s.Close())
}

// In a fleet that cannot be reached, what is sound stays so, and the report says that anchors were not checked.
func TestIssue20VerifyWithoutTheFleet(t *testing.T) {
	state := t.TempDir()
	t.Setenv("STOPGATE_STATE_DIR", state)
	addEvent(t, filepath.Join(state, "stopgate.db"), "one", 0)
	authority, err := member.NewAuthority("home", time.Now())
	check(t, err)
	key, err := member.MakeKey(state)
	check(t, err)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	port := closed.Addr().(*net.TCPAddr).Port
	check(t, closed.Close())
	id := member.Identity{Fleet: "home", Name: "a", User: "ada", Key: key, CA: authority.PEM(), Hubs: []member.Hub{{Host: "127.0.0.1", Port: port}}}
	check(t, id.Save(state))

	var out, errOut strings.Builder
	if code := storeVerify(false, &out, &errOut); code != 0 || !strings.Contains(out.String(), "anchors were not checked") || !strings.Contains(out.String(), "sound") {
		t.Errorf("exit %d\n%s\n%s", code, out.String(), errOut.String())
	}
}
