package settings

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
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
	for matcher, want := range map[string]string{"": "", "*": "", "Bash": questions, questions: questions} {
		plan := Plan("stopgate", nil, []Entry{{Event: hook.PreToolUse, Matcher: matcher}}, 0)
		i := slices.IndexFunc(plan, func(e Entry) bool { return e.Event == hook.PreToolUse })
		if plan[i].Matcher != want {
			t.Errorf("%q became %q", matcher, plan[i].Matcher)
		}
	}
}
