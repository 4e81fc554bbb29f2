//go:build unix

package launch

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/process"
)

func TestPlainLaunch(t *testing.T) {
	p := newPlace(t, `{"providers":{"glm":{"env":{"ANTHROPIC_AUTH_TOKEN":"$TOKEN"}}},"claude_args":["--verbose"]}`)
	p.environ = append(p.environ, "TOKEN=t", "ANTHROPIC_API_KEY=old", IDVariable+"=01ARZ3NDEKTSV4RRFFQ69G5FAV", "CCC_SUPERVISOR=true")
	plan := p.prepare("glm", "-p", "glm", "--", "x")
	want := []string{"claude", "--verbose", "-p", "glm", "--", "x"}
	if diff := cmp.Diff(want, plan.Args); diff != "" {
		t.Error(diff)
	}
	if plan.Path != filepath.Join(p.clients, "claude") {
		t.Errorf("the client is %s", plan.Path)
	}
	if value, _ := variable(plan, "ANTHROPIC_AUTH_TOKEN"); value != "t" {
		t.Errorf("the token is %q", value)
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", IDVariable, capVariable, "CLAUDE_CONFIG_DIR"} {
		if value, found := variable(plan, name); found {
			t.Errorf("%s is %q", name, value)
		}
	}
	if exists(p.settings) || p.stderr.Len() > 0 {
		t.Errorf("a plain launch wrote settings or %q", p.stderr.String())
	}
	if got := read(t, p.config); !strings.Contains(got, `"current_provider": "glm"`) && !strings.Contains(got, `"current_provider":"glm"`) {
		t.Errorf("the choice is not saved: %s", got)
	}
}

// The client is the same process, with the same exit code, and standard output is
// its own.
func TestExec(t *testing.T) {
	p := newPlace(t, plainConfig).supervised()
	p.client("#!/bin/sh\necho $$\nexit 7\n")
	cmd := p.start("glm")
	var out strings.Builder
	cmd.Stdout = &out
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 7 {
		t.Fatalf("%v", err)
	}
	var pid int
	if err := json.Unmarshal([]byte(out.String()), &pid); err != nil || pid != cmd.Process.Pid {
		t.Errorf("standard output is %q, the process %d", out.String(), cmd.Process.Pid)
	}
}

func TestArgumentsArriveUntouched(t *testing.T) {
	p := newPlace(t, plainConfig)
	args := []string{"-p", "two words", "", "new\nline", "--settings", "--", "$HOME", "ä"}
	if _, stderr, code := p.run(append([]string{"glm"}, args...)...); code != 7 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	record := strings.TrimSuffix(filepath.Join(filepath.Dir(p.home), "record"), "/")
	if diff := cmp.Diff(strings.Join(args, "\n")+"\n", read(t, record+".args")); diff != "" {
		t.Error(diff)
	}
}

type entryJSON struct {
	Type, Command string
	Timeout       float64
}

// stopEntries are those in the settings file.
func (p *place) stopEntries() (all []entryJSON) {
	p.t.Helper()
	var file struct {
		Hooks map[string][]struct{ Hooks []entryJSON }
	}
	must(p.t, json.Unmarshal([]byte(read(p.t, p.settings)), &file))
	for _, group := range file.Hooks["Stop"] {
		all = append(all, group.Hooks...)
	}
	return all
}

func TestSupervisedLaunch(t *testing.T) {
	p := newPlace(t, `{"providers":{"glm":{}},"supervisor":{"max_iterations":20,"timeout_seconds":30}}`).supervised()
	plan := p.prepare("glm")
	want := []entryJSON{{"command", p.ccc() + " supervisor-hook", 90}}
	if diff := cmp.Diff(want, p.stopEntries()); diff != "" {
		t.Error(diff)
	}
	if slices.Contains(plan.Args, "--settings") {
		t.Errorf("argv is %q", plan.Args)
	}
	id, _ := variable(plan, IDVariable)
	rec, err := NewRegistry(p.state).load(id)
	if err != nil || rec.Claude != process.Self() || rec.Settings != resolved(p.settings) {
		t.Errorf("the launch is on record as %+v, %v", rec, err)
	}
	for name, want := range map[string]string{SupervisorVariable: "1", capVariable: "28"} {
		if got, _ := variable(plan, name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	state := filepath.Join(p.dir, "ccc")
	lines := "[Supervisor Mode] 日志文件: · log files:\n  " + state + "\n  " + state + "/hook-invocation.log\n  " + state + "/supervisor-<session_id>-output.jsonl\n"
	if diff := cmp.Diff(lines, p.stderr.String()); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]fs.FileMode{
		state: 0o700, p.settings: 0o600, p.state: 0o700, filepath.Join(p.state, "launches"): 0o700, NewRegistry(p.state).path(id): 0o600,
		filepath.Join(p.state, "launches", launchLock): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestBlockCap(t *testing.T) {
	for given, want := range map[string]string{"": "18", "8": "18", "10": "18", "11": "11", "0": "0", "-1": "-1", "x": "18"} {
		p := newPlace(t, plainConfig).supervised()
		if given != "" {
			p.environ = append(p.environ, capVariable+"="+given)
		}
		if got, _ := variable(p.prepare(), capVariable); got != want {
			t.Errorf("%q became %q, not %q", given, got, want)
		}
	}
}

func TestLimitOfTheGlobalConfig(t *testing.T) {
	p := newPlace(t, plainConfig).supervised()
	o := p.options()
	o.GlobalConfig = write(t, "supervisor:\n  max_iterations: 50\n  timeout_seconds: 100\n", p.home, "config.yml")
	plan, err := Prepare(o)
	must(t, err)
	if got, _ := variable(plan, capVariable); got != "58" || p.stopEntries()[0].Timeout != 160 {
		t.Errorf("the cap is %s, the timeout %v", got, p.stopEntries()[0].Timeout)
	}
}

func TestOnlyOneSupervises(t *testing.T) {
	for value, want := range map[string]bool{"1": true, "": false, "0": false, "true": false, "1 ": false, "01": false} {
		p := newPlace(t, plainConfig)
		p.environ = append(p.environ, SupervisorVariable+"="+value)
		p.prepare()
		if exists(p.settings) != want {
			t.Errorf("%q: supervised is %t", value, !want)
		}
	}
}

// The second launch finds everything as it must be, and writes nothing.
func TestSecondLaunchWritesNothing(t *testing.T) {
	p := newPlace(t, `{"settings":{"model":"opus","permissions":{"allow":["Read"]}},"providers":{"glm":{}}}`)
	write(t, "{\n    \"permissions\": {\"deny\": [\"Bash\"]}, \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n", p.settings)
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, supervised := range []bool{false, true} {
		if supervised {
			p.supervised()
		}
		p.prepare("glm")
		before := read(t, p.settings)
		memories, _ := filepath.Glob(filepath.Join(p.state, "launches", "settings-*.json"))
		if len(memories) != 1 {
			t.Fatalf("remembered in %q", memories)
		}
		all := append(memories, p.settings, p.config)
		for _, path := range all {
			must(t, os.Chtimes(path, long, long))
		}
		p.prepare("glm")
		if diff := cmp.Diff(before, read(t, p.settings)); diff != "" {
			t.Error(diff)
		}
		for _, path := range all {
			if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(long) {
				t.Errorf("%s was written again", path)
			}
		}
	}
}

func TestPlainLaunchAfterSupervised(t *testing.T) {
	const mine = "{\n  \"model\": \"opus\", \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n"
	p := newPlace(t, plainConfig)
	write(t, mine, p.settings)
	plain := p.environ
	p.supervised()
	id, _ := variable(p.prepare(), IDVariable) // of this process, which lives
	p.environ = plain
	p.prepare()
	if len(p.stopEntries()) != 2 {
		t.Errorf("the entry went while a supervised client lives: %s", read(t, p.settings))
	}
	r := NewRegistry(p.state)
	rec, err := r.load(id)
	must(t, err)
	rec.Claude.Start += "0" // now it is gone
	must(t, r.store(id, rec))
	p.prepare()
	if diff := cmp.Diff(mine, read(t, p.settings)); diff != "" {
		t.Error(diff)
	}
	if exists(r.path(id)) {
		t.Error("the record of a client that is gone is still there")
	}
}

// A supervised client with another settings file does not keep the entry in this one.
func TestSupervisedElsewhere(t *testing.T) {
	p := newPlace(t, plainConfig)
	plain := p.environ
	if _, _, code := p.supervised().run(); code != 7 {
		t.Fatal("exit", code)
	}
	p.environ = plain
	r := NewRegistry(p.state)
	must(t, r.store(journal.NewID(), record{Claude: process.Self(), Settings: "/elsewhere/settings.json"}))
	p.prepare()
	if exists(p.settings) {
		t.Errorf("the entry is still there: %s", read(t, p.settings))
	}
}

func TestMalformedSettings(t *testing.T) {
	const broken = "{\n  \"hooks\": supervisor-hook\n}"
	p := newPlace(t, plainConfig)
	for text, want := range map[string]string{"{\n  \"a\": 1,\n}": ":3:1: ", "[]": ":1:1: ", "": "", "{}": ""} {
		write(t, text, p.settings)
		p.prepare()
		if got := p.stderr.String(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: warned by %q", text, got)
		}
	}
	write(t, broken, p.settings)
	p.prepare()
	if got := p.stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, p.settings+":2:12: ") {
		t.Errorf("warned by %q", got)
	}
	_, err := Prepare(p.supervised().options())
	if err == nil || !strings.Contains(err.Error(), p.settings+":2:12: ") {
		t.Errorf("got %v", err)
	}
	if _, isConfig := errors.AsType[ConfigError](err); isConfig {
		t.Error("this is no fault of ccc.json")
	}
	if got := read(t, p.settings); got != broken {
		t.Errorf("the file became %s", got)
	}
	if living := NewRegistry(p.state).sweep(); len(living) > 0 {
		t.Errorf("on record, though it did not start: %+v", living)
	}
}

func TestWithoutAStateDirectory(t *testing.T) {
	const merging = `{"providers":{"glm":{"model":"x"}}}`
	for _, tt := range []struct {
		name, config, state string
		supervised          bool
		err                 bool
	}{
		{"plain, none", plainConfig, "", false, false},
		{"plain, a file in its place", plainConfig, "file", false, false},
		{"with settings, none", merging, "", false, true},
		{"with settings, a file in its place", merging, "file", false, true},
		{"supervised, none", plainConfig, "", true, true},
		{"supervised, a file in its place", plainConfig, "file", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t, tt.config)
			if tt.supervised {
				p.supervised()
			}
			write(t, "", p.state) // a file
			o := p.options("glm")
			if tt.state == "" {
				o.StateDir = ""
			}
			plan, err := Prepare(o)
			if (err != nil) != tt.err {
				t.Errorf("%v, %v", plan, err)
			}
			if err == nil && !strings.Contains(p.stderr.String(), "warning: ") {
				t.Errorf("no warning: %q", p.stderr.String())
			}
			if exists(p.settings) {
				t.Errorf("wrote %s", read(t, p.settings))
			}
		})
	}
}

// A choice that cannot be saved keeps no client from starting.
func TestChoiceThatCannotBeSaved(t *testing.T) {
	p := newPlace(t, plainConfig)
	write(t, "", p.state)
	p.prepare("glm")
	if got := p.stderr.String(); !strings.Contains(got, "cannot save the choice of glm") {
		t.Errorf("warned by %q", got)
	}
}

func TestSwitchingProviders(t *testing.T) {
	p := newPlace(t, `{
		"settings": {"permissions": {"allow": ["Read"]}, "theme": "dark", "env": {"A": "1"}},
		"providers": {"glm": {"model": "glm", "permissions": {"ask": ["Bash"]}, "theme": "light"}, "kimi": {"model": "kimi"}, "plain": {}}
	}`)
	const mine = "{\n  \"theme\": \"mine\",\n  \"permissions\": {\"deny\": [\"Write\"]}\n}\n"
	write(t, mine, p.settings)
	for _, tt := range []struct{ provider, want string }{
		{"glm", `{"model":"glm","permissions":{"allow":["Read"],"ask":["Bash"],"deny":["Write"]},"theme":"mine"}`},
		{"kimi", `{"model":"kimi","permissions":{"allow":["Read"],"deny":["Write"]},"theme":"mine"}`},
		{"plain", `{"permissions":{"allow":["Read"],"deny":["Write"]},"theme":"mine"}`},
		{"glm", `{"model":"glm","permissions":{"allow":["Read"],"ask":["Bash"],"deny":["Write"]},"theme":"mine"}`},
	} {
		p.prepare(tt.provider)
		var got any
		must(t, json.Unmarshal([]byte(read(t, p.settings)), &got))
		if text, _ := json.Marshal(got); string(text) != tt.want {
			t.Errorf("%s: %s", tt.provider, text)
		}
	}
	write(t, `{"providers":{"plain":{}}}`, p.config)
	p.prepare("plain")
	if diff := cmp.Diff(mine, read(t, p.settings)); diff != "" {
		t.Error(diff)
	}
	if left, _ := filepath.Glob(filepath.Join(p.state, "launches", "settings-*.json")); len(left) > 0 {
		t.Errorf("still remembered: %s", read(t, left[0]))
	}
}

// What a person changed since, or had before, is theirs.
func TestSwitchKeepsThePersonsOwn(t *testing.T) {
	p := newPlace(t, `{"providers":{"glm":{"model":"glm","theme":"dark"},"plain":{}}}`)
	write(t, `{"theme":"dark"}`, p.settings)
	p.prepare("glm")
	write(t, strings.Replace(read(t, p.settings), `"glm"`, `"changed"`, 1), p.settings)
	p.prepare("plain")
	var got map[string]any
	must(t, json.Unmarshal([]byte(read(t, p.settings)), &got))
	if diff := cmp.Diff(map[string]any{"theme": "dark", "model": "changed"}, got); diff != "" {
		t.Error(diff)
	}
}

// A launch that is killed between its two files leaves nothing behind for ever, and
// takes nothing of the person's.
func TestKilledBetweenTheFiles(t *testing.T) {
	p := newPlace(t, `{"providers":{"glm":{"model":"glm","theme":"dark","x":{"y":1}},"plain":{}}}`)
	const mine = `{"theme":"dark"}`
	write(t, mine, p.settings)
	m, err := NewRegistry(p.state).memoryOf(p.settings)
	must(t, err)
	wanted := Object{}
	must(t, json.Unmarshal([]byte(`{"model":"glm","theme":"dark","x":{"y":1}}`), &wanted))
	must(t, m.store(additions(readSettingsFile(p.settings).members, wanted, nil)))
	for name, text := range map[string]string{"before the settings": mine, "behind the settings": `{"theme":"dark","model":"glm","x":{"y":1}}`} {
		write(t, text, p.settings)
		memory := read(t, m.file)
		p.prepare("plain")
		var got any
		must(t, json.Unmarshal([]byte(read(t, p.settings)), &got))
		if text, _ := json.Marshal(got); string(text) != mine {
			t.Errorf("killed %s: %s", name, text)
		}
		write(t, memory, m.file)
	}
}

// What is to be put into the settings is on record before it is there, and what the
// person has of it is not.
func TestMemoryComesFirst(t *testing.T) {
	for text, want := range map[string]string{
		`{"theme":"dark","hooks":5}`: `[{"path":["model"],"value":["g\u003cm"]}]`,
		`{"theme":"dark",}`:          "",
	} {
		p := newPlace(t, `{"providers":{"glm":{"model": [ "g<m" ],"theme":"dark"}}}`)
		write(t, text, p.settings)
		p.prepare("glm") // which warns that it cannot change such a file
		p.prepare("glm")
		m, err := NewRegistry(p.state).memoryOf(p.settings)
		must(t, err)
		got := ""
		if len(m.Put) > 0 {
			text, _ := json.Marshal(m.Put)
			got = string(text)
		}
		if got != want || p.stderr.Len() == 0 {
			t.Errorf("%s: remembered %s; said %q", text, got, p.stderr.String())
		}
	}
}

func TestDirectoriesAreMadeAbsolute(t *testing.T) {
	p := newPlace(t, "")
	t.Chdir(p.project)
	write(t, plainConfig, p.project, "cfg", ConfigFile)
	p.environ = append(p.environ, "CCC_CONFIG_DIR=cfg", "CCC_WORK_DIR=./state", "CLAUDE_CONFIG_DIR=/elsewhere", "STOPGATE_STATE_DIR=s", "OJ_STATE_DIR=oj")
	plan := p.supervised().prepare("glm")
	for name, want := range map[string]string{"CCC_CONFIG_DIR": "cfg", "CLAUDE_CONFIG_DIR": "cfg", "CCC_WORK_DIR": "state", "STOPGATE_STATE_DIR": "s", "OJ_STATE_DIR": "oj"} {
		if got, _ := variable(plan, name); got != filepath.Join(p.project, want) {
			t.Errorf("%s is %s", name, got)
		}
	}
	if !exists(filepath.Join(p.project, "cfg", "settings.json")) || !strings.Contains(p.stderr.String(), "\n  "+p.project+"/state/ccc\n") {
		t.Errorf("not there: %s", p.stderr.String())
	}
}

func TestClientThatCannotBe(t *testing.T) {
	self, _ := os.Executable()
	for _, tt := range []struct {
		name, client, variable, want string
	}{
		{"named, not there", "", "CCC_CLAUDE=/none/claude", "CCC_CLAUDE"},
		{"named, not executable", "", "CLAUDE_BIN=/etc/passwd", "CLAUDE_BIN"},
		{"ourselves by a variable", "", "CCC_CLAUDE=" + self, "is stopgate itself"},
		{"ourselves on the PATH", self, "X=", "is stopgate itself"},
		{"none", "", "PATH=/none", "claude is not on the PATH"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t, `{"providers":{"glm":{"model":"x"}}}`)
			if tt.client != "" {
				client := filepath.Join(p.clients, "claude")
				must(t, errors.Join(os.Remove(client), os.Symlink(tt.client, client)))
			}
			p.environ = append(p.environ, tt.variable)
			_, err := Prepare(p.options("glm"))
			if _, ok := errors.AsType[StartError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if exists(p.settings) || read(t, p.config) != `{"providers":{"glm":{"model":"x"}}}` {
				t.Error("something was written for a client that there is not")
			}
		})
	}
}

func TestDisabledHooksAreTold(t *testing.T) {
	p := newPlace(t, plainConfig).supervised()
	local := write(t, `{"disableAllHooks":true}`, p.project, ".claude", "settings.local.json")
	p.prepare()
	if want := "nothing will be supervised: disableAllHooks in " + local; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("told %q", p.stderr.String())
	}
}

// The provider's own settings may switch the hooks off.
func TestHooksDisabledByTheProviderAreTold(t *testing.T) {
	p := newPlace(t, `{"providers":{"glm":{"disableAllHooks":true}}}`).supervised()
	p.prepare()
	if want := "nothing will be supervised: disableAllHooks in " + p.settings; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("told %q", p.stderr.String())
	}
}

func TestFaultOfTheGlobalConfigIsTold(t *testing.T) {
	p := newPlace(t, plainConfig).supervised()
	o := p.options()
	o.GlobalConfig = write(t, "supervisor: 5\n", p.home, "config.yml")
	_, err := Prepare(o)
	must(t, err)
	if want := "warning: " + o.GlobalConfig + ":1:13: "; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("told %q", p.stderr.String())
	}
}

// Without its memory a provider's settings would stay for ever.
func TestDamagedMemory(t *testing.T) {
	p := newPlace(t, `{"providers":{"glm":{"model":"glm"},"kimi":{"model":"kimi"}}}`)
	p.prepare("glm")
	before := read(t, p.settings)
	m, err := NewRegistry(p.state).memoryOf(p.settings)
	must(t, err)
	write(t, "{", m.file)
	if _, err := Prepare(p.options("kimi")); !errors.Is(err, errMemory) || !strings.Contains(err.Error(), m.file) {
		t.Errorf("got %v", err)
	}
	if got := read(t, p.settings) + read(t, m.file); got != before+"{" {
		t.Errorf("left %s", got)
	}
}

// What cannot be recorded is not put into the settings, and so the client does not start.
func TestMemoryThatCannotBeWritten(t *testing.T) {
	// In the settings the value fits into the largest file that there may be, in the memory it does not.
	p := newPlace(t, `{"providers":{"glm":{"model":"`+strings.Repeat("x", 4040)+`"}}}`)
	cmd := p.start()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `trap '' XFSZ; ulimit -f 8; exec "$0"`, p.ccc()}
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 98 || !strings.Contains(string(out), errMemory.Error()) {
		t.Errorf("%v: %s", err, out)
	}
	if exists(p.settings) {
		t.Error("the settings were written")
	}
}

// The path in the entry is the one that we were called by, also with spaces, and not
// what its links lead to.
func TestProgram(t *testing.T) {
	p := newPlace(t, plainConfig)
	self, err := os.Executable()
	must(t, err)
	spaced := filepath.Join(p.home, "it's mine", "stopgate")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(spaced), 0o700), os.Symlink(self, spaced)))
	for arg0, want := range map[string]string{
		p.ccc(): p.ccc() + " supervisor-hook",
		"ccc":   p.ccc() + " supervisor-hook",
		"./ccc": p.ccc() + " supervisor-hook",
		spaced:  "'" + strings.ReplaceAll(spaced, "'", `'\''`) + "' supervisor-hook",
		"-bash": self + " supervisor-hook",
		"sh":    self + " supervisor-hook",
	} {
		if t.Chdir(p.home); strings.HasPrefix(arg0, ".") {
			t.Chdir(p.clients)
		}
		o := p.supervised().options()
		o.Arg0 = arg0
		if _, err := Prepare(o); err != nil {
			t.Fatal(err)
		}
		entries := p.stopEntries()
		if len(entries) != 1 || entries[0].Command != want {
			t.Errorf("called %q: %+v, not %s", arg0, entries, want)
		}
		must(t, os.Remove(p.settings))
	}
}
