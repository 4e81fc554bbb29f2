package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// TestMain keeps the tests away from the home directory of whoever runs them.
func TestMain(m *testing.M) {
	environtest.Clean()
	dir, err := os.MkdirTemp("", "settings")
	if err != nil {
		panic(err)
	}
	environtest.MoveHome(filepath.Join(dir, "home"))
	os.Setenv("STOPGATE_STATE_DIR", filepath.Join(dir, "state"))
	if err := link(filepath.Join(dir, "bin")); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// living is a stopgate that is alive, as are these names on the PATH: they lead to this binary.
var living string

func link(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"stopgate", "agent-gauntlet"} {
		if err := alias(self, filepath.Join(dir, name+suffix)); err != nil {
			return err
		}
	}
	living = filepath.ToSlash(filepath.Join(dir, "stopgate"+suffix))
	return os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// alias gives a program another name. Not every user of Windows may make symbolic links.
func alias(program, path string) error {
	if runtime.GOOS == "windows" {
		return os.Link(program, path)
	}
	return os.Symlink(program, path)
}

// suffix ends the name of a program's file.
var suffix = map[string]string{"windows": ".exe"}[runtime.GOOS]

// programDir is a directory for names of this program. Windows removes none of them while it runs.
func programDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(living), "")
	check(t, err)
	return filepath.ToSlash(dir)
}

// entry has the form that was installed before Call: short enough to be read in tests of what
// happens around it.
func entry(event hook.Event) Entry {
	return Entry{
		Event:   event,
		Command: "/opt/bin/stopgate",
		Args:    []string{"hook", string(event)},
		Timeout: DefaultTimeout(event),
	}
}

// settingsPath is a settings file that is not there yet, with this content if any.
func settingsPath(t testing.TB, content ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".claude", "settings.json")
	for _, text := range content {
		put(t, path, text)
	}
	return path
}

var (
	put    = checktest.Write
	get    = checktest.Read
	exists = checktest.Exists
)

func mustInstall(t testing.TB, path string, entries ...Entry) bool {
	t.Helper()
	changed, err := Install(path, entries)
	if err != nil {
		t.Fatalf("install: %v", err)
	}
	return changed
}

func mustUninstall(t testing.TB, path string) bool {
	t.Helper()
	changed, err := Uninstall(path)
	if err != nil {
		t.Fatalf("uninstall: %v", err)
	}
	return changed
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func entriesIn(path string) []Entry {
	return inspect(location{User, path}).Entries
}

func entriesOf(d document) (all []Entry) {
	for _, p := range d.find(Entry.ours) {
		all = append(all, p.entry)
	}
	return all
}

const longAgo = "2001-02-03T04:05:06Z"

func old(t testing.TB, path string) time.Time {
	t.Helper()
	when, _ := time.Parse(time.RFC3339, longAgo)
	check(t, os.Chtimes(path, when, when))
	return when
}
