package conformance

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/engine"
)

// What a stop of an agent means is in its file. The daemon is asked for the signal alone.
func TestSeed002OnStopIsNoQuestion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "internal", "api", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(document.Components.Schemas["Signal"].Properties))
	if want := []string{"kind", "message", "signaled"}; !slices.Equal(got, want) {
		t.Errorf("the answer has %q, want %q", got, want)
	}
}

// Nor is it kept with a pipeline or an agent: the plan has what the runbook says, and no more.
func TestSeed002OnStopIsNoState(t *testing.T) {
	for _, state := range []any{engine.Owner{}, engine.Agent{}} {
		kind := reflect.TypeOf(state)
		if kind.NumField() < 5 {
			t.Errorf("%s has only %d fields", kind, kind.NumField())
		}
		for i := range kind.NumField() {
			if f := kind.Field(i); strings.Contains(strings.ToLower(f.Name), "onstop") {
				t.Errorf("%s has %s", kind, f.Name)
			}
		}
	}
}

// Tests with agents wait for what they want to see, and pause only between two looks at it.
func TestSeed002NoTestOfAgentsSleeps(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "test", "e2e", "agent_*_test.go"))
	if err != nil || len(files) < 5 {
		t.Fatalf("only %d files, %v", len(files), err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if n := sleeps(file); n > 0 {
			t.Errorf("%s sleeps in %d places", path, n)
		}
	}
}

// sleeps counts the calls of time.Sleep that are in no loop with a condition.
func sleeps(file *ast.File) (n int) {
	ast.Inspect(file, func(node ast.Node) bool {
		if loop, ok := node.(*ast.ForStmt); ok && loop.Cond != nil {
			return false
		}
		if s, ok := node.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
				n++
			}
		}
		return true
	})
	return n
}

func TestSleeps(t *testing.T) {
	const text = `package x; import "time"; func f() { time.Sleep(1); for { time.Sleep(1) }; for g() { time.Sleep(1) } }`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := sleeps(file); got != 2 {
		t.Errorf("%d, want 2", got)
	}
}
