package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

const (
	checksFolder  = "checks"
	reviewsFolder = "reviews"

	// maxGateFiles is what trust looks at, too. A run must not spend its time on
	// reading.
	maxGateFiles = 1000
)

// gateFile is a file in checks/ or reviews/. Its gate is named after it.
type gateFile struct {
	gate      string
	extension string
	path      string
	shown     string
}

// GateFiles lists the files in dir that LoadGates looks at, as they are shown.
func GateFiles(dir, shown string) (names []string) {
	for _, folder := range []string{checksFolder, reviewsFolder} {
		files, _ := listGates(dir, shown, folder)
		for _, file := range files {
			names = append(names, file.shown)
		}
	}
	return names
}

// listGates lists the gates of a folder in the order of their names. A folder
// that is missing has none.
func listGates(dir, shown, folder string) (files []gateFile, faults []document.Fault) {
	shown = filepath.Join(shown, folder)
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil {
		// Losing a link's target is not the same as having no gates.
		if _, linkErr := os.Lstat(filepath.Join(dir, folder)); errors.Is(linkErr, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, document.Unreadable(shown, err).All
	}

	for _, entry := range entries {
		name := entry.Name()
		extension := filepath.Ext(name)
		file := gateFile{
			gate:      strings.TrimSuffix(name, extension),
			extension: extension,
			path:      filepath.Join(dir, folder, name),
			shown:     filepath.Join(shown, strings.Map(document.Visible, name)),
		}

		switch {
		case strings.HasPrefix(name, "."):
		case !slices.Contains(extensions(folder), extension):
			faults = append(faults, misnamed(file, extensions(folder))...)
		case len(files) == maxGateFiles:
			return files, append(faults, document.OfFile(shown, "has more than "+strconv.Itoa(maxGateFiles)+" gates", ""))
		default:
			files = append(files, file)
		}
	}
	return files, append(faults, nameFaults(files)...)
}

func extensions(folder string) []string {
	if folder == reviewsFolder {
		return []string{".md", ".yml", ".yaml"}
	}
	return []string{".yml", ".yaml"}
}

// misnamed finds fault with a file that was surely meant to be a gate: nothing
// would read it, and nobody would notice.
func misnamed(file gateFile, valid []string) []document.Fault {
	lower := strings.ToLower(file.extension)
	if !slices.Contains(valid, lower) && !slices.Contains([]string{".ym", ".yl", ".ymal", ".yaml_", ".json", ".toml"}, lower) {
		return nil
	}
	return []document.Fault{document.OfFile(file.shown, "files with this extension are ignored", "rename it to "+quote(file.gate+valid[0]))}
}

// nameFaults finds fault with names that are not valid, and with two files for
// one gate.
func nameFaults(files []gateFile) (faults []document.Fault) {
	first := map[string]string{}
	for _, file := range files {
		if !validName(file.gate) {
			faults = append(faults, document.OfFile(file.shown, nameRule.wrong(file.gate), nameRule.hint))
		}
		if other, again := first[file.gate]; again {
			faults = append(faults, document.OfFile(file.shown, "there are two files for the gate "+quote(file.gate), "delete this one or "+other))
			continue
		}
		first[file.gate] = file.shown
	}
	return faults
}
