package gates

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func testCI(t *testing.T, text string) *config.CI {
	t.Helper()
	ci, err := config.ParseCI("ci.yml", []byte(text))
	check(t, err)
	return ci
}

const wholeCI = `
runtimes:
  node: {version: "22"}
  cobol: {version: "85"}
services:
  postgres:
    image: "postgres:17 'slim'"
    ports: ["5432:5432"]
    env: {POSTGRES_PASSWORD: "${{ secrets.PASSWORD }}"}
  own:
    ports: [1]
setup:
  - {name: Install, run: npm ci}
  - {name: 'Say "$HOME"', run: "echo a # b", working_directory: my app}
checks:
  - name: lint
    requires_runtimes: [node]
  - name: unit
    requires_services: [postgres]
    setup:
      - {name: Seed, run: make seed, working_directory: db}
`

// TestWorkflow is read as YAML, as GitHub does.
func TestWorkflow(t *testing.T) {
	for name, flow := range map[string]workflow{
		"plain": {ci: &config.CI{}, release: "latest", folder: "."},
		"whole": {ci: testCI(t, wholeCI), release: "latest", base: "origin/develop", folder: "tools/my app"},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(stamp(flow.yaml()))
			goldentest.Check(t, "workflow/"+name+".yml", text)
			var read struct {
				On struct {
					Push struct{ Branches []string }
				}
				Permissions map[string]string
				Jobs        map[string]struct {
					Needs    string
					If       string
					Services map[string]map[string]any
					Steps    []struct {
						Name, Uses, Run, If string
						Env                 map[string]string
					}
				}
			}
			check(t, yaml.Unmarshal([]byte(text), &read))
			if diff := cmp.Diff(map[string]string{"contents": "read"}, read.Permissions); diff != "" {
				t.Error(diff)
			}
			if services := read.Jobs["checks"].Services; len(services) != len(flow.ci.Services) {
				t.Errorf("services: %v", services)
			}
			for job, j := range read.Jobs {
				for _, step := range j.Steps {
					if strings.Contains(step.Run, "${{") {
						t.Errorf("%s: an expression becomes a part of a script: %s", job, step.Run)
					}
				}
			}
			if needs := read.Jobs["checks"].Needs; needs != "discover" || read.Jobs["checks"].If == "" {
				t.Errorf("checks need %q, if %q", needs, read.Jobs["checks"].If)
			}
		})
	}
	if unknown := (workflow{ci: testCI(t, wholeCI)}).unknownRuntimes(); !slices.Equal(unknown, []string{"cobol"}) {
		t.Errorf("unknown runtimes: %q", unknown)
	}
}

// TestStamp: any change by hand is seen, but for what git does to line ends.
func TestStamp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := stamp(rapid.StringMatching(`[a-z\n]{0,40}`).Draw(t, "body"))
		if !isStamped(content) || !isStamped([]byte(strings.ReplaceAll(string(content), "\n", "\r\n"))) {
			t.Fatalf("%q is not ours", content)
		}
		i := rapid.IntRange(0, len(content)-1).Draw(t, "at")
		changed := slices.Clone(content)
		changed[i] ^= 1
		if isStamped(changed) || isStamped(content[:i]) || isStamped(append(changed[:0:0], append(content, 'x')...)) {
			t.Fatalf("%q was changed at %d", content, i)
		}
	})
	if isStamped(nil) {
		t.Error("nothing is ours")
	}
}

// testProject has entry points of all kinds, with the folders that they lead to.
func testProject(t *testing.T) *keeper.Project {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"packages/a", "packages/b", "web"} {
		check(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	check := func(name, command string) *config.Check {
		return &config.Check{Gate: config.Gate{Name: name, RunInCI: true, RunLocally: true}, Command: command}
	}
	lint, unit, local := check("lint", "make lint"), check("unit", "make unit ${BASE_BRANCH}"), check("local", "true")
	local.RunInCI = false
	return &keeper.Project{Root: root, Gates: &config.Gates{EntryPoints: []config.EntryPoint{
		{Path: ".", Checks: []*config.Check{lint, local}},
		{Path: "packages/*", Checks: []*config.Check{unit}},
		{Path: "web", Reviews: []*config.Review{{Gate: config.Gate{Name: "unit", RunInCI: true}}}},
	}}}
}

func TestPlanCI(t *testing.T) {
	plan, err := planCI(testCI(t, wholeCI), testProject(t))
	check(t, err)
	global := "echo \"::group::Install\"\nnpm ci\necho \"::endgroup::\"\n" +
		"echo \"::group::Say \\\"\\$HOME\\\"\"\n(cd \"my app\" && echo a # b\n)\necho \"::endgroup::\""
	seed := "echo \"::group::Seed\"\n(cd \"db\" && make seed)\necho \"::endgroup::\""
	want := []ciJob{
		{"lint-.", "lint", ".", ".", "make lint", []string{"node"}, []string{}, "", global},
		{"unit-packages-a", "unit", "packages/a", "packages/a", "make unit ${BASE_BRANCH}", []string{}, []string{"postgres"}, seed, global},
		{"unit-packages-b", "unit", "packages/b", "packages/b", "make unit ${BASE_BRANCH}", []string{}, []string{"postgres"}, seed, global},
	}
	if diff := cmp.Diff(want, plan.Matrix); diff != "" {
		t.Error(diff)
	}
	if _, err := planCI(testCI(t, "checks: [{name: lnt}]"), testProject(t)); err == nil || err.(term.UsageError).Hint != "did you mean lint?" {
		t.Errorf("a check that there is not: %v", err)
	}
	empty, err := planCI(&config.CI{}, testProject(t))
	if err != nil || empty.Matrix == nil || empty.Services == nil || empty.Runtimes == nil {
		t.Errorf("the parts of an empty plan are not null: %+v, %v", empty, err)
	}
}

// TestScriptRuns: what the groups hold is what a shell runs.
func TestScriptRuns(t *testing.T) {
	sh := environtest.Need(t, "sh")
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "a $x `b"), 0o755))
	cmd := exec.Command(sh, "-c", script([]config.CIStep{
		{Name: "one `date` \\", Run: "echo first # comment", WorkingDirectory: "a $x `b"},
		{Name: "two", Run: "basename \"$PWD\""},
	}))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	want := "::group::one `date` \\\nfirst\n::endgroup::\n::group::two\n" + filepath.Base(dir) + "\n::endgroup::\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nnot\n%s", err, out, want)
	}
}

// TestFirstCI is valid, with and without checks.
func TestFirstCI(t *testing.T) {
	for want, gates := range map[int]*config.Gates{1 + 1: testProject(t).Gates, 0: {}} {
		ci := testCI(t, firstCI(gates))
		if len(ci.Checks) != want {
			t.Errorf("%d checks, not %d:\n%s", len(ci.Checks), want, firstCI(gates))
		}
	}
}

func TestKnownGate(t *testing.T) {
	gates := testProject(t).Gates
	for _, test := range []struct {
		kind, name, hint string
	}{
		{"", "", ""},
		{"", "lint", ""},
		{"check", "lint", ""},
		{"review", "unit", ""},
		{"review", "lint", "see: stopgate list"},
		{"", "lnt", "did you mean lint?"},
		{"check", "nothing-like-it", "see: stopgate list"},
	} {
		err := knownGate(gates, gauntlet.Kind(test.kind), test.name)
		if err == nil && test.hint != "" || err != nil && err.(term.UsageError).Hint != test.hint {
			t.Errorf("%s %q: %v", test.kind, test.name, err)
		}
	}
}

// CI installs the version that wrote the workflow, where that can be had.
func TestIssue19TheWorkflowInstallsThisRelease(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "v1.2.3", "v1.2.3-4-gabc": "latest", "(devel)": "latest", "": "latest", "v1.2.3 x": "latest"} {
		if got := releaseOf(version); got != want {
			t.Errorf("%q: %s", version, got)
		}
	}
	if text := (workflow{ci: testCI(t, "checks: []"), release: "v1.2.3"}).yaml(); !strings.Contains(text, "cmd/stopgate@v1.2.3\n") {
		t.Error(text)
	}
}
