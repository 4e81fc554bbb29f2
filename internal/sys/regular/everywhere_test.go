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

// hooks are the folders that a hook call runs through.
var hooks = []string{
	"agents/agentdir", "gate", "harness", "project", "record", "session/driver", "session/presence", "session/queue",
	"session/wake", "sys/git", "sys/jsonfile", "sys/paths",
}

// exempt are the files that open something by themselves, with the reason.
var exempt = map[string]string{
	"gate/gauntlet/change/content.go": "a folder", "gate/gauntlet/logdir/dir.go": "a folder", "record/journal/segment.go": "a folder",
	"harness/launch/nested_linux.go": "below /proc", "gate/trust/restore.go": "a person calls it, to keep what is there",
}

// os.Open and os.ReadFile wait for a pipe, and read a file of any size.
func TestHooksOpenRegularFilesOnly(t *testing.T) {
	for _, dir := range hooks {
		root := filepath.Join("../..", dir)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.IsDir() && (strings.HasSuffix(entry.Name(), "test") || strings.HasSuffix(entry.Name(), "gen")) {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			if call := opens(t, path); call != "" && exempt[name] == "" {
				t.Errorf("%s calls os.%s: take regular.Open, Read or Head", name, call)
			}
			return nil
		})
		check(t, err)
	}
}

// opens is the function of package os by which a file of the source opens or reads one; empty
// where there is none.
func opens(t *testing.T, path string) (name string) {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	check(t, err)
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
