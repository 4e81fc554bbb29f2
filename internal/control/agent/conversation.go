package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/harness/transcript"
)

// isEmpty reports whether a session has a transcript in which nobody has said anything. A
// client that was killed at its first prompt may leave one with nothing but a title, and
// then neither goes on with the session nor begins it again.
func isEmpty(session, dir string) (empty bool) {
	projects, _ := os.ReadDir(filepath.Join(dir, "projects")) // whatever can be seen of them
	for _, project := range projects {
		path := filepath.Join(dir, "projects", project.Name(), session+".jsonl")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if holdsMessage(path) {
			return false
		}
		empty = true
	}
	return empty
}

// holdsMessage looks at the beginning of a transcript: titles and the like are short. What
// cannot be read is left to the client.
func holdsMessage(path string) bool {
	const beginning = 1 << 20
	file, err := transcript.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, beginning))
	if err != nil || len(text) == beginning {
		return true
	}
	for line := range bytes.Lines(text) {
		var e transcript.Entry
		if json.Unmarshal(line, &e) == nil && (e.Type == "user" || e.Type == "assistant") {
			return true
		}
	}
	return false
}
