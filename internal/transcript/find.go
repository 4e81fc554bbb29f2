package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find is where a session's transcript lies: beside another that the client named, which
// may be empty, or in one of the folders of projects that the client keeps its transcripts
// in. It is empty as long as there is none. The error says that nobody can tell.
func Find(projects, beside, session string) (path string, err error) {
	if !plain(session) {
		return "", nil
	}
	file := session + ".jsonl"
	if path := filepath.Join(filepath.Dir(beside), file); filepath.IsAbs(path) && isRegular(path) {
		return path, nil
	}
	if !filepath.IsAbs(projects) { // nobody knows where they are
		return "", nil
	}
	folders, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for a transcript: %w", err)
	}
	for _, folder := range folders {
		if path := filepath.Join(projects, folder.Name(), file); isRegular(path) {
			return path, nil
		}
	}
	return "", nil
}

// plain reports whether a session's id can be part of a path.
func plain(session string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return session != "" && strings.Trim(session, letters) == ""
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// tailSize is how much of a transcript's end is looked at for the last words in it.
const tailSize = 1 << 20

// LastWords is what the agent said last, where that is near the transcript's end.
func LastWords(path string) (string, error) {
	file, err := Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("read the transcript: %w", err)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, max(info.Size()-tailSize, 0), tailSize))
	if err != nil {
		return "", fmt.Errorf("read the transcript: %w", err)
	}
	return lastWords(text), nil
}

// lastWords looks at the lines from the end. Of the first only a part may be there.
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
