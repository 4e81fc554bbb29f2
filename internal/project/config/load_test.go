package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
)

// files are the content of a .gauntlet.
type files map[string]string

func (f files) write(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		write(t, path, text)
	}
	return dir
}

// load reads the gates; config.yml must be valid.
func load(t *testing.T, dir string) (*Gates, error) {
	t.Helper()
	p, err := LoadProject(dir, ".gauntlet")
	check(t, err)
	return LoadGates(dir, ".gauntlet", p)
}

func shownPath(name string) string { return filepath.Join(".gauntlet", filepath.FromSlash(name)) }

func TestLoadGates(t *testing.T) {
	got, err := load(t, files{
		"config.yml": `entry_points:
  - path: ./src/
    exclude: ["**/*.md", src/gen/]
    checks:
      - lint
      - name: quick
        command: make quick
        timeout: 5
        fix_instructions: fix/lint.md
    reviews: [style, security, strict, {name: extra, prompt: Look., cli_preference: [codex]}]
  - path: docs
    checks: [lint]
  - path: empty
cli:
  default_preference: [claude, codex]
`,
		"checks/lint.yaml": `
name: lint
command: make lint
working_directory: ./web
parallel: true
run_in_ci: false
run_locally: false
timeout: 2m
fix_instructions: fix/lint.md
on_error: block
cache: false
inputs: [web/**, dist]
env: [CI, _X1]
tools: [node --version]
`,
		"checks/unused.yml":   "command: make slow\nfail_fast: true\n",
		"checks/README.md":    "Not a gate.",
		"checks/.draft.yml":   "nonsense",
		"reviews/style.md":    "Look at the style.\n",
		"reviews/strict.yml":  "builtin: code-quality\nprompt: Be strict.\nmodel: opus\n",
		"reviews/notes.txt":   "Not a gate.",
		"fix/lint.md":         "Run make fmt.\n",
		"reviews/security.md": "---\nnum_reviews: 2\n---\nOur own.\n",
	}.write(t))
	check(t, err)
	lint := &Check{
		Gate: Gate{
			Name: "lint", Parallel: true, Timeout: 2 * time.Minute, OnError: BlockOnError, Inputs: []string{"web/**", "dist"},
			Env: []string{"CI", "_X1"}, Tools: []string{"node --version"}, Pos: document.Position{File: shownPath("checks/lint.yaml"), Line: 2, Column: 1},
		},
		Command: "make lint", WorkingDirectory: "web", FixInstructions: "Run make fmt.\n",
	}
	gate := func(name, file string, line, column int) Gate {
		g := newGate(name)
		g.Pos = document.Position{File: shownPath(file), Line: line, Column: column}
		return g
	}
	review := func(g Gate, prompt string) *Review {
		g.Parallel = true
		return &Review{Gate: g, Prompt: prompt, CLIPreference: []string{"claude", "codex"}, NumReviews: 1}
	}
	quick := &Check{Gate: gate("quick", "config.yml", 6, 9), Command: "make quick", FixInstructions: "Run make fmt.\n"}
	quick.Timeout = 5 * time.Second
	codeQuality, _ := Builtin("code-quality")
	strict := review(gate("strict", "reviews/strict.yml", 1, 1), codeQuality+"\nBe strict.")
	strict.Model = "opus"
	security := review(gate("security", "reviews/security.md", 2, 1), "Our own.")
	security.NumReviews = 2
	extra := review(gate("extra", "config.yml", 10, 40), "Look.")
	extra.CLIPreference = []string{"codex"}
	want := &Gates{EntryPoints: []EntryPoint{
		{
			Path: "src", Exclude: []string{"**/*.md", "src/gen"}, Pos: document.Position{File: shownPath("config.yml"), Line: 2, Column: 5},
			Checks:  []*Check{lint, quick},
			Reviews: []*Review{review(gate("style", "reviews/style.md", 1, 1), "Look at the style."), security, strict, extra},
		},
		{Path: "docs", Checks: []*Check{lint}, Pos: document.Position{File: shownPath("config.yml"), Line: 11, Column: 5}},
		{Path: "empty", Pos: document.Position{File: shownPath("config.yml"), Line: 13, Column: 5}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBuiltinReviewByName(t *testing.T) {
	gates, err := load(t, files{
		"config.yml": "cli: {default_preference: [claude]}\nentry_points: [{path: ., reviews: [task-compliance]}]\n",
	}.write(t))
	check(t, err)
	got := gates.EntryPoints[0].Reviews[0]
	text, _ := Builtin("task-compliance")
	want := newReview("task-compliance", []string{"claude"})
	want.Prompt, want.Pos = strings.TrimSpace(text), document.Position{File: shownPath("config.yml"), Line: 2, Column: 36}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// All faults of all files come at once, in the order of the files.
func TestLoadGatesFaults(t *testing.T) {
	_, err := load(t, files{
		"config.yml": `cli: {default_preference: [claude]}
entry_points:
  - path: .
    checks: [lnit, {name: lint, command: x}, {name: own, command: x, fix_instructions: gone.md}, broken]
    reviews: [securty, styel, {name: style, prompt: x}, nothing]
`,
		"checks/lint.yml":                            "command: x\n",
		"checks/lint.yaml":                           "command: y\n",
		"checks/broken.yml":                          "comand: x\ntimeout: never\n",
		"checks/bad name.yml":                        "command: x\n",
		"checks/typo.ymal":                           "command: x\n",
		"checks/UPPER.YML":                           "command: x\n",
		"checks/old.json":                            "{}",
		"checks/absolute.yml":                        "command: x\nfix_instructions: /etc/hosts\n",
		"checks/up.yml":                              "command: x\nfix_instructions: ../x\n",
		"checks/itself.yml":                          "command: x\nfix_instructions: ./\n",
		"checks/folder.yml":                          "command: x\nfix_instructions: checks\n",
		"checks/dir.yml/x":                           "",
		"reviews/style.md":                           "---\nnum_reviews: many\n---\nx\n",
		"reviews/style.yml":                          "prompt: x\ncli_preference: [codex]\n",
		"reviews/.style.md.swp":                      "",
		"reviews/style.md~":                          "",
		"reviews/long.toml":                          "",
		"checks/a.yml":                               "command: |\n  a\n\tb: [\n",
		"reviews/-dash.md":                           "x",
		"checks/" + strings.Repeat("x", 65) + ".yml": "command: x",
	}.write(t))
	golden(t, filepath.Join("testdata", "load-faults.golden"), filepath.ToSlash(report(t, err)))
}

// LoadGates can be asked again: it keeps nothing from the first time.
func TestLoadGatesTwice(t *testing.T) {
	dir := files{
		"config.yml": "entry_points: [{path: ., checks: [{name: a, command: x, fix_instructions: fix.md}, gone]}]\n",
		"fix.md":     "one",
	}.write(t)
	p, err := LoadProject(dir, ".gauntlet")
	check(t, err)
	_, first := LoadGates(dir, ".gauntlet", p)
	_, second := LoadGates(dir, ".gauntlet", p)
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("first %v, then %v", first, second)
	}
	write(t, filepath.Join(dir, "fix.md"), "two")
	write(t, mkdir(t, dir, "checks", "gone.yml"), "command: y\n")
	gates, err := LoadGates(dir, ".gauntlet", p)
	if err != nil || gates.EntryPoints[0].Checks[0].FixInstructions != "two" {
		t.Fatalf("got %+v, %v", gates, err)
	}
	write(t, filepath.Join(dir, "fix.md"), "three")
	if _, err := LoadGates(dir, ".gauntlet", p); err != nil {
		t.Fatal(err)
	}
	if gates.EntryPoints[0].Checks[0].FixInstructions != "two" {
		t.Error("a result changed after it was given out")
	}
}

// mkdir makes the folder of a file.
func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	return path
}

// Without a valid config.yml, the files are still checked.
func TestLoadGatesWithoutProject(t *testing.T) {
	dir := files{
		"checks/a.yml":  "command: x\n",
		"reviews/b.yml": "prompt: x\ncli_preference: [codex]\n",
	}.write(t)
	gates, err := LoadGates(dir, ".gauntlet", nil)
	if err != nil || len(gates.EntryPoints) != 0 {
		t.Errorf("got %+v, %v", gates, err)
	}
	write(t, filepath.Join(dir, "checks", "a.yml"), "")
	if _, err := LoadGates(dir, ".gauntlet", nil); err == nil {
		t.Error("no fault")
	}
}

// config.yml is read on every tool call, gates are not.
func TestLoadProjectLeavesGatesAlone(t *testing.T) {
	dir := files{
		"config.yml":    "entry_points: [{path: ., checks: [nowhere]}]\n",
		"checks/a.yml":  "nonsense",
		"reviews/b.yml": "nonsense",
	}.write(t)
	if _, err := LoadProject(dir, ".gauntlet"); err != nil {
		t.Error(err)
	}
}

func TestFixInstructionsAreCapped(t *testing.T) {
	dir := files{
		"config.yml":   "entry_points: [{path: ., checks: [a]}]\n",
		"checks/a.yml": "command: x\nfix_instructions: long.md\n",
		"long.md":      "x" + strings.Repeat("é", 10<<20/2),
	}.write(t)
	gates, err := load(t, dir)
	check(t, err)
	if got, want := gates.EntryPoints[0].Checks[0].FixInstructions, "x"+strings.Repeat("é", (64<<10)/2-1); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestTooManyGateFaults(t *testing.T) {
	f := files{"config.yml": ""}
	for _, a := range "abcdefghij" {
		var b strings.Builder
		for _, c := range "abcdefghijklmnopqrst" {
			b.WriteString("key_" + string(c) + ": 1\n")
		}
		f["checks/"+string(a)+".yml"] = b.String()
	}
	_, err := load(t, f.write(t))
	all := err.(*document.Faults).All
	if len(all) != maxFaults+1 || all[maxFaults].String() != ".gauntlet: 110 more errors are not shown" {
		t.Errorf("%d faults, the last %s", len(all), all[len(all)-1])
	}
}

func TestTooManyGates(t *testing.T) {
	dir := t.TempDir()
	write(t, mkdir(t, dir, "checks", "a.yml"), "command: x\n")
	for i := range maxGateFiles {
		if i == maxGateFiles-1 {
			if _, err := LoadGates(dir, ".gauntlet", nil); err != nil {
				t.Errorf("as many as there may be: %v", err)
			}
		}
		name := filepath.Join(dir, "checks", "b"+strings.Repeat("b", i%30)+string(rune('a'+i/30%26))+string(rune('a'+i/780))+".yml")
		if err := os.Link(filepath.Join(dir, "checks", "a.yml"), name); err != nil {
			t.Skip(err)
		}
	}
	_, err := LoadGates(dir, ".gauntlet", nil)
	if err == nil || filepath.ToSlash(err.Error()) != ".gauntlet/checks: has more than 1000 gates" {
		t.Errorf("got %v", err)
	}
}

// Whoever deletes files as told is left with one.
func TestThreeFilesForOneGate(t *testing.T) {
	_, err := LoadGates(files{"reviews/a.md": "x", "reviews/a.yaml": "prompt: x\n", "reviews/a.yml": "prompt: x\n"}.write(t), ".gauntlet", nil)
	var faults *document.Faults
	if !errors.As(err, &faults) || len(faults.All) != 2 {
		t.Fatalf("got %v", err)
	}
	for i, file := range []string{"reviews/a.yaml", "reviews/a.yml"} {
		got := faults.All[i]
		if want := "delete this one or " + shownPath("reviews/a.md"); got.File != shownPath(file) || got.Hint != want {
			t.Errorf("%s: %q, want %q", got.File, got.Hint, want)
		}
	}
}

func TestGateFiles(t *testing.T) {
	dir := files{
		"checks/b.yml": "", "checks/a.yaml": "", "checks/.x.yml": "", "checks/c.txt": "", "reviews/z.md": "", "reviews/y.yml": "",
		"config.yml": "", "other/a.yml": "",
	}.write(t)
	want := []string{shownPath("checks/a.yaml"), shownPath("checks/b.yml"), shownPath("reviews/y.yml"), shownPath("reviews/z.md")}
	if got := GateFiles(dir, ".gauntlet"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := GateFiles(filepath.Join(dir, "missing"), ".gauntlet"); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestGateNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "A-b_c.d": true, "1": true, strings.Repeat("x", 64): true, "code-quality": true,
		"": false, ".a": false, "-a": false, "_a": false, "a b": false, "a/b": false, "ä": false, "a\n": false, strings.Repeat("x", 65): false,
	} {
		if got := validName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestCommands(t *testing.T) {
	dir := files{
		"config.yml": `hooks: {SubagentStop: [run: ./after.sh], Stop: [run: make]}
stop_hook: {runner: [agent-gauntlet, run]}
cli: {default_preference: [claude, codex]}
entry_points:
  - {path: a, checks: [lint], reviews: [security]}
  - {path: b, checks: [lint, {name: x, command: "printf '\n'"}], reviews: [{name: y, builtin: security, cli_preference: [codex], tools: [codex -V]}]}
`,
		"checks/lint.yml": "command: make lint\ntools: [go version]\n",
	}.write(t)
	p, err := LoadProject(dir, ".gauntlet")
	check(t, err)
	want := []string{`"make" on Stop`, `"./after.sh" on SubagentStop`, `"agent-gauntlet run" on Stop`}
	if diff := cmp.Diff(want, p.Commands()); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
	gates, err := LoadGates(dir, ".gauntlet", p)
	check(t, err)
	want = []string{
		`"make lint" on Stop`, `"go version" for the version that lint depends on`, "review security by claude, codex",
		`"printf '\n'" on Stop`, "review y by codex", `"codex -V" for the version that y depends on`,
	}
	if diff := cmp.Diff(want, gates.Commands()); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
	if got := (&Gates{}).Commands(); len(got) != 0 {
		t.Errorf("nothing runs %q", got)
	}
}
