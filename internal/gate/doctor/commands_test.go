package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/shell"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
)

// parsed answers as stopgated does.
func parsed(_ context.Context, question need.Question) (answer [][]need.Need, err error) {
	for _, line := range question.Lines {
		answer = append(answer, shell.Needs(line, question.Home))
	}
	return answer, nil
}

// Where stopgated does not say what commands need, none of them is known to run, even if it ran
// before.
func TestCommandsThatWereNotRead(t *testing.T) {
	root := t.TempDir()
	s := survey(t, root, "true")
	check(t, ledger.OpenHistory(s.StateDir, root).Add(t.Context(), map[string]ledger.Finish{"check:.:lint": {At: time.Now()}}))
	for name, needs := range map[string]need.Reader{
		"an error":        func(context.Context, need.Question) ([][]need.Need, error) { return nil, errors.New("no stopgated") },
		"too few answers": func(context.Context, need.Question) ([][]need.Need, error) { return nil, nil },
	} {
		s.Needs = needs
		if _, unsure := s.commands(t.Context()); len(unsure) != 1 || !strings.Contains(unsure[0].Command, "not read: ") {
			t.Errorf("%s: %+v", name, unsure)
		}
	}
}

// survey is one of a project with a check "lint" that has the command.
func survey(t *testing.T, root, command string) Survey {
	t.Helper()
	dir := filepath.Join(root, ".gauntlet")
	quoted, err := json.Marshal(command) // which YAML reads as well
	check(t, err)
	write(t, filepath.Join(dir, "config.yml"), "entry_points:\n  - path: .\n    checks:\n      - {name: lint, command: "+string(quoted)+"}\n")
	project, err := config.LoadProject(dir, dir)
	check(t, err)
	gates, err := config.LoadGates(dir, dir, project)
	check(t, err)
	return Survey{Project: &keeper.Project{Root: root, Config: project, Gates: gates}, Environ: os.Environ(), StateDir: filepath.Join(root, "state"), Needs: parsed}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(file), 0o700))
	check(t, os.WriteFile(file, []byte(text), 0o700))
}

func TestE16EveryProgramResolves(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"src/check.sh", "tools/check.py", "dist/check.js", "web/node_modules/.bin/eslint", ".venv/bin/pytest"} {
		write(t, filepath.Join(root, file), "#!/bin/sh\n")
	}
	for command, want := range map[string]struct{ missing, unsure []string }{
		"true":                              {},
		"timeout 5 nosuch":                  {missing: []string{"nosuch"}},
		`sh -c "cd src && nosuch ."`:        {missing: []string{"nosuch"}},
		"nice -n 5 nosuch":                  {missing: []string{"nosuch"}},
		"sh .gauntlet/missing.sh":           {missing: []string{".gauntlet/missing.sh"}},
		"env sh src/missing.sh":             {missing: []string{"src/missing.sh"}},
		`test -z "$(nosuch -l .)"`:          {missing: []string{"nosuch"}},
		"ls | xargs nosuch":                 {missing: []string{"nosuch"}},
		"nosuch && nosuch":                  {missing: []string{"nosuch"}},
		"cd src && ./missing.sh":            {missing: []string{"./missing.sh"}},
		"if true; then nosuch; fi":          {missing: []string{"nosuch"}},
		"make; ./bin/made":                  {unsure: []string{"./bin/made"}},
		"$CMD":                              {unsure: []string{"$CMD"}},
		"cd src && ./check.sh":              {},
		"cd src; sh check.sh":               {},
		"cd src && ../src/check.sh":         {},
		"cd tools && set -e && true":        {},
		"f() { true; }; f":                  {},
		"if true; then echo; fi":            {},
		"no-such-shell -c 'a && b'":         {missing: []string{"no-such-shell"}},
		"sh -c 'f() { :; }; f && cat'":      {},
		filepath.Join(root, "src/check.sh"): {},
	} {
		got := names(survey(t, root, command).commands(t.Context()))
		if command == "make; ./bin/made" {
			got.missing = nil // not every machine has make
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(want)); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
	for command, unsure := range map[string][]string{
		"npx nosuch": {"nosuch"}, "cd web && npx eslint .": nil, "cd web/src && npx eslint@9 .": nil, "npx eslint": {"eslint"},
		"poetry run pytest": nil, "cd tools && uv run pytest": nil, "uv run mypy": {"mypy"},
	} {
		if got := names(survey(t, root, command).commands(t.Context())); !cmp.Equal(got.unsure, unsure) {
			t.Errorf("%s: %q, want %q", command, got.unsure, unsure)
		}
	}
	for command, missing := range map[string]bool{
		"python3 missing.py": true, "python3 tools/check.py": false, "cd tools; python3 -u check.py": false,
		"node missing.js": true, "node dist/check.js": false, "node dist/check": false,
	} {
		s := survey(t, root, command)
		for _, n := range shell.Needs(command, "") {
			if f := (finder{root: root}); n.Kind == need.File && f.has(t.Context(), ".", n) == missing {
				t.Errorf("%s: missing is %t", command, !missing)
			}
		}
		if got := names(s.commands(t.Context())); len(got.missing) == 0 && missing {
			t.Errorf("%s: nothing is missing", command)
		}
	}
}

func names(missing []MissingProgram, unsure []UnsureCommand) (all struct{ missing, unsure []string }) {
	for _, m := range missing {
		all.missing = append(all.missing, m.Program)
	}
	for _, u := range unsure {
		all.unsure = append(all.unsure, u.Command)
	}
	return all
}

// What cannot be told is told by the history: a gate that has ended by itself is found.
func TestE16AGateThatHasRunIsSure(t *testing.T) {
	root := t.TempDir()
	s := survey(t, root, "$CMD && timeout 5 nosuch")
	want := []UnsureCommand{{Gate: "check:.:lint", Check: "lint", Command: "$CMD"}}
	if _, unsure := s.commands(t.Context()); !cmp.Equal(unsure, want) {
		t.Error(cmp.Diff(want, unsure))
	}
	check(t, ledger.OpenHistory(s.StateDir, root).Add(t.Context(), map[string]ledger.Finish{"check:.:lint": {At: time.Now()}}))
	missing, unsure := s.commands(t.Context())
	if len(unsure) > 0 || len(missing) != 1 {
		t.Errorf("unsure: %v, missing: %v", unsure, missing)
	}
}

// The history of a command that was replaced says nothing about the one that runs now.
func TestE16TheHistoryIsOfTheCommand(t *testing.T) {
	root := t.TempDir()
	s := survey(t, root, "$CMD")
	last := ledger.Finish{At: time.Now(), In: time.Hour, Command: "of another one"}
	check(t, ledger.OpenHistory(s.StateDir, root).Add(t.Context(), ledger.Finishes{"check:.:lint": last}))
	if _, unsure := s.commands(t.Context()); len(unsure) != 1 {
		t.Errorf("unsure: %v", unsure)
	}
	e := examination{Place: Place{StateDir: s.StateDir, Root: root}, project: s.Project.Config, jobs: gauntlet.Jobs(s.Project, s.Environ)}
	if took := e.longest(hook.Stop); took != 0 {
		t.Errorf("the gates took %s", took)
	}
	last.Command = "" // an older stopgate's
	check(t, ledger.OpenHistory(s.StateDir, root).Add(t.Context(), ledger.Finishes{"check:.:lint": last}))
	if _, unsure := s.commands(t.Context()); len(unsure) != 0 {
		t.Errorf("unsure: %v", unsure)
	}
	if took := e.longest(hook.Stop); took != time.Hour {
		t.Errorf("the gates took %s", took)
	}
}

// What runs of an edited .gauntlet is what was approved.
func TestE16ScriptsAreTheApprovedOnes(t *testing.T) {
	root, approved := t.TempDir(), t.TempDir()
	write(t, filepath.Join(approved, "deleted.sh"), "")
	write(t, filepath.Join(root, ".gauntlet", "planted.sh"), "")
	s := survey(t, root, "sh .gauntlet/deleted.sh; cd .gauntlet && ./deleted.sh")
	s.Project.ConfigDir, s.Project.Edited = approved, []string{"deleted.sh"}
	if missing, unsure := s.commands(t.Context()); len(missing)+len(unsure) > 0 {
		t.Errorf("missing: %v, unsure: %v", missing, unsure)
	}
	s = survey(t, root, "sh .gauntlet/planted.sh")
	s.Project.ConfigDir, s.Project.Edited = approved, []string{"planted.sh"}
	if missing, _ := s.commands(t.Context()); len(missing) != 1 {
		t.Errorf("missing: %v", missing)
	}
}
