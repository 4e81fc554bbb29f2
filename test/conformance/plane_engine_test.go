package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// The older system handled an event twice, and the second time it hit the step that the
// first had led to.
func TestDefect03AnEndThatIsToldTwiceEndsOneStep(t *testing.T) {
	plan := runbook.Plan{Pipeline: runbook.Pipeline{Name: "p", Steps: []runbook.Step{
		{Name: "build", Run: runbook.Run{Shell: "make"}, OnDone: "test", OnFail: "build"},
		{Name: "test", Run: runbook.Run{Shell: "make test"}},
	}}}
	for _, code := range []int{0, 1} {
		now := time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)
		_, o, err := engine.Decide(nil, engine.Input{ID: "create", Time: now, What: engine.Create{
			Owner: "0123456789abcdef", Kind: engine.Pipeline, Name: "p", Plan: plan,
		}})
		check(t, err)
		ended := engine.ShellExited{Key: o.Shell.Key, Code: code}
		_, moved, err := engine.Decide(o, engine.Input{ID: "exit", Time: now, What: ended})
		if err != nil || moved.Shell == nil || moved.Shell.Key == ended.Key {
			t.Fatalf("exit code %d: %+v, %v", code, moved, err)
		}
		for _, id := range []string{"exit", "exit again"} {
			step, again, err := engine.Decide(moved, engine.Input{ID: id, Time: now, What: ended})
			if err != nil || len(step.Facts)+len(step.Effects) > 0 || again != moved {
				t.Errorf("exit code %d, told again: %+v, %v", code, step, err)
			}
		}
	}
}

// The older system's fold took the time from the clock, so that no replay was the same.
func TestDefect05TheEngineHasNoClock(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "internal", "control", "engine", "*.go"))
	check(t, err)
	read := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		read++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		check(t, err)
		for _, use := range impure(file) {
			t.Errorf("%s uses %s", path, use)
		}
	}
	if read < 10 {
		t.Errorf("only %d files", read)
	}
}

// impure lists what a file uses that is not the same each time.
func impure(file *ast.File) (uses []string) {
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		root, _, _ := strings.Cut(path, "/")
		if slices.Contains([]string{"os", "net", "syscall", "io"}, root) || strings.HasSuffix(path, "/rand") || strings.HasPrefix(path, "math/rand") {
			uses = append(uses, path)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" &&
				slices.Contains([]string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}, s.Sel.Name) {
				uses = append(uses, "time."+s.Sel.Name)
			}
		}
		return true
	})
	return uses
}

func TestImpure(t *testing.T) {
	const text = `package x; import ("time"; "math/rand/v2"; "os/exec"; "strings"); var _ = time.Now(); var _ time.Time`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", text, 0)
	check(t, err)
	if got, want := impure(file), []string{"math/rand/v2", "os/exec", "time.Now"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
