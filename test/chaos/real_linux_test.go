package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/test/chaos/model"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// useReal puts a real client in the stand-in's place, with a model behind it that thinks
// like the stand-in's. What it returns belongs into the environment.
func (p place) useReal(t *testing.T, program string) (env []string) {
	t.Helper()
	program, err := filepath.Abs(program)
	check(t, err)
	check(t, os.Remove(filepath.Join(p.bin, "claude")))
	check(t, os.Symlink(program, filepath.Join(p.bin, "claude")))
	api := claudeapi.New(t)
	api.Script(claudeapi.Always(claudeapi.Slow(300*time.Millisecond, claudeapi.Func(think))))
	const key = "fake" // so short that the client remembers the whole of it as approved
	seed, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding":      true,
		"customApiKeyResponses":       map[string]any{"approved": []string{key}, "rejected": []string{}},
		"messageIdleNotifThresholdMs": 3000,
		"projects":                    map[string]any{p.root: map[string]any{"hasTrustDialogAccepted": true}},
	})
	check(t, err)
	p.write(t, filepath.Join(p.home, ".claude.json"), string(seed))
	return []string{
		"ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + api.URL,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
}

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
