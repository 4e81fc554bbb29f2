package transcript

import (
	"encoding/json"
	"time"
)

// The roles of messages.
const (
	User      = "user"
	Assistant = "assistant"
)

// Compose is a line of a transcript as Claude Code writes it, for a session that is played.
func Compose(session, cwd, role, text string, at time.Time) ([]byte, error) {
	line, err := json.Marshal(map[string]any{
		"type": role, "sessionId": session, "cwd": cwd, "timestamp": at.UTC(),
		"message": map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": text}}},
	})
	return append(line, '\n'), err
}
