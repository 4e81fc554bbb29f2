package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// folder is a path below the project's root, "." included.
func folder() typeOf[string] { return inside(textThat(command(), noBackslash)) }

// pathPattern is a path below the project's root that may be a pattern.
func pathPattern() typeOf[string] { return inside(glob()) }

func logDir() typeOf[string] { return textThat(folder(), ofItsOwn) }

// inside reads a path without a leading "./" and a slash at its end.
func inside(t typeOf[string]) typeOf[string] {
	below := textThat(t, relative, noParent, noNUL, notBlankPath)
	return document.Then(below, func(_ value, text string) (string, bool) { return path.Clean(text), true })
}

var (
	noBackslash = rule{func(text string) bool { return !strings.Contains(text, `\`) }, `must not contain \`, "write / between folders"}
	relative    = rule{isRelative, "must be relative to the project's root", ""}
	noParent    = rule{func(text string) bool { return !slices.Contains(strings.Split(text, "/"), "..") }, `must not contain ".."`, ""}

	notBlankPath = rule{func(text string) bool { return notBlank.holds(path.Clean(text)) }, "must not be blank", ""}

	// The folder for logs is emptied from time to time, and its content is no part of the
	// project, so it can neither hold nor be part of what git and we keep.
	ofItsOwn = rule{isOfItsOwn, "must be a separate folder, outside .git and " + paths.GauntletDir, ""}
)

func isRelative(text string) bool {
	return !path.IsAbs(text) && !filepath.IsAbs(text) && filepath.VolumeName(text) == ""
}

func isOfItsOwn(dir string) bool {
	taken := func(name string) bool {
		// Some file systems make no difference between upper and lower case.
		return strings.EqualFold(name, ".git") || strings.EqualFold(name, paths.GauntletDir)
	}
	return dir != "." && !slices.ContainsFunc(strings.Split(dir, "/"), taken)
}
