package gauntlet

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/glob"
)

// isPattern reports whether a path of the configuration is to be matched rather
// than compared.
func isPattern(text string) bool { return strings.ContainsAny(text, "*?[{") }

// children reports whether an entry point stands for each folder in a parent,
// and which parent that is. The parent is empty for "*".
func children(path string) (parent string, ok bool) {
	if path == "*" {
		return "", true
	}
	parent, ok = strings.CutSuffix(path, "/*")
	return parent, ok && !isPattern(parent)
}

// entriesFor lists the entries that the files lead to at an entry point: itself,
// or the folders of parent/* that hold one of them. Folders come in the order of
// the files.
func entriesFor(path string, exclude, files []string) []string {
	parent, each := children(path)
	var found []string
	seen := map[string]bool{}
	for _, file := range files {
		if excluded(exclude, file) {
			continue
		}
		if !each {
			if leads(path, file) {
				return []string{path}
			}
			continue
		}
		if folder, ok := folderIn(parent, file); ok && !seen[folder] {
			seen[folder] = true
			found = append(found, folder)
		}
	}
	return found
}

// folderIn is the folder directly in parent that holds the file. A file that
// lies in parent itself is in none.
func folderIn(parent, file string) (string, bool) {
	prefix := ""
	if parent != "" {
		prefix = parent + "/"
	}
	rest, ok := strings.CutPrefix(file, prefix)
	if !ok {
		return "", false
	}
	name, _, below := strings.Cut(rest, "/")
	return prefix + name, below
}

// Covers reports whether a path or pattern of the configuration names a file, or a folder that it lies
// in. What looks like a pattern may be a folder's name, such as app/[id].
func Covers(entry, file string) bool {
	switch {
	case entry == ".":
		return true
	case isPattern(entry):
		return matches(entry, file) || below(entry, file)
	}
	return below(entry, file)
}

// leads reports whether a file lies below the path of an entry point. Unlike elsewhere, a pattern stands also for all that
// is in a folder that it matches, as parent/* does: a gate that runs too often harms nothing, one that never runs does.
func leads(path, file string) bool {
	if Covers(path, file) {
		return true
	}
	if !isPattern(path) || strings.HasPrefix(path, "!") {
		return false
	}
	for i, r := range file {
		if r == '/' && glob.Match(path, file[:i]) {
			return true
		}
	}
	return false
}

// below reports whether a file is the named one or lies in the named folder.
func below(name, file string) bool { return file == name || strings.HasPrefix(file, name+"/") }

func excluded(exclude []string, file string) bool {
	return slices.ContainsFunc(exclude, func(item string) bool { return Covers(strings.TrimSuffix(item, "/"), file) })
}

// matches reports whether a pattern selects a file. A ! before it turns it round.
func matches(pattern, file string) bool {
	if rest, negated := strings.CutPrefix(pattern, "!"); negated {
		return !matches(rest, file)
	}
	return glob.Match(pattern, file)
}
