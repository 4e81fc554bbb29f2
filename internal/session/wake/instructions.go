package wake

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

//go:embed prompts/*.md
var prompts embed.FS

// maxInstructions is far above any prompt that a person writes, and leaves most of
// a message to what happened.
const maxInstructions = 64 << 10

// promptName is the name of the prompt file for a kind.
func promptName(kind Kind) (string, bool) {
	switch kind {
	case Question:
		return "prompt_ask_user_question.md", true // after Claude Code's tool
	case Stop, Idle, Permission, StopFailure, SessionEnd, QueueComplete, QueueCancelled, QueueStale, QueueFailed:
		return "prompt_" + string(kind) + ".md", true
	}
	return "", false
}

// Instructions is the prompt for an agent that is woken for that kind of news: the
// file in prompts/ of the configuration directory where there is one, else the one
// that is built in. It is read at each call. Where a person's file cannot be used
// there is the built-in one and an error that says why.
func Instructions(configDir string, kind Kind) (string, error) {
	name, ok := promptName(kind)
	if !ok {
		return "", fmt.Errorf("no prompt for wakes of kind %q", kind)
	}
	if configDir != "" {
		own, err := readPrompt(filepath.Join(configDir, "prompts", name))
		if err == nil {
			return own, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return builtin(name), fmt.Errorf("using the built-in prompt: %w", err)
		}
	}
	return builtin(name), nil
}

func builtin(name string) string {
	text, err := prompts.ReadFile("prompts/" + name)
	if err != nil {
		panic(err) // a test reads every one of them
	}
	return strings.TrimSpace(string(text))
}

// readPrompt is the text of a person's own prompt. The error is fs.ErrNotExist only
// where there is nothing of that name.
func readPrompt(path string) (string, error) {
	data, err := regular.Head(path, maxInstructions+1)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(path); linkErr == nil {
			return "", fmt.Errorf("%s is a link to a file that does not exist", path)
		}
	}
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	text = strings.ReplaceAll(text, "\r\n", "\n") // a carriage return cannot be typed into a session
	switch {
	case len(data) > maxInstructions:
		return "", fmt.Errorf("%s has more than %d bytes", path, maxInstructions)
	case !utf8.ValidString(text):
		return "", fmt.Errorf("%s is not UTF-8", path)
	case text == "":
		return "", fmt.Errorf("%s is empty", path)
	}
	return text, nil
}
