package transcript

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Find is where a session's transcript lies: beside another that Claude Code named, which
// may be empty, or in one of the folders of projects that Claude Code keeps its transcripts
// in. It is empty as long as there is none. The error says that nobody can tell.
func Find(projects, beside, session string) (path string, err error) {
	if !plain.IsName(session, 200) {
		return "", nil
	}
	file := session + ".jsonl"
	if path := filepath.Join(filepath.Dir(beside), file); filepath.IsAbs(path) && disk.IsRegular(path) {
		return path, nil
	}
	if !filepath.IsAbs(projects) { // nobody knows where they are
		return "", nil
	}
	folders, err := disk.List(projects)
	if err != nil {
		return "", fmt.Errorf("look for a transcript: %w", err)
	}
	for _, folder := range folders {
		if path := filepath.Join(projects, folder.Name(), file); disk.IsRegular(path) {
			return path, nil
		}
	}
	return "", nil
}

// Projects is where Claude Code keeps its transcripts, below the directory of a user's settings.
func Projects(config string) string { return filepath.Join(config, "projects") }

// Path is where the transcript of a session lies that began in a directory: in a folder that is named after
// it, with a dash for all but letters and digits.
func Path(config, cwd, session string) string {
	folder := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			return c
		}
		return '-'
	}, cwd)
	return filepath.Join(Projects(config), folder, session+".jsonl")
}

// tailSize is how much of a transcript's end is looked at for the last words in it.
const tailSize = 1 << 20

// LastWords is what the agent said last, where that is near the transcript's end.
func LastWords(path string) (string, error) {
	text, err := Tail(path, tailSize)
	if err != nil {
		return "", err
	}
	return lastWords(text), nil
}

// lastWords looks at the lines from the end.
func lastWords(text []byte) string {
	for len(text) > 0 {
		start := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
		events := (&Conversation{}).Line(text[start:])
		for i := len(events) - 1; i >= 0; i-- {
			if events[i].Kind == Words {
				return events[i].Text
			}
		}
		text = text[:start]
	}
	return ""
}
