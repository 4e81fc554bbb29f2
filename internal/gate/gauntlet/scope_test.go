package gauntlet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIssue19WhatCISaysOfAPush(t *testing.T) {
	dir := t.TempDir()
	event := func(text string) string {
		file := filepath.Join(dir, "event.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "GITHUB_EVENT_PATH=" + file
	}
	const before = `{"before":"abc","after":"def"}`
	for _, test := range []struct {
		name, event, before string
		variables           []string
	}{
		{"not in CI", before, "", []string{"GITHUB_EVENT_NAME=push"}},
		{"another CI", before, "HEAD^", []string{"CI=true"}},
		{"a push", before, "abc", []string{"CI=true", "GITHUB_EVENT_NAME=push"}},
		{"a push, damaged", before[:12], "HEAD^", []string{"CI=true", "GITHUB_EVENT_NAME=push"}},
		{"a push, another type", `{"before":[1]}`, "HEAD^", []string{"CI=true", "GITHUB_EVENT_NAME=push"}},
		{"a push, not said", `{}`, "def^", []string{"CI=true", "GITHUB_EVENT_NAME=push", "GITHUB_SHA=def"}},
		{"a pull request", before, "def^", []string{"CI=true", "GITHUB_EVENT_NAME=pull_request", "GITHUB_BASE_REF=main", "GITHUB_SHA=def"}},
		{"a schedule", before, strings.Repeat("0", 40), []string{"CI=true", "GITHUB_EVENT_NAME=schedule"}},
	} {
		if got := ScopeOf(append(test.variables, event(test.event))); got.Before != test.before {
			t.Errorf("%s: before is %q, want %q", test.name, got.Before, test.before)
		}
	}
	if got := ScopeOf([]string{"CI=true", "GITHUB_EVENT_NAME=push"}); got.Before != "HEAD^" {
		t.Errorf("without an event: %+v", got)
	}
}

// An agent's stop in CI does not count what CI got: the agent has not pushed it.
func TestIssue19AStopInCIIsNotAPush(t *testing.T) {
	stop := Stop{Alone: true, Options: Options{Environ: []string{"CI=true", "GITHUB_SHA=def"}}}
	if got := stop.scope(); !got.CI || got.Before != "" {
		t.Errorf("%+v", got)
	}
}
