//go:build unix

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// apiKey is so short that the client remembers the whole of it as approved.
const apiKey = "fake"

// client measures the launcher and the supervisor with the real client, against a
// model that answers at once.
func client(ctx context.Context, l *lab, r *report) error {
	api := claudeapi.New(forever{})
	api.On(claudeapi.WithTool("StructuredOutput"),
		claudeapi.Always(claudeapi.Structured(map[string]any{"completed": false, "feedback": "There is more to do."})))
	api.Script(claudeapi.Always(claudeapi.Text("Hello.")))
	dir, err := l.repository(ctx, "hello", 100, nil)
	if err != nil {
		return err
	}
	if err := l.seedClient(api.URL); err != nil {
		return err
	}
	env := []string{
		"ANTHROPIC_API_KEY=" + apiKey, "ANTHROPIC_BASE_URL=" + api.URL, "TMPDIR=" + l.dir,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	session, err := l.session(ctx, dir, env)
	if err != nil {
		return err
	}
	hook, err := l.supervisorHook(dir, session, l.transcript(session), l.other)
	if err != nil {
		return err
	}
	hook.env = append(hook.env, env...)
	args, _ := claude.Fork{
		Session: session, Schema: supervisor.Schema, Prompt: supervisor.Prompt(supervisor.Builtin(), supervisor.Facts{Session: session}),
	}.Command()
	s, err := l.race(ctx, 8,
		program{name: "client", dir: dir, env: env, args: []string{l.other, "-p", "hi"}, wants: "Hello."},
		program{name: "launch", dir: dir, env: append(env, "CCC_CLAUDE="+l.other), args: []string{l.stopgate, "claude", "p", "-p", "hi"}, wants: "Hello."},
		program{name: "reviewer", dir: dir, env: env, args: append([]string{l.other}, args...), wants: `"type":"result"`},
		hook,
	)
	if err != nil {
		return err
	}
	r.table("**With the real client** and a model that answers at once")
	r.reference("claude -p hi", &s[0])
	r.row("stopgate claude p -p hi", &s[1], figure{s[1].ratioTo(&s[0]), "times the client", 0})
	r.reference("claude, asked for a review by hand", &s[2])
	r.row("stopgate supervisor-hook", &s[3], figure{s[3].ratioTo(&s[2]), "times the client", 0})
	return nil
}

// seedClient makes the client believe that a person answered its first dialogs, in these
// projects too, and names the API as a provider.
func (l *lab) seedClient(url string, projects ...string) error {
	trusted := map[string]any{}
	for _, dir := range projects {
		trusted[dir] = map[string]any{"hasTrustDialogAccepted": true}
	}
	for name, value := range map[string]any{
		".claude.json": map[string]any{
			"hasCompletedOnboarding": true,
			"customApiKeyResponses":  map[string]any{"approved": []string{apiKey}, "rejected": []string{}},
			"projects":               trusted,
		},
		".claude/ccc.json": map[string]any{
			"providers":  map[string]any{"p": map[string]any{"env": map[string]any{"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": apiKey}}},
			"supervisor": map[string]any{"max_iterations": 100},
		},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if err := write(l.path(name), string(text)); err != nil {
			return err
		}
	}
	return nil
}

// session has the client begin one that can be reviewed.
func (l *lab) session(ctx context.Context, dir string, env []string) (string, error) {
	cmd := exec.CommandContext(ctx, l.other, "-p", "hi", "--output-format", "json")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(l.env[:len(l.env):len(l.env)], env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	var result struct {
		Session string `json:"session_id"`
	}
	return result.Session, json.Unmarshal(out, &result)
}

// transcript is the client's own record of a session.
func (l *lab) transcript(session string) string {
	found, _ := filepath.Glob(l.path(".claude/projects/*/" + session + ".jsonl"))
	return strings.Join(found, "")
}

// forever is a test that does not end before we do.
type forever struct{ testing.TB }

func (forever) Cleanup(func()) {}
