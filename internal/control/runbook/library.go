package runbook

import (
	"embed"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// library holds the runbooks that are part of the program. They need no approval: they change
// only with the program.
//
//go:embed library
var library embed.FS

const libraryDir = "library"

// Libraries are the names that an import can give.
func Libraries() []string {
	entries, _ := library.ReadDir(libraryDir) // it is embedded
	var all []string
	for _, e := range entries {
		if isRunbook(e.Name()) {
			all = append(all, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
		}
	}
	slices.Sort(all)
	return all
}

// libraryFile is the file of a library.
func libraryFile(name string) (file string, found bool) {
	for _, ext := range []string{".hcl", ".toml"} {
		if _, err := readLibrary(name + ext); err == nil && !strings.Contains(name, "/") {
			return name + ext, true
		}
	}
	return "", false
}

func readLibrary(name string) ([]byte, error) { return library.ReadFile(path.Join(libraryDir, name)) }

func libraryOrigin() origin { return origin{dir: libraryDir, read: readLibrary, library: true} }

// libraryVersion says which text of a library this program has: the version of the program,
// and the beginning of the text's hash, which differs between builds of no release.
func libraryVersion(file string) string {
	text, _ := readLibrary(file)
	return program.Version() + " " + digest.Hex(text)[:12]
}

func noLibrary(name string) string {
	hint := document.OrValid("librarie", name, Libraries())
	switch {
	case !strings.Contains(name, "/"):
	case !strings.HasPrefix(name, "oj/"):
		return "a file below the runbooks directory is imported by its path, such as: lib/review.hcl"
	default:
		return "the libraries of oddjobs are not part of stopgate: copy the file below the runbooks directory and import it by its path"
	}
	return hint
}
