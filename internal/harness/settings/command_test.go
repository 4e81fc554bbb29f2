package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// What is written is read again, whatever the path.
func TestE14CallsAreReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := Call{
			Program: rapid.SampledFrom([]string{"", "/opt/", "/it's/a b/", "/; exec /", `/"$x"/`, "/ü/[ -x /"}).Draw(rt, "dir") + Program,
			Event:   rapid.SampledFrom(hook.Events()).Draw(rt, "event"),
			Timeout: time.Duration(rapid.Int64Range(1, 1e6).Draw(rt, "seconds")) * time.Second,
			For:     rapid.SampledFrom([]string{"", "claude"}).Draw(rt, "for"),
		}
		e := newEntry(want)
		if got := e.Call(); got != want || !e.Current() || !e.callsHook() {
			rt.Fatalf("%+v became %+v, current is %v", want, got, e.Current())
		}
	})
}

// Only what we write is exactly ours.
func TestE16WhichEntriesAreCurrent(t *testing.T) {
	current := Call{Program, hook.Stop, time.Minute, ""}.Line()
	for command, want := range map[string]bool{
		current:                      true,
		current + " ":                false,
		current + "; rm -rf x":       false,
		"rm -rf x; " + current:       false,
		"stopgate hook Stop":         false,
		"stopgate hook Stop --later": false,
		strings.Replace(current, "exit 0", "curl x | sh", 1):                  false,
		strings.Replace(current, "hook Stop", "hook SubagentStop", 1):         false,
		strings.Replace(current, "command -v stopgate", "command -v evil", 1): false,
	} {
		if got := (Entry{Event: hook.Stop, Command: command}).Current(); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
	if (Entry{Event: hook.Stop, Command: current, Args: []string{"x"}}).Current() {
		t.Error("with arguments")
	}
}

// Entries that resolve to this binary are ours by whatever name; those of other tools and of
// another program of our name are not.
func TestE17OursResolvesToThisBinary(t *testing.T) {
	dir := programDir(t)
	self, err := os.Executable()
	check(t, err)
	for _, name := range []string{"conclaude", "sg2"} {
		check(t, alias(self, filepath.Join(dir, name+suffix)))
	}
	check(t, os.Mkdir(filepath.Join(dir, "other"), 0o755))
	for _, name := range []string{"conclaude", "stopgate", "ccc"} {
		check(t, os.WriteFile(filepath.Join(dir, "other", name+suffix), []byte("#!/bin/sh\n"), 0o755))
	}
	t.Setenv("DIR", dir)
	t.Setenv("PATH", filepath.Join(dir, "other"))
	for command, want := range map[string]bool{
		dir + "/conclaude Stop":          true,
		dir + "/sg2 hook Stop":           true,
		`"$DIR/sg2" hook Stop`:           true,
		dir + "/sg2 Stop":                false,
		dir + "/other/conclaude Stop":    false,
		dir + "/other/stopgate hook":     false,
		dir + "/other/ccc hook Stop":     false,
		dir + "/gone/conclaude Stop":     false,
		dir + "/gone/stopgate hook":      true,
		dir + "/other/stopgate hook x y": false,
		Call{dir + "/other/stopgate", hook.Stop, time.Minute, ""}.Line(): false,
		Call{dir + "/gone/stopgate", hook.Stop, time.Minute, ""}.Line():  true,
		Call{Program, hook.Stop, time.Minute, ""}.Line():                 true,
		"stopgate hook Stop": false, // of another stopgate
	} {
		e := Entry{Event: hook.Stop, Command: command}
		if e.Living() && !strings.HasPrefix(command, dir) && command[0] != '"' {
			t.Errorf("%s: another program is taken for this one", command)
		}
		if got := e.ours(); got != want {
			t.Errorf("%s: ours is %v", command, got)
		}
	}
}

// What other tools have in a settings file stays, to the byte, through all that we do with it.
func TestE17OtherToolsStay(t *testing.T) {
	const theirs = `{"hooks": {
  "Stop": [{"hooks": [{"type": "command", "command": "conclaude Stop"}, {"type": "command", "command": "ccc supervisor-hook"}]}],
  "SubagentStop": [{"hooks": [{"type": "command", "command": "/opt/conclaude", "args": ["SubagentStop"]}]}],
  "SessionStart": [{"hooks": [{"type": "command", "command": "agent-gauntlet stop-hook"}, {"type": "command", "command": "bd prime"}]}]
}}`
	path := settingsPath(t, theirs)
	if mustUninstall(t, path) {
		t.Error("there was nothing of ours")
	}
	same(t, "uninstalled at once", get(t, path), theirs)
	mustInstall(t, path, Plan(living, nil, nil, 0)...)
	for _, line := range []string{`"conclaude Stop"`, `"ccc supervisor-hook"`, `"/opt/conclaude", "args": ["SubagentStop"]`, `"agent-gauntlet stop-hook"`, `"bd prime"`} {
		if !strings.Contains(get(t, path), line) {
			t.Errorf("installing took %s", line)
		}
	}
	mustUninstall(t, path)
	same(t, "uninstalled", get(t, path), theirs)

	// Without a backup, as in a clone, the content is the same.
	mustInstall(t, path, Plan(living, nil, nil, 0)...)
	check(t, os.Remove(path+".stopgate-backup"))
	mustUninstall(t, path)
	same(t, "uninstalled in a clone", get(t, path), theirs)
}

// A file and a folder that we did not make stay.
func TestE17OthersFilesStay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".claude", "settings.json")
	check(t, os.Mkdir(filepath.Dir(path), 0o755))
	mustInstall(t, path, Plan(living, nil, nil, 0)...)
	ours := get(t, path)
	mustUninstall(t, path)
	if exists(path) || !exists(filepath.Dir(path)) {
		t.Error("of what was there before, only the folder was")
	}

	put(t, path, ours) // as in a clone
	mustUninstall(t, path)
	same(t, "somebody else's file", get(t, path), "{}\n")

	path = filepath.Join(dir, "a", "b", "settings.json")
	mustInstall(t, path, Plan(living, nil, nil, 0)...)
	mustUninstall(t, path)
	if exists(filepath.Join(dir, "a")) {
		t.Error("folders that we made are left behind")
	}
}

// An entry of the form before this one becomes one of today's, where it stands.
func TestInstallUpgrades(t *testing.T) {
	path := settingsPath(t, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"`+living+`","args":["hook","Stop"],"timeout":1800,"shell":"powershell"}]}]}}`)
	old := entriesIn(path)
	if len(old) != 1 || old[0].Current() {
		t.Fatalf("before: %+v", old)
	}
	plan := Plan(living, nil, old, 0)
	mustInstall(t, path, plan...)
	found := false
	for _, e := range entriesIn(path) {
		found = found || e.Event == hook.Stop
		if !e.Current() || e.Status == "" || e.Timeout != e.Call().Timeout || len(e.Spoilt) > 0 {
			t.Errorf("%+v", e)
		}
		if e.Event == hook.Stop && e.Timeout != 30*time.Minute {
			t.Errorf("the person's own timeout became %v", e.Timeout)
		}
	}
	if !found || strings.Contains(get(t, path), `"args"`) || !strings.Contains(get(t, path), `{"type":"command","command":"a"}`) {
		t.Error(get(t, path))
	}
	if mustInstall(t, path, plan...) {
		t.Error("installed twice")
	}
	for _, e := range Plan(living, nil, old, 40*time.Minute) {
		if want := 40 * time.Minute; e.Event.Loops() && e.Timeout != want {
			t.Errorf("%s has %v, not what a person asked for", e.Event, e.Timeout)
		}
	}
}

// sh runs a command line as the client does.
func sh(t testing.TB, line string, env ...string) string {
	t.Helper()
	cmd := exec.Command(environtest.Need(t, "sh"), "-c", line)
	cmd.Env = append(env, "PATH=/usr/bin:/bin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// Where the program is missing no event fails or prints a text, but for one line: once to a
// teammate who has never had it, at every stop to the person who installed it.
func TestE22AMissingProgramHarmsNothing(t *testing.T) {
	home := t.TempDir()
	var said []string
	for range 2 {
		for _, e := range Plan(Program, nil, nil, 0) {
			if out := sh(t, e.Command, "HOME="+home); out != "" {
				said = append(said, string(e.Event)+": "+out)
			}
		}
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], `SessionStart: {"systemMessage":"`) || !strings.Contains(said[0], "go install ") || strings.Count(said[0], "\n") != 1 {
		t.Errorf("a teammate sees %q", said)
	}
	for _, env := range []string{"HOME=/dev/null", "X=no home"} {
		for _, e := range Plan(Program, nil, nil, 0) {
			if out := sh(t, e.Command, env); out != "" {
				t.Errorf("%s, with %s: %q", e.Event, env, out)
			}
		}
	}
	for _, e := range Plan("/it's gone/stopgate", nil, nil, 0) {
		out := sh(t, e.Command, "HOME="+home)
		if stops := e.Event == hook.Stop; stops != strings.HasPrefix(out, `{"systemMessage":"stopgate was moved`) || !stops && out != "" {
			t.Errorf("%s: %q", e.Event, out)
		}
	}
}

// The guard calls the program with the arguments and the standard input that it got.
func TestE14TheGuardCallsTheProgram(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a bin")
	check(t, os.Mkdir(dir, 0o755))
	program := filepath.Join(dir, Program)
	check(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\"; cat; exit 3\n"), 0o755))
	for _, call := range []Call{{program, hook.Stop, 20 * time.Minute, ""}, {Program, hook.SessionStart, 90 * time.Second, "claude"}} {
		cmd := exec.Command(environtest.Need(t, "sh"), "-c", call.Line())
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin"}
		cmd.Stdin = strings.NewReader("payload")
		out, err := cmd.Output()
		if want := strings.Join(call.arguments(), " ") + "\npayload"; string(out) != want || cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("%q, %v", out, err)
		}
	}
}

// What the shell and its guard cost a hook, compared with BenchmarkDirect.
func BenchmarkGuard(b *testing.B) {
	line := Call{"/bin/true", hook.Stop, 20 * time.Minute, ""}.Line()
	for b.Loop() {
		check(b, exec.Command("/bin/sh", "-c", line).Run())
	}
}

func BenchmarkDirect(b *testing.B) {
	for b.Loop() {
		check(b, exec.Command("/bin/true", "hook", "Stop").Run())
	}
}

// What is written in any other way is not started without a shell.
func TestExactly(t *testing.T) {
	for command, want := range map[string]bool{
		ShellCommand(living, "hook", "Stop"):                  true,
		ShellCommand(living, "hook", "SubagentStop"):          false,
		ShellCommand(living) + "  hook Stop":                  false,
		ShellCommand(living, "hook", "Stop") + " 2>log":       false,
		"cd x; " + ShellCommand(living, "hook", "Stop"):       false,
		ShellCommand("/gone/stopgate", "hook", "Stop"):        false,
		Call{living, hook.Stop, time.Minute, ""}.Line():       true,
		Call{living, hook.Stop, time.Minute, ""}.Line() + " ": false,
	} {
		if args, exact := (Entry{Event: hook.Stop, Command: command}).Exactly(); exact != want {
			t.Errorf("%s: %t, %q", command, exact, args)
		}
	}
}
