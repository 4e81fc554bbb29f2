package footprint

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Leads reports whether a path in a command line leads to a folder or into it. stands are the directories from which the
// agent works: a command may first go into a folder below them, and what leads into one that lies in the folder does not
// count. Where a path begins with what only a shell knows, its last part decides.
func Leads(command, top string, stands []string) bool {
	text := []byte(Unquoted(command))
	name, dir := filepath.Base(top), filepath.Dir(top)
	for start := range words(text, name) {
		before, after := text[:start], text[start+len(name):]
		before, found := bytes.CutSuffix(before, []byte("/"))
		if !found || isExtended(after) || leadsInto(after, top, stands) {
			continue
		}

		path := pathAtEnd(before)
		if path == "" && dir == filepath.Dir(dir) || path != "" && leadsTo(path, dir, stands) || spells(before, dir, stands) {
			return true
		}
	}
	return false
}

// Unquoted is a command line without quotes, and without backslashes, which protect the characters after them.
func Unquoted(line string) string { return quotes.Replace(line) }

var quotes = strings.NewReplacer("\\\n", "", `\`, "", `"`, "", `'`, "")

// leadsInto reports whether a path that led to a folder goes on into one of the stands in it.
func leadsInto(after []byte, top string, stands []string) bool {
	return slices.ContainsFunc(stands, func(stand string) bool {
		below, found := strings.CutPrefix(paths.Canonical(stand), top)
		rest, goesOn := bytes.CutPrefix(after, []byte(below))
		return found && below != "" && goesOn && wordEnds(rest)
	})
}

// pathAtEnd is the path in which a text ends. It may follow the letter of an option, as in -C../other.
func pathAtEnd(text []byte) string {
	path := string(text[bytes.LastIndexAny(text, " \t\n=:;,&|<>([]")+1:])
	if len(path) > 1 && path[0] == '-' && path[1] != '-' {
		return path[2:]
	}
	return strings.TrimPrefix(path, "@") // as curl takes a file
}

// spells reports whether a text ends in the way to a directory, its own or that from where the agent stands, which may have
// spaces and other characters that part paths.
func spells(text []byte, dir string, stands []string) bool {
	ways := []string{dir}
	for _, stand := range stands {
		if way, err := filepath.Rel(paths.Canonical(stand), dir); err == nil {
			ways = append(ways, way)
		}
	}
	return slices.ContainsFunc(ways, func(way string) bool {
		before, found := bytes.CutSuffix(text, []byte(way))
		return found && pathAtEnd(before) == ""
	})
}

// onlyAShell is what in a path only a shell knows the meaning of.
const onlyAShell = "$%{}*?`)~"

// leadsTo reports whether a path can lead to a directory.
func leadsTo(path, dir string, stands []string) bool {
	if strings.ContainsAny(path, onlyAShell) {
		last := path[strings.LastIndexByte(path, '/')+1:]
		return last == ".." || last == filepath.Base(dir) || strings.ContainsAny(last, onlyAShell)
	}
	if filepath.IsAbs(path) {
		return paths.Canonical(path) == dir
	}
	return slices.ContainsFunc(stands, func(stand string) bool {
		return paths.Canonical(filepath.Join(stand, path)) == dir || climbsTo(path, dir, stand)
	})
}

// climbsTo reports whether a path that goes up leads to a directory from a folder somewhere below the one where the agent stands.
func climbsTo(path, dir, stand string) bool {
	down, up := filepath.ToSlash(filepath.Clean(path))+"/", 0
	for rest, climbs := strings.CutPrefix(down, "../"); climbs; rest, climbs = strings.CutPrefix(down, "../") {
		down, up = rest, up+1
	}
	above, found := strings.CutSuffix(filepath.ToSlash(dir), strings.TrimSuffix("/"+down, "/"))
	if !found {
		return false
	}
	rel, err := filepath.Rel(filepath.FromSlash(above+"/"), paths.Canonical(stand))
	if err != nil || strings.HasPrefix(rel, "..") {
		return false
	}
	return strings.Count(filepath.ToSlash(rel), "/")+1 <= up
}
