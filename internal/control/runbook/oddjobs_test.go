package runbook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden compares a text with the file that holds it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, `\`+"oddjobs"+`\`, "/oddjobs/")
	if *update {
		check(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	check(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

// What oddjobs' runbooks say and means the same here is read as it is. Style is a warning.
func TestOddjobsAreRead(t *testing.T) {
	dir := filepath.Join("testdata", "oddjobs", "sound")
	set, err := LoadOddjobs(dir)
	if err != nil {
		t.Fatal(err.(Faults).Detail())
	}
	var warnings strings.Builder
	for _, book := range set.Runbooks {
		warnings.WriteString(book.Warnings.Detail())
	}
	golden(t, filepath.Join(dir, "warnings.golden"), warnings.String())

	_, check, err := set.Command("check", "")
	if err != nil || len(check.Pipelines["check"].Steps) != 2 || len(check.Agents) != 1 {
		t.Errorf("%v: %+v", err, check)
	}
	command, release, err := set.Command("release", "")
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := release.Plan(command)
	if diff := cmp.Diff(map[string]string{"base": "main", "title": "release(${var.version}): ${var.notes}"}, plan.Pipeline.Locals); diff != "" {
		t.Errorf("locals (-want +got)\n%s", diff)
	}
	notes := plan.Agents["notes:write"]
	if notes.OnDead.Kind != Resume || notes.OnIdle.Run != "test -s NOTES.md" || notes.OnIdle.Cooldown.String() != "30s" || notes.OnError[0].Action.Cooldown.String() != "24h0m0s" {
		t.Errorf("%+v", notes)
	}
	if diff := cmp.Diff([]string{"version", "notes", "from"}, plan.Pipeline.Vars); diff != "" {
		t.Errorf("vars (-want +got)\n%s", diff)
	}
}

// What stopgate has not is refused, each with what to write instead.
func TestOddjobsAreRefused(t *testing.T) {
	dir := filepath.Join("testdata", "oddjobs", "refused")
	set, err := LoadOddjobs(dir)
	var faults Faults
	if !errors.As(err, &faults) || len(set.Runbooks) > 0 {
		t.Fatalf("%v, %v", set, err)
	}
	golden(t, filepath.Join(dir, "faults.golden"), faults.Detail())
	for _, f := range faults {
		if f.Hint == "" && !strings.Contains(f.Message, "is set by stopgate") {
			t.Errorf("no hint: %v", f)
		}
	}
}

// In our own runbooks the words of oddjobs are faults, with our words.
func TestOddjobsWordsInOurRunbooks(t *testing.T) {
	for text, want := range map[string]string{
		"job \"x\" {\n step \"a\" {\n run = \"true\"\n }\n}\n": `x.hcl:1:1: "job" is called "pipeline" here; write pipeline`,
		"pipelin \"x\" {\n}\n":                                 "x.hcl:1:1: unknown field \"pipelin\"; did you mean \"pipeline\"?",
		"cron \"x\" {\n interval = \"1h\"\n}\n":                `x.hcl:1:6: cron is not supported: "x"; give the pipeline a schedule, such as "*/30 * * * *", and turn it on: stopgate schedule on`,
		"command \"x\" {\n run = { job = \"y\" }\n}\npipeline \"y\" {\n step \"a\" {\n run = \"true\"\n }\n}\n": `x.hcl:2:10: "job" is called "pipeline" here; write pipeline`,
		"command \"x\" {\n args = \"<a>\"\n run = \"echo ${args.a}\"\n}\n":                                      `x.hcl:3:14: unknown template ${args.a}; write ${var.a}`,
		"agent \"x\" {\n run = \"claude\"\n on_exit = \"done\"\n}\n":                                            `x.hcl:3:2: "on_exit" is called "on_dead" here; write on_dead`,
		"agent \"x\" {\n run = \"claude\"\n on_dead = \"recover\"\n}\n":                                         `x.hcl:3:12: "recover" is called "resume" here; write resume`,
		"command \"x\" {\n run = \"echo ${USER:-me}\"\n}\n":                                                     `x.hcl:2:20: extra characters after interpolation expression`,
	} {
		_, faults := Parse("x.hcl", []byte(text), noFile)
		if len(faults) != 1 || !strings.HasPrefix(faults[0].String()+"; "+faults[0].Hint, want) {
			t.Errorf("%s\nwant %s\ngot %v", text, want, faults.Detail())
		}
	}
}

// A word of oddjobs that our runbooks know is ours.
func TestOurWordsAreNotOddjobs(t *testing.T) {
	d := &decoder{files: new(int)}
	for _, w := range oddWords() {
		for _, f := range map[table][]field{inRunbook: d.fields(), inPipeline: d.pipelineFields(&pipelineDraft{}), inAgent: d.agentFields(&agentDraft{})}[w.in] {
			if f.Name == w.word {
				t.Errorf("%s of a %s is ours: take its row away", w.word, w.in)
			}
		}
		if (w.as != "") == (w.drop != "" || w.hint != "") || w.drop != "" && w.hint != "" {
			t.Errorf("%s: read, left out and refused exclude each other", w.word)
		}
	}
}

// Runbooks in JSON are those of oddjobs alone.
func TestOddjobsInJSON(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.json": `{"command": {"go": {"args": "<x>", "run": {"job": "go"}}},
 "job": {"go": {"step": [{"name": "a", "run": "echo \"${var.x}\"", "on_done": {"step": "b"}}, {"name": "b", "run": {"agent": "g"}}]}},
 "agent": {"g": {"run": "claude", "on_idle": {"action": "nudge", "attempts": 2}, "env": {"A": "1"}}}}`,
		"b.json": "{\"command\": {\n  \"x\": {\"runn\": true}}}",
		"c.json": "{\"command\": [1, 2\n}",
		"d.json": "{\"agent\": {\"x\": {}, \"x\": {}}}",
	})
	set, err := LoadOddjobs(dir)
	if len(set.Runbooks) != 1 || set.Runbooks[0].Agents["g"].OnIdle.Attempts != 2 || len(set.Runbooks[0].Pipelines["go"].Steps) != 2 {
		t.Errorf("%+v", set.Runbooks)
	}
	var faults Faults
	errors.As(err, &faults)
	var got []string
	for _, f := range faults {
		got = append(got, strings.TrimPrefix(f.String(), dir+string(filepath.Separator)))
	}
	want := []string{
		`b.json:2:9: unknown field "runn"`,
		`c.json:2:1: this is not valid JSON: invalid character '}' after array element`,
		`d.json:1:12: run is missing`,
		`d.json:1:21: duplicate "x"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, faults := Parse("x.json", []byte("{}"), noFile); len(faults) != 1 || !strings.Contains(faults[0].Message, "its name must end in .toml or .hcl") {
		t.Errorf("ours: %v", faults)
	}
}

// The shell of oddjobs stops at the first command that fails.
func TestOddjobsScriptsAreStrict(t *testing.T) {
	set, err := LoadOddjobs(filepath.Join("testdata", "oddjobs", "sound"))
	check(t, err)
	command, book, err := set.Command("tag", "")
	check(t, err)
	plan, _ := book.Plan(command)
	if got := plan.Pipeline.Steps[0].Run.Shell; !strings.HasPrefix(got, oddShell) || !strings.Contains(got, "git tag ${var.version}") || !strings.Contains(got, "${USER:-someone}") {
		t.Errorf("%s", got)
	}
}

// Workspaces of oddjobs are ours: worktrees that start from a ref, and folders.
func TestOddjobsWorkspaces(t *testing.T) {
	set, err := LoadOddjobs(filepath.Join("testdata", "oddjobs", "sound"))
	if err != nil {
		t.Fatal(err.(Faults).Detail())
	}
	for name, want := range map[string]Workspace{
		"patch":   {Kind: Worktree, Branch: "patch/${var.id}-${pipeline_id}", Base: "origin/main", Keep: KeepOnFailure},
		"scratch": {Kind: FolderEmpty, Keep: KeepOnFailure},
		"archive": {Kind: FolderEmpty, Keep: KeepAlways},
	} {
		_, book, err := set.Command(name, "")
		check(t, err)
		if diff := cmp.Diff(want, book.Pipelines[name].Workspace); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if name == "patch" && book.Agents["patcher"].Prompt != "Fix ${var.id}, ${var.title}, in ${workspace.path}." {
			t.Error(book.Agents["patcher"].Prompt)
		}
	}
}
