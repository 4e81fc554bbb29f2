package regular

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hooks are the packages that a hook call runs through.
var hooks = []string{
	"agentdir", "claude", "config", "driver", "gauntlet", "git", "guard", "hook", "jsonfile", "journal", "keeper", "launch", "lifecycle",
	"paths", "presence", "protect", "queue", "settings", "stop", "supervisor", "transcript", "trust", "wake", "work",
}

// exempt are the files that open something by themselves, with the reason.
var exempt = map[string]string{
	"gauntlet/change/content.go": "a folder", "gauntlet/logdir/dir.go": "a folder", "journal/segment.go": "a folder",
	"launch/nested_linux.go": "below /proc", "trust/restore.go": "a person calls it, to keep what is there",
}

// os.Open and os.ReadFile wait for a pipe, and read a file of any size.
func TestHooksOpenRegularFilesOnly(t *testing.T) {
	for _, dir := range hooks {
		root := home(t, dir)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.IsDir() && (strings.HasSuffix(entry.Name(), "test") || strings.HasSuffix(entry.Name(), "gen")) {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, _ := filepath.Rel(filepath.Dir(root), path)
			name = filepath.ToSlash(name)
			if call := opens(t, path); call != "" && exempt[name] == "" {
				t.Errorf("%s calls os.%s: take regular.Open, Read or Head", name, call)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// home is where a package lies.
func home(t *testing.T, name string) string {
	t.Helper()
	for _, pattern := range []string{"../../*/", "../../"} {
		if found, _ := filepath.Glob(pattern + name); len(found) == 1 {
			return found[0]
		}
	}
	t.Fatalf("there is no package %s", name)
	return ""
}

// opens is the function of package os by which a file of the source opens or reads one; empty
// where there is none.
func opens(t *testing.T, path string) (name string) {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(source, func(node ast.Node) bool {
		call, ok := node.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Open", "ReadFile"}, call.Sel.Name) {
			return true
		}
		if from, ok := call.X.(*ast.Ident); ok && from.Name == "os" {
			name = call.Sel.Name
		}
		return true
	})
	return name
}
