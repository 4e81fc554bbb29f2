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
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// What a stop of an agent means is in its file. The daemon is asked for the signal alone.
func TestSeed002OnStopIsNoQuestion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "internal", "control", "api", "openapi.json"))
	check(t, err)
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	check(t, json.Unmarshal(text, &document))
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
		for _, f := range reflect.VisibleFields(kind) {
			if strings.Contains(strings.ToLower(f.Name), "onstop") {
				t.Errorf("%s has %s", kind, f.Name)
			}
		}
	}
}

// Tests with agents wait for what they want to see, and pause only for a moment between two
// looks at it.
func TestSeed002NoTestOfAgentsSleeps(t *testing.T) {
	var files []string
	for _, pattern := range []string{"test/e2e/*_test.go", "test/conformance/plane_*_test.go"} {
		some, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
		if err != nil || len(some) < 4 {
			t.Fatalf("%s: only %d files, %v", pattern, len(some), err)
		}
		files = append(files, some...)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		check(t, err)
		if n := sleeps(file, false); n > 0 {
			t.Errorf("%s sleeps in %d places", path, n)
		}
	}
}

// sleeps counts the pauses that are not those of a loop which looks for something.
func sleeps(in ast.Node, looking bool) (n int) {
	ast.Inspect(in, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.ForStmt:
			if x != in {
				n += sleeps(x, asksAnybody(x.Cond))
				return false
			}
		case *ast.CallExpr:
			if isTime(x.Fun, "Sleep") && !(looking && isMoment(x.Args[0])) && !isIdent(x.Args[0], "typingPause") {
				n++
			}
		case *ast.BlockStmt:
			for _, statement := range x.List {
				if isPause(statement) {
					n++
				}
			}
		}
		return true
	})
	return n
}

// asksAnybody reports whether a loop's condition asks anybody: a count that runs out does not.
func asksAnybody(condition ast.Expr) (asks bool) {
	if condition != nil {
		ast.Inspect(condition, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			asks = asks || ok && !isIdent(call.Fun, "len")
			return true
		})
	}
	return asks
}

// isPause reports whether a statement is <-time.After(…), on its own.
func isPause(statement ast.Stmt) bool {
	alone, ok := statement.(*ast.ExprStmt)
	if !ok {
		return false
	}
	from, ok := alone.X.(*ast.UnaryExpr)
	if !ok {
		return false
	}
	call, ok := from.X.(*ast.CallExpr)
	return ok && isTime(call.Fun, "After")
}

// isMoment reports whether a duration is a few milliseconds.
func isMoment(duration ast.Expr) bool {
	if isTime(duration, "Millisecond") {
		return true
	}
	product, ok := duration.(*ast.BinaryExpr)
	if !ok || product.Op != token.MUL || !isTime(product.Y, "Millisecond") {
		return false
	}
	factor, ok := product.X.(*ast.BasicLit)
	if !ok {
		return false
	}
	count, err := strconv.Atoi(factor.Value)
	return err == nil && count <= 20
}

func isTime(e ast.Expr, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == name && isIdent(s.X, "time")
}

func isIdent(e ast.Expr, name string) bool {
	x, ok := e.(*ast.Ident)
	return ok && x.Name == name
}

func TestSleeps(t *testing.T) {
	for text, want := range map[string]int{
		`time.Sleep(5 * time.Millisecond)`:                                      1,
		`for { time.Sleep(5 * time.Millisecond) }`:                              1,
		`for range 9 { time.Sleep(5 * time.Millisecond) }`:                      1,
		`for i := 0; i < 1; i++ { time.Sleep(5 * time.Millisecond) }`:           1,
		`for i := 0; i < len(x); i++ { time.Sleep(5 * time.Millisecond) }`:      1,
		`for g() { time.Sleep(5 * time.Second) }`:                               1,
		`for g() { time.Sleep(500 * time.Millisecond) }`:                        1,
		`for g() { time.Sleep(pause) }`:                                         1,
		`for g() { for { time.Sleep(5 * time.Millisecond) } }`:                  1,
		`<-time.After(time.Second)`:                                             1,
		`for g() { <-time.After(time.Second) }`:                                 1,
		`for g() { time.Sleep(5 * time.Millisecond) }`:                          0,
		`for end := h(); !g(); time.Sleep(5 * time.Millisecond) { f(end) }`:     0,
		`for x.Err() == nil { if g() { break }; time.Sleep(time.Millisecond) }`: 0,
		`select { case <-time.After(time.Second): case <-c: }`:                  0,
		`time.Sleep(typingPause)`:                                               0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; func f() { "+text+" }", 0)
		check(t, err)
		if got := sleeps(file, false); got != want {
			t.Errorf("%d, want %d: %s", got, want, text)
		}
	}
}
