package launcher

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLaunchCall(t *testing.T) {
	for _, test := range []struct {
		args   []string
		rest   []string
		launch bool
	}{
		{[]string{"stopgate", "claude"}, []string{}, true},
		{[]string{"/usr/bin/stopgate", "claude", "glm", "-p"}, []string{"glm", "-p"}, true},
		{[]string{"stopgate", "claude", "provider"}, []string{"provider"}, true},
		{[]string{"stopgate"}, nil, false},
		{[]string{"stopgate", "hook", "claude"}, nil, false},
		{[]string{"stopgate", "provider"}, nil, false},
		{[]string{"conclaude", "Stop"}, nil, false},
		{[]string{"ccc"}, []string{}, true},
		{[]string{"/opt/ccc", "glm", "-p"}, []string{"glm", "-p"}, true},
		{[]string{"ccc.exe", "--help"}, []string{"--help"}, true},
		{[]string{"ccc", "hook"}, []string{"hook"}, true}, // names of providers
		{[]string{"ccc", "claude"}, []string{"claude"}, true},
		{[]string{"ccc", "stop-hook"}, []string{"stop-hook"}, true},
		{[]string{"ccc", "--", "provider"}, []string{"--", "provider"}, true},
		{[]string{"ccc", "provider", "list"}, nil, false},
		{[]string{"ccc", "supervisor", "on"}, nil, false},
		{[]string{"ccc", "supervisor-hook"}, nil, false},
	} {
		rest, launch := LaunchCall(test.args)
		if diff := cmp.Diff(test.rest, rest); launch != test.launch || diff != "" {
			t.Errorf("launchCall(%q) = %q, %t", test.args, rest, launch)
		}
	}
}
