package lazyregexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A package's variables are made at every start of the program.
func TestNoPackageCompilesAtTheStart(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok && compiles(d) {
				t.Errorf("%s compiles a regular expression at the start: take lazyregexp.New", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// compiles reports whether a declaration calls regexp outside of a function.
func compiles(d *ast.GenDecl) (found bool) {
	ast.Inspect(d, func(node ast.Node) bool {
		if call, ok := node.(*ast.SelectorExpr); ok {
			from, ok := call.X.(*ast.Ident)
			found = found || ok && from.Name == "regexp" && strings.HasPrefix(call.Sel.Name, "MustCompile")
		}
		_, function := node.(*ast.FuncLit)
		return !function
	})
	return found
}
