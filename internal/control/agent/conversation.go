package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/harness/transcript"
)

// isEmpty reports whether a session has a transcript in which nobody has said anything. A
// client that was killed at its first prompt may leave one with nothing but a title, and
// then neither goes on with the session nor begins it again.
func isEmpty(session, dir string) (empty bool) {
	projects, _ := os.ReadDir(transcript.Projects(dir)) // whatever can be seen of them
	for _, project := range projects {
		path := filepath.Join(dir, "projects", project.Name(), session+".jsonl")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if transcript.HoldsMessage(path) {
			return false
		}
		empty = true
	}
	return empty
}

// beganAt is the directory in which a session began; "" where that cannot be told. Claude Code finds a
// session only from there.
func beganAt(session, dir string) string {
	path, err := transcript.Find(transcript.Projects(dir), "", session)
	if path == "" || err != nil {
		return ""
	}
	return transcript.BeganAt(path)
}

// sameDir reports whether two paths lead to one directory. Claude Code has its own without links.
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
