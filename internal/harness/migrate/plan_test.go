package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stopgate/stopgate/internal/project/document"
)

// homeMark stands for the home directory in the archives.
const homeMark = "@HOME@"

// plans runs the plan of a tool over each archive in its directory of testdata: a home and a project, and in
// "want" the plan that is made of them with what every changed file becomes. UPDATE_SCRIPTS=1 writes "want" anew.
func plans(t *testing.T, name string) {
	t.Helper()
	tool := Tools()[slices.IndexFunc(Tools(), func(tool Tool) bool { return tool.Name == name })]
	archives, err := filepath.Glob(filepath.Join("testdata", name, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir, want := unpack(t, archive)
			got := planned(t, dir, tool)
			if os.Getenv("UPDATE_SCRIPTS") != "" {
				rewrite(t, path, archive, got)
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// unpack writes the files of an archive and moves to its home.
func unpack(t *testing.T, archive *txtar.Archive) (dir, want string) {
	t.Helper()
	dir = t.TempDir()
	home := filepath.Join(dir, "home")
	t.Setenv("HOME", home)
	for _, f := range archive.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		text := strings.ReplaceAll(string(f.Data), homeMark, home)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, want
}

// planned is the plan for what was unpacked, as text.
func planned(t *testing.T, dir string, tool Tool) string {
	t.Helper()
	draft := &Draft{Root: filepath.Join(dir, "proj"), Getenv: os.Getenv, CheckRunbooks: func(string) (check RunbookCheck, err error) {
		text, err := os.ReadFile(filepath.Join(dir, "check.json"))
		return check, errors.Join(err, json.Unmarshal(text, &check))
	}}
	before := treeOf(t, dir)
	report, err := Survey(draft, []Tool{tool})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, treeOf(t, dir)); diff != "" {
		t.Errorf("a plan changed something:\n%s", diff)
	}
	return strings.ReplaceAll(asText(draft, report), filepath.Join(dir, "home"), homeMark)
}

func asText(d *Draft, r Report) string {
	var b strings.Builder
	for _, plan := range r.Plans {
		fmt.Fprintf(&b, "%s: %s\n", plan.Tool, strings.Join(plan.Found, ", "))
		for _, item := range plan.Items {
			fmt.Fprintf(&b, "%-7s  %s  %s\n", item.Fate, item.Where, item.Setting)
			for _, line := range []string{item.To, item.Why} {
				if line != "" {
					fmt.Fprintf(&b, "         %s\n", line)
				}
			}
		}
	}
	for _, next := range r.Next() {
		fmt.Fprintf(&b, "next: %s\n", next)
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(&b, "fault: %s\n", fault)
	}
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "changes %s (new: %t):\n%s", d.Shown(c.Path), c.New(), c.After)
	}
	return b.String()
}

// treeOf is the content of every file below a directory.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		tree[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func rewrite(t *testing.T, path string, archive *txtar.Archive, want string) {
	t.Helper()
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestIssue19PlansForCCC(t *testing.T)     { plans(t, "ccc") }
func TestIssue19PlansForOddjobs(t *testing.T) { plans(t, "oddjobs") }
func TestIssue19PlansForGSD(t *testing.T)     { plans(t, "gsd") }

// A file that is larger than any configuration is a fault, and costs no other tool.
func TestIssue19HugeFilesAreFaults(t *testing.T) {
	huge := make([]byte, 10<<20)
	for _, name := range []string{"home/.claude/ccc.json", "home/.claude/settings.json", "proj/config/agent-registry.json"} {
		dir, _ := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: name, Data: huge}, {Name: "proj/bin/tui-driver.mjs"}, {Name: "proj/SKILL.md"}}})
		report, err := Survey(&Draft{Root: filepath.Join(dir, "proj"), Getenv: os.Getenv}, []Tool{{"ccc", planCCC}, {"gsd", planGSD}})
		if err != nil || len(report.Faults) == 0 || !slices.ContainsFunc(report.Faults, func(f document.Fault) bool { return strings.Contains(f.Message, "larger") }) {
			t.Errorf("%s: %v %v", name, report.Faults, err)
		}
	}
}

// What is wrong with a file is told once, and hides nothing that the other files say.
func TestIssue19AFaultHidesNoReport(t *testing.T) {
	conclaude := txtar.File{Name: "proj/.conclaude.yaml", Data: []byte("stop: {commands: [{run: make test}]}\n")}
	gauntlet := txtar.File{Name: "proj/.gauntlet/run_gauntlet.md"}
	review := txtar.File{Name: "proj/.gauntlet/reviews/style.md", Data: []byte("Look.\n")}
	ccc := txtar.File{Name: "home/.claude/ccc.json", Data: []byte(`{"providers": {"a": {}}}`)}
	for _, broken := range []txtar.File{
		{Name: "home/.claude/settings.json", Data: []byte("{")},
		{Name: "proj/.claude/settings.json", Data: []byte("{")},
		{Name: "proj/.gauntlet/config.yml", Data: []byte("entry_points: {}\n")},
		{Name: "proj/.gauntlet/config.yml", Data: []byte("{mode: observe}\n")},
		{Name: "proj/.gauntlet/config.yml", Data: []byte("mode: &m observe\nhooks: {}\nentry_points: &e []\n")},
		{Name: "proj/.gauntlet/config.yml", Data: make([]byte, 10<<20)},
		{Name: "proj/.gauntlet/checks/lint.yml", Data: make([]byte, 10<<20)},
		{Name: "proj/.claude/agents/huge.md", Data: make([]byte, 10<<20)},
	} {
		dir, _ := unpack(t, &txtar.Archive{Files: []txtar.File{conclaude, gauntlet, review, ccc, broken}})
		draft := &Draft{Root: filepath.Join(dir, "proj"), Getenv: os.Getenv}
		report, err := Survey(draft, Tools())
		if err != nil || len(report.Faults) != 1 {
			t.Errorf("%s: %v %v", broken.Name, report.Faults, err)
			continue
		}
		if got := report.Tools(); !slices.Equal(got, []string{"agent-gauntlet", "conclaude", "ccc"}) {
			t.Errorf("%s: %v", broken.Name, got)
		}
		if text := asText(draft, report); !strings.Contains(text, "stop.commands[0]: make test") || !strings.Contains(text, "check make-test in") || !strings.Contains(text, "providers.a") || !strings.Contains(text, "review style") {
			t.Errorf("%s: %s", broken.Name, text)
		}
		if len(report.Changes)+len(report.Next()) > 0 {
			t.Errorf("%s: %v", broken.Name, report)
		}
	}
}

// A file of oddjobs that cannot be read does not hide the others.
func TestIssue19AFaultHidesNothingOfOddjobs(t *testing.T) {
	dir, _ := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "proj/.oj/runbooks/a.hcl"}, {Name: "proj/.oj/config.toml", Data: make([]byte, 10<<20)}}})
	report, err := Survey(&Draft{Root: filepath.Join(dir, "proj"), Getenv: os.Getenv, CheckRunbooks: func(string) (RunbookCheck, error) { return RunbookCheck{}, nil }}, Tools())
	if err != nil || len(report.Faults) != 1 || !slices.Equal(report.Tools(), []string{"oddjobs"}) || len(report.Plans[0].Items) == 0 {
		t.Error(report, err)
	}
}

// Oddjobs without stopgated costs no other tool its report.
func TestIssue19RunbooksThatCannotBeCheckedAreNamed(t *testing.T) {
	dir, _ := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "proj/.oj/runbooks/a.hcl"}, {Name: "proj/.conclaude.yaml"}}})
	report, err := Survey(&Draft{Root: filepath.Join(dir, "proj"), Getenv: os.Getenv, CheckRunbooks: func(string) (RunbookCheck, error) {
		return RunbookCheck{}, errors.New("no stopgated")
	}}, Tools())
	if got := report.Tools(); err != nil || !slices.Equal(got, []string{"conclaude", "oddjobs"}) || !strings.Contains(report.Plans[1].Items[0].Why, "no stopgated") {
		t.Error(report, err)
	}
}

func TestIssue19PlansForConclaude(t *testing.T) { plans(t, "conclaude") }

func TestIssue19PlansForAgentGauntlet(t *testing.T) { plans(t, "agent-gauntlet") }
