//go:build unix

package conformance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFaultConfigThatIsADirectory(t *testing.T) {
	t.Parallel()
	g := bare(t)
	check(t, os.MkdirAll(g.path(".gauntlet/config.yml"), 0o700))
	g.stop().is(t, "no_config")
	g.remove(".gauntlet/config.yml")
	g.write(".gauntlet/config.yml", theCheck)
	g.worksAgain()
}

// Places that refuse writes, for root too, and how to make them well again.
func TestFaultLogDirectoryThatRefusesWrites(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(g *gated, dir string){
		"a file":           func(g *gated, dir string) { spill(g.t, dir, "in the way") },
		"a link to a file": func(g *gated, dir string) { link(g.t, g.path("work.txt"), dir) },
		"a loop":           func(g *gated, dir string) { link(g.t, dir, dir) },
		"read-only":        readOnly,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			dir := g.path("gauntlet_logs")
			place(g, dir)
			a := g.stop()
			a.is(t, "passed") // where the logs are says nothing about the work
			contains(t, a.SystemMessage, "the logs of this run are in")
			_ = os.Chmod(dir, 0o700)
			removeAll(t, dir)
			g.worksAgain()
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	check(t, os.Symlink(to, at))
}

// readOnly makes a directory in which nobody can write: /proc, for root, and one
// without the permission for everybody else.
func readOnly(g *gated, dir string) {
	g.t.Helper()
	if os.Geteuid() == 0 {
		link(g.t, "/proc/self", dir)
		return
	}
	check(g.t, os.Mkdir(dir, 0o500))
}

func TestFaultStateDirectoryThatRefusesWrites(t *testing.T) {
	g := newGated(t, theCheck)
	spill(t, g.beside("state"), "in the way")
	g.set("STOPGATE_STATE_DIR=" + g.beside("state"))
	a := g.stop()
	if a.Decision != "approve" || a.SystemMessage == "" {
		t.Errorf("%s", a.stdout)
	}
	removeAll(t, g.beside("state"))
	g.worksAgain()
}

// A disk that is full: no file can grow by a single byte. Everything that the hook
// starts meets the same.
func TestFaultFullDisk(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*gated){
		"from the start": func(*gated) {},
		"later":          func(g *gated) { g.stop().is(g.t, "passed"); g.write("work.txt", "more\n") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, strings.Replace(theCheck, `echo run >> "$RUNS"; `, "", 1))
			prepare(g)
			cmd := exec.Command("sh", "-c", `ulimit -f 0 && exec "$@"`, "sh", stopgate, "stop-hook")
			cmd.Dir, cmd.Env = g.root, g.env
			a := understand(t, await(t, cmd, bytes.NewReader(g.stopPayload(nil))))
			a.is(t, "infrastructure_error")
			if a.SystemMessage == "" {
				t.Error("nobody is told")
			}
			g.worksAgain()
		})
	}
}

// A disk that is full for real, where this process may mount one: a small file
// system over the log directory or the state directory, in a name space that ends
// with the hook. The test above does without.
func TestFaultFullFileSystem(t *testing.T) {
	t.Parallel()
	if exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("no mounts here; TestFaultFullDisk stands alone")
	}
	for _, where := range []string{"project/gauntlet_logs", "home/.local/state"} {
		for name, mount := range map[string]string{
			"full":      `mount -t tmpfs -o size=32k none "$1"; cat /dev/zero > "$1/filler"`,
			"read-only": `mount -t tmpfs -o ro none "$1"`,
		} {
			t.Run(where+" "+name, func(t *testing.T) {
				g := newGated(t, theCheck)
				check(t, os.MkdirAll(g.beside(where), 0o700))
				cmd := exec.Command("unshare", "-m", "sh", "-c", "{ "+mount+`; } 2> /dev/null; shift; exec "$@"`, "sh", g.beside(where), stopgate, "stop-hook")
				cmd.Dir, cmd.Env = g.root, g.env
				a := understand(t, await(t, cmd, bytes.NewReader(g.stopPayload(nil))))
				a.is(t, "passed") // the gate could run; it is only not remembered, or logged elsewhere
				if a.SystemMessage == "" {
					t.Error("nobody is told")
				}
				g.worksAgain()
			})
		}
	}
}

// Nobody knows what a damaged ledger held, so every gate runs, whatever changed.
func TestFaultDamagedLedger(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"half":        func(path string) error { return os.Truncate(path, 40) },
		"empty":       func(path string) error { return os.Truncate(path, 0) },
		"another one": func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			g.write("bad", "")
			g.stop().is(t, "failed")
			g.commit("hide it")
			g.git("branch", "-f", "main", "HEAD")
			files, err := filepath.Glob(filepath.Join(g.home, ".local/state/stopgate/ledger/*/ledger.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%q, %v", files, err)
			}
			check(t, damage(files[0]))
			g.stop().is(t, "failed")
			g.remove("bad")
			g.stop().is(t, "passed")
		})
	}
}

// "git clean -fdx" is a common first line of a check. The log directory is ignored,
// so it goes too, with the lock in it.
func TestFaultAGateThatDeletesTheLogDirectory(t *testing.T) {
	g := newGated(t, strings.ReplaceAll(theCheck, "test ! -e bad", "rm -rf gauntlet_logs; test ! -e bad"))
	g.stop().is(t, "passed")
	g.worksAgain()
	if g.state() == nil {
		t.Errorf("no state: %q", g.logs())
	}
}

// What somebody puts in place of a file that we read must not hold us.
func TestFaultPipesInPlaceOfFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"project/.gauntlet/config.yml":             "error",
		"project/.gauntlet/checks/x.yml":           "error",
		"home/.config/agent-gauntlet/config.yml":   "untrusted", // what it says cannot be known
		"project/gauntlet_logs/.execution_state":   "passed",
		"project/gauntlet_logs/.gauntlet-run.lock": "lock_exists",
		"project/pipe": "passed",
		"home/.local/state/stopgate/reviewers.json": "passed",
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			g.set("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES=10")
			path := g.beside(name)
			removeAll(t, path)
			check(t, os.MkdirAll(filepath.Dir(path), 0o700))
			check(t, syscall.Mkfifo(path, 0o600))
			g.stop().is(t, want)
		})
	}
}
