package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

var (
	// folder is a path below the project's root, "." included.
	folder = inside(textThat(command, hasBackslash))
	// pathPattern is a path below the project's root that may be a pattern.
	pathPattern = inside(glob)
	logDir      = textThat(folder, isTaken)
)

func hasBackslash(text string) (message, hint string) {
	if strings.Contains(text, `\`) {
		return `must not contain \`, "write / between folders"
	}
	return "", ""
}

// inside reads a path without a leading "./" and a slash at its end.
func inside(t typeOf[string]) typeOf[string] {
	return document.Then(textThat(t, leadsOut), func(_ value, text string) (string, bool) { return path.Clean(text), true })
}

func leadsOut(text string) (message, hint string) {
	switch {
	case path.IsAbs(text) || filepath.IsAbs(text) || filepath.VolumeName(text) != "":
		return "must be relative to the project's root", ""
	case slices.Contains(strings.Split(text, "/"), ".."):
		return `must not contain ".."`, ""
	case strings.ContainsRune(text, 0):
		return "must not contain a NUL character", ""
	case strings.TrimSpace(path.Clean(text)) == "":
		return "must not be blank", ""
	}
	return "", ""
}

// isTaken refuses folders for logs. Such a folder is emptied from time to time, and its
// content is no part of the project, so it can neither hold nor be part of what
// git and we keep.
func isTaken(dir string) (message, hint string) {
	taken := func(name string) bool {
		// Some file systems make no difference between upper and lower case.
		return strings.EqualFold(name, ".git") || strings.EqualFold(name, paths.GauntletDir)
	}
	if dir == "." || slices.ContainsFunc(strings.Split(dir, "/"), taken) {
		return "must be a folder of its own, outside .git and " + paths.GauntletDir, ""
	}
	return "", ""
}
