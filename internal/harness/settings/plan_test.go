package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
)

// The client ignores the matcher of an event that has nothing to select, and "*"
// selects everything.
func TestMatchers(t *testing.T) {
	for _, tt := range []struct {
		event   hook.Event
		matcher string
		covers  bool
	}{
		{hook.Stop, "x", true},
		{hook.UserPromptSubmit, "x", true},
		{hook.PreToolUse, "", true},
		{hook.PreToolUse, "*", true},
		{hook.PreToolUse, "Bash", false},
		{hook.SubagentStop, "coder", false},
	} {
		installed := []Entry{{Event: tt.event, Matcher: tt.matcher}}
		project := &config.Project{Hooks: map[hook.Event][]config.Command{tt.event: {{}}}}
		if got := len(Uncovered(installed, project)) == 0; got != tt.covers {
			t.Errorf("%s with the matcher %q: covered is %v", tt.event, tt.matcher, got)
		}
	}
}

// A PreToolUse that was wide stays wide.
func TestPlanKeepsWide(t *testing.T) {
	for matcher, want := range map[string]string{"": "", "*": "", "Bash": matcherOf(questions), matcherOf(questions): matcherOf(questions)} {
		plan := Plan("stopgate", nil, []Entry{{Event: hook.PreToolUse, Matcher: matcher}}, 0)
		i := slices.IndexFunc(plan, func(e Entry) bool { return e.Event == hook.PreToolUse })
		if plan[i].Matcher != want {
			t.Errorf("%q became %q", matcher, plan[i].Matcher)
		}
	}
}

// The client calls us for exactly the tools that count as writing.
func TestE5TheMatcherForEdits(t *testing.T) {
	plan := Plan("stopgate", nil, nil, 0)
	i := slices.IndexFunc(plan, func(e Entry) bool { return e.Event == hook.PostToolUse })
	for tool, want := range map[string]bool{
		"Edit": true, "MultiEdit": true, "Write": true, "NotebookEdit": true,
		"mcp__fs__write_file": true, "mcp__fs__edit_file": true, "mcp__notes__append": true,
		"TodoWrite": false, "Writer": false, "Bash": false, "Read": false,
		"mcp__fs__read_file": false, "mcp__fs__list_directory": false, "my_mcp__write": false,
	} {
		if got := matches(plan[i].Matcher, tool); got != want || Edits(tool) != want {
			t.Errorf("%s: called is %t, counted is %t", tool, got, Edits(tool))
		}
	}
}

// An entry with the matcher that an older stopgate installed is brought to today's.
func TestAnOlderMatcherIsUpgraded(t *testing.T) {
	for _, older := range []string{"Edit|MultiEdit|Write|NotebookEdit", "Write"} {
		path := settingsPath(t, "{}")
		old := Plan(living, nil, nil, 0)
		i := slices.IndexFunc(old, func(e Entry) bool { return e.Event == hook.PostToolUse })
		today := old[i].Matcher
		old[i].Matcher = older
		mustInstall(t, path, old...)
		if got := Narrow(inspect(location{User, path}).Entries); !slices.Equal(got, []hook.Event{hook.PostToolUse}) {
			t.Errorf("%s: narrow are %v", older, got)
		}
		mustInstall(t, path, Plan(living, nil, inspect(location{User, path}).Entries, 0)...)
		entries := inspect(location{User, path}).Entries
		if len(entries) != len(old) || len(Narrow(entries)) > 0 || !slices.ContainsFunc(entries, func(e Entry) bool { return e.Matcher == today }) {
			t.Errorf("%s became %+v", older, entries)
		}
		if strings.Contains(get(t, path), `"`+older+`"`) {
			t.Errorf("%s is still there", older)
		}
	}
}

// A rule that no call of a tool reaches denies nothing.
func TestIssue19TheHookIsInstalledForDeniedTools(t *testing.T) {
	project := &config.Project{Deny: []config.Deny{{Tools: "WebFetch"}}}
	plan := Plan("stopgate", project, nil, 0)
	i := slices.IndexFunc(plan, func(e Entry) bool { return e.Event == hook.PreToolUse })
	if plan[i].Matcher != "" {
		t.Errorf("installed for %q alone", plan[i].Matcher)
	}
	narrow := Plan("stopgate", nil, nil, 0)
	if got := Uncovered(narrow, project); !slices.Equal(got, []hook.Event{hook.PreToolUse}) {
		t.Errorf("not covered: %v", got)
	}
	if got := Uncovered(plan, project); len(got) > 0 {
		t.Errorf("not covered: %v", got)
	}
}
