package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// folder reads a path below the project's root, "." included.
func (v value) folder(to *string) bool {
	var text string
	if !v.command(&text) {
		return false
	}
	if strings.Contains(text, `\`) {
		v.fault(`must not contain \`, "write / between folders")
		return false
	}
	return v.inside(text, to)
}

// pathPattern reads a path below the project's root that may be a pattern.
func (v value) pathPattern(to *string) bool {
	var text string
	return v.glob(&text) && v.inside(text, to)
}

// inside writes the path without a leading "./" and a slash at its end.
func (v value) inside(text string, to *string) bool {
	switch {
	case path.IsAbs(text) || filepath.IsAbs(text) || filepath.VolumeName(text) != "":
		v.fault("must be relative to the project's root", "")
	case slices.Contains(strings.Split(text, "/"), ".."):
		v.fault(`must not contain ".."`, "")
	case strings.ContainsRune(text, 0):
		v.fault("must not contain a NUL character", "")
	case strings.TrimSpace(path.Clean(text)) == "":
		v.fault("must not be blank", "")
	default:
		*to = path.Clean(text)
		return true
	}
	return false
}

// logDir reads the folder for logs. It is emptied from time to time, and its
// content is no part of the project, so it can neither hold nor be part of what
// git and we keep.
func (v value) logDir(to *string) bool {
	var dir string
	if !v.folder(&dir) {
		return false
	}
	taken := func(name string) bool {
		// Some file systems make no difference between upper and lower case.
		return strings.EqualFold(name, ".git") || strings.EqualFold(name, paths.GauntletDir)
	}
	if dir == "." || slices.ContainsFunc(strings.Split(dir, "/"), taken) {
		v.fault("must be a folder of its own, outside .git and "+paths.GauntletDir, "")
		return false
	}
	*to = dir
	return true
}
