package conformance

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/project/config"
)

// options are those of a run in the project, as the stop hook makes them.
func (g *gated) options() gauntlet.Options {
	g.t.Helper()
	state := g.beside("state")
	place := stop.Locator{StateDir: state, Global: &config.Global{}}.Locate(g.root, true)
	if place.Project == nil {
		g.t.Fatalf("no project: %+v", place.Verdicts)
	}
	return gauntlet.Options{Project: place.Project, Global: &config.Global{}, StateDir: state, Environ: g.env, Now: time.Now}
}

// execute runs the gates as the stop hook does.
func (g *gated) execute(prompt string) gauntlet.Result {
	g.t.Helper()
	o := g.options()
	o.Answers, o.Prompt, o.Session = true, prompt, "session"
	return gauntlet.Execute(context.Background(), o)
}

// hold takes the run's lock, as another run would, until release is called.
func (g *gated) hold() (release func()) {
	g.t.Helper()
	lock, err := logdir.At(g.path("gauntlet_logs")).Acquire(time.Now())
	check(g.t, err)
	return func() { _ = lock.Release() }
}

// The gates are children of the hook's own process: no other gauntlet stands
// between them.
func TestDirectFunctionInvocation(t *testing.T) {
	g := newGated(t, strings.Replace(theCheck, "echo run", `echo "$PPID"`, 1))
	cmd := g.command("stop-hook")
	a := understand(t, await(t, cmd, bytes.NewReader(g.stopPayload(nil))))
	a.is(t, "passed")
	if parent := strings.TrimSpace(slurp(t, g.beside("runs"))); parent != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("the check's parent is %s, the hook was %d", parent, cmd.Process.Pid)
	}
	g.write("work.txt", "more\n")
	if r := g.execute("p"); r.Status != gauntlet.Passed || len(r.Gates) != 1 || r.Gates[0].Job != "check:.:tests" {
		t.Errorf("%+v", r)
	}
}

func TestSilentModeExecution(t *testing.T) {
	g := newGated(t, strings.Replace(theCheck, "echo run", "echo heard; echo run", 1))
	a := g.stop()
	a.is(t, "passed")
	if a.stderr != "" || strings.Contains(a.stdout, "heard") {
		t.Errorf("not silent: %+v", a.result)
	}
	contains(t, slurp(t, g.log("previous/console.1.log")), "[PASS]  check:.:tests", "Status: Passed")
	contains(t, slurp(t, g.log("previous/check_._tests.1.log")), "heard", "Result: pass")

	g.write("work.txt", "more\n")
	var console strings.Builder
	options := g.options()
	options.Console = &console
	if r := gauntlet.Execute(context.Background(), options); console.String() != slurp(t, r.ConsoleLogPath) || console.Len() == 0 {
		t.Errorf("the console and its log differ: %q", console.String())
	}
}

func TestGauntletExecutionError(t *testing.T) {
	t.Parallel()
	t.Run("error", func(t *testing.T) {
		g := newGated(t, "no_such_key: 1\n")
		a := g.stop()
		a.is(t, "error", "no_such_key")
		if a.Decision != "approve" {
			t.Error(a.stdout)
		}
	})
	t.Run("infrastructure", func(t *testing.T) {
		g := newGated(t, theCheck)
		g.set("PATH=" + g.beside("bin"))
		a := g.stop()
		a.is(t, "infrastructure_error", "could not be started")
		if a.Decision != "approve" || a.SystemMessage == "" {
			t.Error(a.stdout)
		}
	})
}

func TestNoProcessExitInExecutor(t *testing.T) {
	g := newGated(t, theCheck)
	if r := g.execute("p"); r.Status != gauntlet.Passed {
		t.Errorf("%+v", r)
	}
	g.write("bad", "")
	r := g.execute("p") // that we are still here is the point
	if r.Status != gauntlet.Failed || r.Failures != 1 {
		t.Errorf("%+v", r)
	}
	ends := map[string]bool{"os.Exit": true, "syscall.Exit": true, "runtime.Goexit": true, "log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true}
	inspect(t, "internal", func(place string, node ast.Node) {
		if strings.Contains(place, "internal/sys/enclave/stage_") {
			return // a process of its own, which only becomes the command
		}
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if pkg, ok := selector.X.(*ast.Ident); ok && ends[pkg.Name+"."+selector.Sel.Name] {
				t.Errorf("%s ends the process", place)
			}
		}
	})
}

// inspect shows every node of the program's own files in a folder of the
// repository.
func inspect(t *testing.T, folder string, look func(place string, node ast.Node)) {
	t.Helper()
	looked := 0
	err := filepath.WalkDir(filepath.Join(repository, folder), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil || file.Name.Name == "main" { // a generator is a program of its own
			return err
		}
		looked++
		ast.Inspect(file, func(node ast.Node) bool {
			if node != nil {
				look(files.Position(node.Pos()).String(), node)
			}
			return true
		})
		return nil
	})
	if err != nil || looked == 0 {
		t.Fatalf("looked at %d files: %v", looked, err)
	}
}

func TestRunResultContainsMetadata(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	failed := g.execute("p")
	if failed.Status != gauntlet.Failed || failed.Message == "" || failed.ErrorMessage != "" {
		t.Errorf("%+v", failed)
	}
	if failed.ConsoleLogPath != g.log("console.1.log") || !exists(failed.ConsoleLogPath) {
		t.Errorf("console log %q", failed.ConsoleLogPath)
	}
	g.write("bad", "still")
	if again := g.execute("p"); again.ConsoleLogPath != g.log("console.2.log") {
		t.Errorf("the latest console log is %q", again.ConsoleLogPath)
	}
	g.remove("bad")
	passed := g.execute("p")
	if passed.Status != gauntlet.Passed || passed.ConsoleLogPath != g.log("previous/console.3.log") || !exists(passed.ConsoleLogPath) {
		t.Errorf("%+v", passed)
	}
	if nothing := g.execute("p"); nothing.Status != gauntlet.Passed || nothing.ConsoleLogPath != "" {
		t.Errorf("nothing ran, and yet: %+v", nothing)
	}
	options := g.options()
	options.Scope.Base, options.Scope.Explicit = "no-such-branch", true
	broken := gauntlet.Execute(context.Background(), options)
	if broken.Status != gauntlet.Error || !strings.Contains(broken.ErrorMessage, "no-such-branch") || broken.Message == "" {
		t.Errorf("%+v", broken)
	}
}
