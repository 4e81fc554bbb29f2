package conformance

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wings are the folders of internal, and what each may import of the others: a whole wing, or one
// package of it. docs/design.md draws them.
var wings = map[string][]string{
	"sys":     {},
	"record":  {"sys"},
	"project": {"sys", "harness/hook"}, // the contract with a client: events have its names
	"harness": {"sys", "record", "project"},
	"session": {"sys", "project", "harness/hook"},
	"agents":  {"sys", "record", "session"},
	"gate":    {"sys", "record", "project", "harness", "session", "agents"},
	"control": {"sys", "record", "project", "harness", "session", "agents", "gate"},
	"cli":     {"sys", "record", "project", "harness", "session", "agents", "gate"},
}

// linked are what the two programs link directly.
var linked = map[string][]string{
	"cmd/stopgate":  {"cli"},
	"cmd/stopgated": {"sys", "session", "control"},
}

// An import points down, and nothing but stopgated links the control plane.
func TestImportsPointDown(t *testing.T) {
	for name, may := range wings {
		imports(t, filepath.Join("internal", name), func(file, wing, pkg string) {
			if wing != name && !allowed(may, wing, pkg) {
				t.Errorf("%s imports %s, which %s must not", file, pkg, name)
			}
		})
	}
	for program, may := range linked {
		imports(t, program, func(file, wing, pkg string) {
			if !allowed(may, wing, pkg) {
				t.Errorf("%s imports %s, which %s must not", file, pkg, program)
			}
		})
	}
	entries, err := filepath.Glob(filepath.Join(repository, "internal", "*"))
	check(t, err)
	for _, entry := range entries {
		if _, known := wings[filepath.Base(entry)]; !known {
			t.Errorf("%s is not one of the wings", filepath.Base(entry))
		}
	}
}

func allowed(may []string, wing, pkg string) bool {
	return slices.Contains(may, wing) || slices.Contains(may, pkg)
}

// imports tells of each import of ours in the sources below a folder, tests aside: the wing, and
// the package with its wing.
func imports(t *testing.T, folder string, tell func(file, wing, pkg string)) {
	t.Helper()
	const ours = "github.com/stopgate/stopgate/internal/"
	err := filepath.WalkDir(filepath.Join(repository, folder), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range source.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if pkg, ok := strings.CutPrefix(imported, ours); ok {
				wing, _, _ := strings.Cut(pkg, "/")
				tell(path, wing, pkg)
			}
		}
		return nil
	})
	check(t, err)
}
