// Package client puts the real Claude Code in the place of the stand-in of the chaos tests, with a model behind it
// that thinks like the stand-in's.
package client

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/test/chaos/model"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// key is so short that the client remembers the whole of it as approved.
const key = "fake"

// Use makes a program the claude in a directory of programs.
func Use(program, bin string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	name := filepath.Join(bin, "claude")
	if err := os.Remove(name); err != nil {
		return err
	}
	return os.Symlink(program, name)
}

// Welcome spares the client its questions in a home and in the project there.
func Welcome(home, project string) error {
	text, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding":      true,
		"customApiKeyResponses":       map[string]any{"approved": []string{key}, "rejected": []string{}},
		"messageIdleNotifThresholdMs": 3000,
		"projects":                    map[string]any{project: map[string]any{"hasTrustDialogAccepted": true}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, ".claude.json"), text, 0o600)
}

// Model serves the model, and returns what belongs into the client's environment.
func Model(t testing.TB, on net.Listener) (env []string) {
	t.Helper()
	api := claudeapi.NewOn(t, on)
	api.Script(claudeapi.Always(claudeapi.Slow(300*time.Millisecond, claudeapi.Func(think))))
	return []string{
		"ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + api.URL,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
}

// Settings are those of a project: the clients there may run commands, and the stand-in writes down what they hear.
const Settings = `{
  "permissions": {"allow": ["Bash"]},
  "hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "command": "standin heard"}]}],
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "standin heard"}]}]
  }
}
`

// think is the model's answer to the newest thing that it was told.
func think(r claudeapi.Request) claudeapi.Answer {
	tools := map[string]string{}
	newest := ""
	for _, m := range r.Messages {
		for _, c := range m.Content {
			switch {
			case c.Type == "tool_use":
				tools[c.ID] = c.Name
			case c.Type == "tool_result" && tools[c.ToolUseID] == "AskUserQuestion" && !c.IsError:
				newest = model.Answered
			case c.Type == "tool_result":
				newest = "a tool's result"
			case c.Type == "text" && m.Role == "user":
				only := claudeapi.Request{Messages: []claudeapi.Message{{Role: m.Role, Content: []claudeapi.Content{c}}}}
				if text := only.LastUserText(); text != "" { // without the client's reminders
					newest = text
				}
			}
		}
	}
	switch model.Next(newest) {
	case model.Ask:
		var input map[string]any
		if err := json.Unmarshal([]byte(model.Question), &input); err != nil {
			panic(err)
		}
		return claudeapi.Tool("AskUserQuestion", input)
	case model.Complete:
		return claudeapi.Tool("Bash", map[string]any{"command": `stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" complete`})
	}
	return claudeapi.Text("I stop.")
}
