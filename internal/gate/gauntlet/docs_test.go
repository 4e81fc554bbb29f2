package gauntlet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/reference/results.md explains everything that a run or a gate can end with.
func TestResultsPageNamesEveryResult(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/results.md")
	if err != nil {
		t.Fatal(err)
	}

	results := slices.Concat(constantsIn(t, "status.go"), constantsIn(t, "outcome.go"), constantsIn(t, "../../record/event/status.go"))
	if len(results) < 20 {
		t.Errorf("only %d results were found: %q", len(results), results)
	}
	for _, result := range results {
		if !strings.Contains(string(page), "`"+result+"`") {
			t.Errorf("%q is not on the page", result)
		}
	}
}

// constantsIn are the values of the string constants of a file.
func constantsIn(t *testing.T, file string) (values []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
			for _, spec := range group.Specs {
				for _, value := range spec.(*ast.ValueSpec).Values {
					if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
						values = append(values, strings.Trim(literal.Value, `"`))
					}
				}
			}
		}
	}
	return values
}
