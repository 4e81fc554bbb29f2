package launch

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverlay(t *testing.T) {
	inherited := []string{
		"PATH=/bin", "ANTHROPIC_API_KEY=old", "ANTHROPIC_MODEL=old", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDE_CODE_SKIP_VERTEX_AUTH=1",
		"CLAUDE_CODE_OAUTH_TOKEN=old", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR=3", "CLAUDE_CODE_SUBAGENT_MODEL=old", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR=4",
		"CLAUDE_CONFIG_DIR=/c", "CLAUDE_BIN=/b", "CLAUDE_CODE_DISABLE_TERMINAL_TITLE=1", "CLAUDE_CODE_USE_POWERSHELL_TOOL=1", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=5", "CLAUDE_CODE_SKIP_PROMPT_HISTORY=1",
		"X=1", "PATH=/usr/bin", "NEWLINE=a\nX=2", "EMPTY=",
	}
	others := []string{
		"CLAUDE_CONFIG_DIR=/c", "CLAUDE_BIN=/b", "CLAUDE_CODE_DISABLE_TERMINAL_TITLE=1", "CLAUDE_CODE_USE_POWERSHELL_TOOL=1", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=5", "CLAUDE_CODE_SKIP_PROMPT_HISTORY=1",
	}
	end := []string{"NEWLINE=a\nX=2", "EMPTY="}
	for _, tt := range []struct {
		name     string
		provider map[string]string
		want     []string
	}{
		{"the client's login", nil, slices.Concat([]string{"PATH=/usr/bin"}, inherited[1:15], []string{"X=1"}, end)},
		{"something else", map[string]string{"X": "2", "Y": ""}, slices.Concat([]string{"PATH=/usr/bin"}, inherited[1:15], []string{"X=2"}, end, []string{"Y="})},
		{"a key", map[string]string{"ANTHROPIC_AUTH_TOKEN": "new"}, slices.Concat([]string{"PATH=/usr/bin"}, others, []string{"X=1"}, end, []string{"ANTHROPIC_AUTH_TOKEN=new"})},
		{"a model", map[string]string{"ANTHROPIC_MODEL": "new"}, slices.Concat([]string{"PATH=/usr/bin", inherited[1]}, inherited[3:7], inherited[8:15], []string{"X=1"}, end, []string{"ANTHROPIC_MODEL=new"})},
		{"a cloud", map[string]string{"CLAUDE_CODE_USE_VERTEX": "1", "X": "3"}, slices.Concat([]string{"PATH=/usr/bin"}, others, []string{"X=3"}, end, []string{"CLAUDE_CODE_USE_VERTEX=1"})},
		{"a key of its own again", map[string]string{"ANTHROPIC_API_KEY": "new"}, slices.Concat([]string{"PATH=/usr/bin"}, others, []string{"X=1"}, end, []string{"ANTHROPIC_API_KEY=new"})},
		{"a login's token", map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "new"}, slices.Concat([]string{"PATH=/usr/bin"}, others, []string{"X=1"}, end, []string{"CLAUDE_CODE_OAUTH_TOKEN=new"})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := slices.Clone(inherited)
			env := newEnvironment(given)
			env.overlay(tt.provider)
			if diff := cmp.Diff(tt.want, env.entries); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(given, inherited) {
				t.Error("the caller's environment was changed")
			}
		})
	}
}

func TestEnvironmentLookup(t *testing.T) {
	env := newEnvironment([]string{"A=1=2", "B=", "A=3=4", "odd", "=C:=x"})
	for name, want := range map[string]string{"A": "3=4", "B": "", "odd": "", "=C:": "x"} {
		if got, ok := env.lookup(name); !ok || got != want {
			t.Errorf("%s is %q, %t", name, got, ok)
		}
	}
	if _, ok := env.lookup("C"); ok {
		t.Error("C is set")
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		args     []string
		provider string
		rest     []string
	}{
		{nil, "", nil},
		{[]string{"glm"}, "glm", []string{}},
		{[]string{"glm", "-p", "x"}, "glm", []string{"-p", "x"}},
		{[]string{"glm", "--", "x"}, "glm", []string{"--", "x"}},
		{[]string{"-p", "glm"}, "", []string{"-p", "glm"}},
		{[]string{"--", "glm"}, "", []string{"glm"}},
		{[]string{"--", "--", "glm"}, "", []string{"--", "glm"}},
		{[]string{"--"}, "", []string{}},
		{[]string{"", "x"}, "", []string{"", "x"}},
		{[]string{"--settings", "x"}, "", []string{"--settings", "x"}},
	} {
		provider, rest := split(tt.args)
		if diff := cmp.Diff(tt.rest, rest); provider != tt.provider || diff != "" {
			t.Errorf("split(%q) = %q, %q", tt.args, provider, rest)
		}
	}
}

func TestTooLow(t *testing.T) {
	for most, want := range map[string]bool{"0": false, "-1": false, "1": true, "10": true, "11": false, "100": false, "many": true, "": true} {
		if got := tooLow(most, 10); got != want {
			t.Errorf("tooLow(%q, 10) = %t", most, got)
		}
	}
}
