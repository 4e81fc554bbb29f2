//go:build unix

package gauntlet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var keptAt = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

var must = checktest.OK

// filesIn lists the names in a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names
}

func TestKeptLogsHaveHarmlessNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	log := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(log, []byte("text"), 0o600))
	for _, job := range []string{"check:.:t", "check:.?t", "check:../../x\n\x1b:t", strings.Repeat("x", 300)} {
		path, err := keepLog(dir, log, job, keptAt)
		must(t, err)
		if got, err := os.ReadFile(path); err != nil || string(got) != "text" {
			t.Errorf("%s holds %q (%v)", path, got, err)
		}
	}
	want := []string{
		"20260304T120000.000Z-check_.._.._x___t.log", "20260304T120000.000Z-check_._t.log",
		"20260304T120000.000Z-" + strings.Repeat("x", 191) + "-0d4e2ca9.log", "20260304T120000.001Z-check_._t.log",
	}
	got := filesIn(t, dir)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Of a log that is too long for a month the end is kept. It has no second name in the project.
func TestKeptLogsAreBounded(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(log, []byte("start"+strings.Repeat("x", maxKept)+"end"), 0o600))
	path, err := keepLog(t.TempDir(), log, "check:.:t", keptAt)
	must(t, err)
	got, err := os.ReadFile(path)
	must(t, err)
	if !strings.HasPrefix(string(got), "[… 8 bytes before this are left out]\nxxx") || !strings.HasSuffix(string(got), "xend") || len(got) > maxKept+100 {
		t.Errorf("%d bytes are kept: %.60q", len(got), got)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 || info.Sys().(*syscall.Stat_t).Nlink != 1 {
		t.Errorf("got %+v (%v)", info, err)
	}
}

// A gate can put anything in the place of its log.
func TestKeptLogsAreRegularFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	for name, put := range map[string]func(path string) error{
		"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link":    func(path string) error { return os.Symlink(secret, path) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"nothing": func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
			must(t, put(log))
			if _, err := keepLog(dir, log, "check:.:t", keptAt); err == nil {
				t.Error("it was kept")
			}
			if left := filesIn(t, dir); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}

	// Also if that happens after it was looked at.
	log, kept := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "kept")
	must(t, os.WriteFile(log, nil, 0o600))
	info, err := os.Lstat(log)
	must(t, err)
	must(t, os.Symlink(secret, kept))
	if err := sameFile(kept, info); err == nil {
		t.Error("a link counts as the log")
	}
	if _, err := os.Lstat(kept); !os.IsNotExist(err) {
		t.Errorf("the link is still there (%v)", err)
	}
}

func TestKeptLogsArePruned(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(kept.Dir(state), "p")
	must(t, os.MkdirAll(dir, 0o700))
	put := func(name string, at time.Time) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		must(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	name := func(at time.Time) string { return at.Format(keptTime) + "-check_._t.log" }
	for i := range mostKept + 5 {
		at := keptAt.Add(time.Duration(i) * time.Minute)
		put(name(at), at)
	}
	put(".stopgate-1", keptAt.Add(-time.Hour)) // of a process that may still write it
	now := keptAt.Add(24 * time.Hour)
	PruneLogs(state, now)
	if got := filesIn(t, dir); len(got) != mostKept+1 || got[1] != name(keptAt.Add(5*time.Minute)) {
		t.Errorf("%d are left, the first two %q", len(got), got[:2])
	}

	PruneLogs(state, keptAt.Add(keptFor+6*time.Minute))
	if got := filesIn(t, dir); len(got) != mostKept-1 || got[0] != name(keptAt.Add(6*time.Minute)) {
		t.Errorf("%d are left, the first %q", len(got), got[0])
	}
	PruneLogs(state, now.Add(keptFor))
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there (%v)", err)
	}
}

// BenchmarkKeepLogs is what ten gates cost a stop, in a project that has as many logs as it may.
func BenchmarkKeepLogs(b *testing.B) {
	state, logs := b.TempDir(), b.TempDir()
	gates := make([]GateResult, 10)
	for i := range gates {
		gates[i] = GateResult{Job: fmt.Sprintf("check:.:t%d", i), Log: filepath.Join(logs, fmt.Sprint(i))}
		must(b, os.WriteFile(gates[i].Log, make([]byte, 10_000), 0o600))
	}
	now := keptAt
	e := &execution{Options: Options{StateDir: state, Project: &keeper.Project{Root: "/p"}, Now: func() time.Time { return now }}}
	for range mostKept / len(gates) {
		now = now.Add(time.Second)
		e.keepLogs(gates)
	}
	for b.Loop() {
		now = now.Add(time.Second)
		e.keepLogs(gates)
	}
}
