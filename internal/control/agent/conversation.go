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

// beganAt is the directory in which a session began; "" where that cannot be told. The client finds a
// session only from there.
func beganAt(session, dir string) string {
	path, err := transcript.Find(filepath.Join(dir, "projects"), "", session)
	if path == "" || err != nil {
		return ""
	}
	file, err := transcript.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()

	at := ""
	_ = transcript.Lines(io.LimitReader(file, lookedAt), func(line []byte) { // what can be read of it
		var entry struct {
			Cwd string `json:"cwd"`
		}
		if at == "" && json.Unmarshal(line, &entry) == nil {
			at = entry.Cwd
		}
	})
	return at
}

// sameDir reports whether two paths lead to one directory. The client has its own without links.
func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// lookedAt is as much of a transcript as is looked at: titles and the like are short.
const lookedAt = 1 << 20

// holdsMessage looks at the beginning of a transcript: titles and the like are short. What
// cannot be read is left to the client.
func holdsMessage(path string) bool {
	file, err := transcript.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, lookedAt))
	if err != nil || len(text) == lookedAt {
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
