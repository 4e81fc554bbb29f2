package transcript

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// lookedAt is as much of a transcript's beginning as is looked at: titles and the like are short.
const lookedAt = 1 << 20

// BeganAt is the directory in which the session of a transcript began; "" where that cannot be told.
func BeganAt(path string) (at string) {
	file, err := Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()

	_ = Lines(io.LimitReader(file, lookedAt), func(line []byte) { // what can be read of it
		var entry struct {
			Cwd string `json:"cwd"`
		}
		if at == "" && json.Unmarshal(line, &entry) == nil {
			at = entry.Cwd
		}
	})
	return at
}

// HoldsMessage looks at the beginning of a transcript for something that was said. What cannot be read is
// left to Claude Code.
func HoldsMessage(path string) bool {
	text, err := regular.Head(path, lookedAt)
	if err != nil || len(text) == lookedAt {
		return true
	}
	for line := range bytes.Lines(text) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && (e.Type == User || e.Type == Assistant) {
			return true
		}
	}
	return false
}
