//go:build unix

package gauntlet

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// notes are those of a configuration, as a person reads them.
func (s *scene) notes() (all []string) {
	s.t.Helper()
	notes, err := Notes(s.t.Context(), s.project(), s.env)
	must(s.t, err)
	for _, note := range notes {
		all = append(all, note.String())
	}
	return all
}

func (s *scene) wantNotes(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.notes()); diff != "" {
		s.t.Error(diff)
	}
}

// An entry point that no file leads to checks nothing, which looks like one that passes.
func TestE16AnEntryPointWithoutFilesIsNamed(t *testing.T) {
	s := newScene(t, `
entry_points:
  - {path: ., checks: &checks [{name: t, command: "true"}]}
  - {path: src, checks: *checks}
  - {path: "packages/*", checks: *checks}
  - {path: "packages/*/src", checks: *checks}
  - {path: "{src,packages}", checks: *checks}
  - {path: "*.txt", checks: *checks}
  - {path: scr, checks: *checks}
  - {path: Src, checks: *checks}
  - {path: 'packages\a', checks: *checks}
  - {path: "src ", checks: *checks}
  - {path: "libraries/*", checks: *checks}
  - {path: "packages/*/test", checks: *checks}
  - {path: build, checks: *checks}
  - {path: packages/a, exclude: ["packages/*/src/**"], checks: *checks}
  - {path: packages/b, exclude: ["docs/**", "!docs/api/**"], checks: *checks}
`)
	s.write("packages/b/x", "")
	s.write("src/x", "")
	s.write("packages/a/src/x", "")
	s.write("build/x", "")
	s.write(".gitignore", "build\n")
	s.wantNotes(
		"entry_points: no file matches scr, so its gates never run",
		"entry_points: no file matches Src, so its gates never run",
		`entry_points: no file matches packages\a, so its gates never run`,
		`entry_points: no file matches "src ", so its gates never run`,
		"entry_points: no file matches libraries/*, so its gates never run",
		"entry_points: no file matches packages/*/test, so its gates never run",
		"entry_points: no file matches build, so its gates never run",
		"entry_points: exclude leaves no file of packages/a, so its gates never run",
		"entry_points: exclude leaves no file of packages/b, so its gates never run",
		"exclude: !docs/api/** excludes everything else; unlike in a .gitignore, it makes no exception",
	)
}

// Inputs that match nothing, or less than meant, would prove a gate for ever.
func TestE11InputsWithoutFilesProveNothing(t *testing.T) {
	s := newScene(t, `
entry_points:
  - path: packages/*
    checks:
      - {name: own, command: "test ! -e src/red", inputs: ["src/**", package.json]}
      - {name: typo, command: "test ! -e src/red", inputs: [package.json, "scr/**"]}
`)
	s.write("package.json", "")
	s.write("packages/a/package.json", "")
	s.write("packages/a/src/x", "")
	s.wantNotes("inputs: no file matches scr/** of check:packages/a:typo, so it runs every time")
	s.want(Passed)
	detected, err := Detect(t.Context(), s.options())
	must(t, err)
	proven := ProvenJobs(t.Context(), s.options(), detected.Jobs)
	if diff := cmp.Diff(map[string]bool{"check:packages/a:own": true}, proven); diff != "" {
		t.Error(diff)
	}
	s.write("packages/a/src/red", "")
	s.want(Failed, "own", "typo")
}

// A folder of the project that log_dir names by mistake is judged all the same, less what runs write there.
func TestE16TrackedFilesInTheLogDirectoryCount(t *testing.T) {
	s := newScene(t, "log_dir: src\n"+oneCheck("test ! -e src/red"))
	s.write("src/lib/x", "")
	s.write("src/.gitkeep", "")
	s.git("add", "-A")
	s.wantNotes("log_dir: git tracks 1 file in src, such as src/lib/x; use a directory of its own for logs")
	s.want(Passed)
	s.write("src/red", "")
	s.want(Failed, "check:.:t")
	must(t, os.Remove(s.path("src/red")))
	s.want(Passed)
	set, err := Detect(t.Context(), s.options())
	must(t, err)
	if slices.ContainsFunc(set.Files, func(name string) bool { return strings.HasSuffix(name, ".log") }) {
		t.Errorf("logs count: %q", set.Files)
	}
}

// That all of them are deleted is seen, too, although only logs are left in the folder then.
func TestE16TrackedFilesOfTheLogDirectoryThatAreGone(t *testing.T) {
	s := newScene(t, "log_dir: src\n"+oneCheck("test -e src/lib/x"))
	s.write("src/lib/x", "")
	s.write("src/.gitkeep", "")
	s.commit()
	s.want(Passed)
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	must(t, os.RemoveAll(s.path("src/lib")))
	s.want(Failed, "check:.:t")
}

// Nothing is said of a log directory that only runs and gates write to, whatever of it was committed.
func TestE16CommittedLogsDoNotCount(t *testing.T) {
	s := newScene(t, oneCheck("exit 0"))
	s.write("gauntlet_logs/.gitignore", "*\n")
	s.write("gauntlet_logs/check_._t.1.log", "")
	s.write("gauntlet_logs/previous/.execution_state", "{}")
	s.git("add", "-fA")
	s.write("gauntlet_logs/junit.xml", "1")
	s.write("f", "1")
	s.wantNotes()
	s.want(Passed)
	s.write("gauntlet_logs/junit.xml", "2")
	if r := s.want(Passed); r.Gates[0].Outcome != GateProven {
		t.Errorf("%+v", r.Gates[0])
	}
}

// What an agent makes is new to git, and to programs that check what a commit would have.
func TestE16AGateThatSeesOnlyWhatGitTracksIsNamed(t *testing.T) {
	s := newScene(t, `
entry_points:
  - path: .
    checks:
      - {name: a, command: pre-commit run --all-files}
      - {name: b, command: npx lefthook run pre-commit}
      - {name: c, command: "npm ci && npx lint-staged"}
      - {name: d, command: pre-commit run --files a b}
      - {name: e, command: "export GIT_INDEX_FILE=x; git add -A && prek run -a"}
      - {name: f, command: "npx eslint . # not lint-staged-x"}
      - {name: g, command: sh tools/my-pre-commit run}
      - {name: h, command: ./node_modules/.bin/lint-staged}
`)
	const overlooks = " looks only at files that git tracks; for new ones, give it an index of its own (docs/recipes/hook-managers.md)"
	s.wantNotes("command: check a"+overlooks, "command: check b"+overlooks, "command: check c"+overlooks, "command: check h"+overlooks)
}
