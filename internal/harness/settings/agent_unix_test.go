//go:build unix

package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

// house is a person's home with a project in it, in which an agent is started.
type house struct{ home, project string }

func newHouse(t testing.TB) house {
	t.Helper()
	dir := t.TempDir()
	h := house{filepath.Join(dir, "home"), filepath.Join(dir, "home", "project")}
	check(t, os.MkdirAll(filepath.Join(h.project, ".git"), 0o700))
	return h
}

func (h house) path(scope Scope) string {
	switch scope {
	case User:
		return filepath.Join(h.home, ".claude", "settings.json")
	case Project:
		return filepath.Join(h.project, ".claude", "settings.json")
	}
	return filepath.Join(h.project, ".claude", "settings.local.json")
}

func (h house) agent() Agent {
	return Agent{Program: living, Dir: h.project, ConfigDir: filepath.Join(h.home, ".claude")}
}

// file is the agent's file, beside the project.
func (h house) file(t testing.TB, a Agent) string {
	t.Helper()
	text, err := a.File()
	check(t, err)
	path := filepath.Join(h.home, "agent.json")
	put(t, path, string(text))
	if f := inspect(location{Local, path}); f.Dropped() {
		t.Fatalf("the client drops it: %v %v\n%s", f.Err, f.Faults, text)
	}
	return path
}

// calls are the commands that the client starts for an event about a subject, and waits
// for, by the files at these paths. Equal ones it starts once.
func calls(t testing.TB, event hook.Event, subject string, paths ...string) (all []string) {
	t.Helper()
	for _, path := range paths {
		f := inspect(location{Local, path})
		if f.Dropped() {
			continue
		}
		var file struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []struct {
					Command string
					Args    []string
					Async   bool
				}
			}
		}
		if text, err := os.ReadFile(path); err == nil {
			check(t, json.Unmarshal(text, &file))
		}
		for _, group := range file.Hooks[string(event)] {
			for _, h := range group.Hooks {
				line := strings.Join(append([]string{h.Command}, h.Args...), " ")
				wide := Entry{Event: event, Matcher: group.Matcher}.wide()
				if !h.Async && !slices.Contains(all, line) && (wide || matches(group.Matcher, subject)) {
					all = append(all, line)
				}
			}
		}
	}
	return all
}

// subjects are what the events are about.
func subjects(event hook.Event) []string {
	switch event {
	case hook.PreToolUse:
		return questions
	case hook.PostToolUse:
		return []string{"Edit", "MultiEdit", "Write", "NotebookEdit", "mcp__fs__write_file"}
	case hook.PermissionRequest:
		return []string{"Bash", "AskUserQuestion"}
	case hook.Notification:
		return []string{"idle_prompt", "permission_prompt"}
	case hook.SessionStart:
		return []string{"startup", "clear"}
	}
	return []string{"x"}
}

func isHook(line string, event hook.Event) bool {
	return strings.Contains(line, "stopgate hook "+string(event))
}

func TestAgentFile(t *testing.T) {
	everything := func(command string) []Entry { return Plan(command, nil, nil, 0) }
	all := make([]string, 0, len(standard))
	for _, e := range standard {
		all = append(all, string(e))
	}
	without := func(events ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(e string) bool { return slices.Contains(events, e) })
	}
	stop := Call{Program: living, Event: hook.Stop, Timeout: DefaultTimeout(hook.Stop)}.Line()
	there := func(event hook.Event) Entry { return newEntry(Call{living, event, DefaultTimeout(event), ""}) }
	stopAlone := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"agent-gauntlet stop-hook"}]}]}}`
	for name, c := range map[string]struct {
		files   map[Scope]string // text, or what is installed there
		install map[Scope][]Entry
		want    []string // the events in the agent's file
		stop    string   // its entry for Stop
	}{
		"nothing":            {want: all, stop: stop},
		"all of the user":    {install: map[Scope][]Entry{User: everything(living)}},
		"all of the project": {install: map[Scope][]Entry{Project: everything(living)}},
		"all, local":         {install: map[Scope][]Entry{Local: everything(living)}},
		"another path":       {install: map[Scope][]Entry{Project: everything("stopgate")}},
		"another program":    {install: map[Scope][]Entry{Project: everything("/opt/bin/stopgate")}, want: all, stop: stop},
		"some":               {install: map[Scope][]Entry{User: {there(hook.Stop)}, Project: {there(hook.Notification)}}, want: without("Stop", "Notification")},
		"other events":       {install: map[Scope][]Entry{User: {there(hook.PostCompact)}}, want: all, stop: stop},
		"gates alone":        {files: map[Scope]string{Project: stopAlone}, want: all, stop: stop},
		"gates and all":      {files: map[Scope]string{Project: stopAlone}, install: map[Scope][]Entry{User: everything(living)}},
		"gates, dropped":     {files: map[Scope]string{Project: strings.Replace(stopAlone, `stop-hook"`, `stop-hook","timeout":"5"`, 1)}, want: all, stop: stop},
		"supervisor alone":   {files: map[Scope]string{Project: strings.Replace(stopAlone, "agent-gauntlet stop-hook", "ccc supervisor-hook", 1)}, want: all, stop: stop},
		"no JSON":            {files: map[Scope]string{Project: `{"hooks":`}, want: all, stop: stop},
		"dropped":            {files: map[Scope]string{Project: `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook Stop","timeout":"5"}]}]}}`}, want: all, stop: stop},
		"switched off":       {files: map[Scope]string{Local: `{"disableAllHooks":true}`}, install: map[Scope][]Entry{User: {there(hook.Stop)}}, want: without("Stop")},
		"not waited for":     {files: map[Scope]string{Project: `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook Stop","async":true}]}]}}`}, want: all, stop: stop},
		"through a variable": {files: map[Scope]string{Project: `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"X=1 stopgate hook Stop"}]}]}}`}, want: all, stop: stop},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			for scope, text := range c.files {
				put(t, h.path(scope), text)
			}
			for scope, entries := range c.install {
				mustInstall(t, h.path(scope), entries...)
			}
			path := h.file(t, h.agent())
			var file struct {
				Hooks           map[string]any
				Permissions     map[string][]string
				DisableAllHooks *bool
			}
			check(t, json.Unmarshal([]byte(get(t, path)), &file))
			var got []string
			for event := range file.Hooks {
				got = append(got, event)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got := strings.Join(calls(t, hook.Stop, "", path), ","); got != c.stop {
				t.Errorf("for Stop it has %q, want %q", got, c.stop)
			}
			if file.DisableAllHooks != nil {
				t.Error("it overrules a person")
			}
			if diff := cmp.Diff(map[string][]string{"allow": {"Bash(" + living + " emit agent:signal:*)"}}, file.Permissions); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Below the root of a repository, a client of any version calls everything once.
func TestAgentFileBelowTheRoot(t *testing.T) {
	for _, at := range []string{"", "below"} {
		h := newHouse(t)
		a := h.agent()
		a.Dir = filepath.Join(h.project, "below")
		local := filepath.Join(h.project, at, ".claude", "settings.local.json")
		mustInstall(t, local, Plan("stopgate", nil, nil, 0)...)
		path := h.file(t, a)
		read := [][]string{{path, local}}
		if at == "" {
			read = append(read, []string{path}) // the version decides
		}
		for _, files := range read {
			for _, event := range standard {
				for _, subject := range subjects(event) {
					if got := calls(t, event, subject, files...); len(got) != 1 || !isHook(got[0], event) {
						t.Errorf("%s about %s, local in %q: %q", event, subject, at, got)
					}
				}
			}
		}
	}
}

func TestAgentFileAllows(t *testing.T) {
	h := newHouse(t)
	a := h.agent()
	a.Program, a.Aliases = "/opt/my bin/stopgate", []string{"oj", "/opt/(x)/oj", "/opt/bin/oj"}
	want := []string{"Bash('/opt/my bin/stopgate' emit agent:signal:*)", "Bash(oj emit agent:signal:*)", "Bash(/opt/bin/oj emit agent:signal:*)"}
	if diff := cmp.Diff(want, a.allowed()); diff != "" {
		t.Error(diff)
	}
}

// The person's settings are those of the agent's environment, not of ours.
func TestAgentFileOfAnotherHome(t *testing.T) {
	h := newHouse(t)
	a := h.agent()
	a.ConfigDir = filepath.Join(h.home, "other")
	mustInstall(t, h.path(User), Plan(living, nil, nil, 0)...)
	mustInstall(t, filepath.Join(h.home, "other", "settings.json"), newEntry(Call{living, hook.Notification, time.Minute, ""}))
	path := h.file(t, a)
	if got := calls(t, hook.Stop, "", path); len(got) != 1 {
		t.Errorf("Stop: %q", got)
	}
	if got := calls(t, hook.Notification, "idle_prompt", path); len(got) != 0 {
		t.Errorf("Notification: %q", got)
	}
}

// Whatever the files in force have, together with the agent's the client calls us once
// for each standard event and each thing that it can be about.
func TestAgentFileProperty(t *testing.T) {
	racetest.Skip(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := newHouse(t)
		scopes := []Scope{User, Project, Local}
		paths := make([]string, len(scopes))
		for i, scope := range scopes {
			paths[i] = h.path(scope)
		}
		command := rapid.SampledFrom([]string{living, "stopgate"}).Draw(rt, "command")
		for i, scope := range scopes {
			var entries []Entry
			for _, e := range Plan(command, nil, nil, 0) {
				if !rapid.Bool().Draw(rt, "there") {
					continue
				}
				if e.Event.HasSubject() && rapid.IntRange(0, 4).Draw(rt, "narrow") == 0 {
					e.Matcher = rapid.SampledFrom(subjects(e.Event)).Draw(rt, "matcher")
				}
				entries = append(entries, e)
			}
			if len(entries) > 0 {
				mustInstall(t, paths[i], entries...)
			}
			if scope == Project && rapid.IntRange(0, 3).Draw(rt, "gates") == 0 {
				put(t, paths[i], withStopHook(t, paths[i]))
			}
			if rapid.IntRange(0, 4).Draw(rt, "dropped") == 0 && len(entries) > 0 {
				put(t, paths[i], strings.Replace(get(t, paths[i]), `"timeout": `, `"timeout": -`, 1))
			}
		}
		all := append(paths, h.file(t, h.agent()))
		for _, event := range standard {
			for _, subject := range subjects(event) {
				got := calls(t, event, subject, all...)
				ours := 0
				for _, line := range got {
					if isHook(line, event) {
						ours++
					}
				}
				if ours != 1 {
					rt.Fatalf("%s about %s: %q", event, subject, got)
				}
			}
		}
		if again := h.file(t, h.agent()); get(t, again) != get(t, all[len(all)-1]) {
			rt.Fatal("it is not the same twice")
		}
		os.RemoveAll(h.home)
	})
}

// withStopHook is a file with the gates' own stop hook besides.
func withStopHook(t testing.TB, path string) string {
	t.Helper()
	file := map[string]any{}
	if text, err := os.ReadFile(path); err == nil {
		check(t, json.Unmarshal(text, &file))
	}
	hooks, _ := file["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
	}
	stop, _ := hooks["Stop"].([]any)
	hooks["Stop"] = append(stop, map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "stopgate stop-hook"}}})
	file["hooks"] = hooks
	text, err := json.MarshalIndent(file, "", "  ")
	check(t, err)
	return string(text)
}

func TestUnifiedWithTheAgentsFile(t *testing.T) {
	h := newHouse(t)
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(h.home, ".claude"))
	path := h.file(t, h.agent())
	if Unified("", h.project) {
		t.Error("nothing is installed")
	}
	if !Unified(path, h.project) {
		t.Error("the agent's file does not count")
	}
	put(t, h.path(Local), `{"disableAllHooks":true}`)
	if Unified(path, h.project) {
		t.Error("hooks are switched off")
	}
	if Unified(filepath.Join(h.home, "missing.json"), h.project) {
		t.Error("there is no file")
	}
}

func TestAgentMayReadItsPrompt(t *testing.T) {
	for path, want := range map[string]string{
		"":                      "",
		"/s/agents/a/prompt.md": "Read(//s/agents/a/prompt.md)",
		"/a b/prompt.md":        "Read(//a b/prompt.md)",
		"/s(1)/prompt.md":       "", // these would be patterns
		"/s[1]/prompt.md":       "",
		"/s*/prompt.md":         "",
	} {
		allow := Agent{Program: "/opt/stopgate", Prompt: path}.allowed()
		got := ""
		if len(allow) > 1 {
			got = allow[1]
		}
		if got != want {
			t.Errorf("%q: %q", path, allow)
		}
	}
}
