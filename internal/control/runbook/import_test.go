package runbook

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// libraryBook is a file for others to import, in both formats.
var libraryBook = map[string]string{
	"hcl": `
const "check" {}
const "tries" { default = 3 }
locals {
  ask = "Review ${var.issue} of ${project}"
}
command "again" {
  args = "<issue>"
  run  = { pipeline = "look" }
}
pipeline "look" {
  step "look" {
    run = { agent = "reviewer" }
  }
}
agent "reviewer" {
  run     = "claude"
  prompt  = "${local.ask}. Run ${const.check}."
  on_idle = { action = "gate", run = "${const.check}", attempts = "${const.tries}" }
}
`,
	"toml": `
[const.check]
[const.tries]
default = 3
[locals]
ask = "Review ${var.issue} of ${project}"
[command.again]
args = "<issue>"
run = { pipeline = "look" }
[pipeline.look]
[[pipeline.look.step]]
name = "look"
run = { agent = "reviewer" }
[agent.reviewer]
run = "claude"
prompt = "${local.ask}. Run ${const.check}."
on_idle = { action = "gate", run = "${const.check}", attempts = "${const.tries}" }
`,
}

var importingBook = map[string]string{
	"hcl": `
import "lib/review.FORMAT" {
  alias = "review"
  const = { check = "make test" }
}
locals { ask = "mine" }
command "fix" {
  args = "<issue>"
  run  = { pipeline = "fix" }
}
pipeline "fix" {
  locals { title = "${local.ask}: ${var.issue}" }
  step "work" {
    run     = "echo \"${local.title}\""
    on_done = "review"
  }
  step "review" {
    run = { agent = "review:reviewer" }
  }
}
`,
	"toml": `
[[import]]
file = "lib/review.FORMAT"
alias = "review"
const = { check = "make test" }
[locals]
ask = "mine"
[command.fix]
args = "<issue>"
run = { pipeline = "fix" }
[pipeline.fix]
locals = { title = "${local.ask}: ${var.issue}" }
[[pipeline.fix.step]]
name = "work"
run = 'echo "${local.title}"'
on_done = "review"
[[pipeline.fix.step]]
name = "review"
run = { agent = "review:reviewer" }
`,
}

// A file may import one of the other format, and gets what that defines under an alias, with
// its own values for the consts.
func TestImport(t *testing.T) {
	for format := range libraryBook {
		for other := range libraryBook {
			t.Run(format+" imports "+other, func(t *testing.T) {
				dir := tree(t, map[string]string{
					"fix." + format: strings.ReplaceAll(importingBook[format], "FORMAT", other), "lib/review." + other: libraryBook[other],
				})
				set, err := Load(dir)
				if err != nil {
					t.Fatal(err.(Faults).Detail())
				}
				if len(set.Runbooks) != 1 || len(set.Runbooks[0].Warnings) > 0 {
					t.Fatalf("an imported file counts as a runbook of its own: %v", set.Runbooks)
				}
				book := set.Runbooks[0]
				if diff := cmp.Diff([]Import{{File: "lib/review." + other, Alias: "review"}}, book.Imports); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}

				plan, _ := book.Plan(book.Commands["fix"])
				reviewer := plan.Agents["review:reviewer"]
				if plan.Pipeline.Steps[1].Run.Agent != "review:reviewer" || reviewer.Name != "review:reviewer" {
					t.Errorf("%+v", plan)
				}
				if reviewer.OnIdle.Run != "make test" || reviewer.OnIdle.Attempts != 3 {
					t.Errorf("%+v", reviewer.OnIdle)
				}
				got := expandAll(plan, reviewer.Prompt)
				if want := "Review 17 of /p. Run make test."; got != want {
					t.Errorf("the prompt is %q", got)
				}
				if got := expandAll(plan, plan.Pipeline.Steps[0].Run.Shell); got != `echo "mine: 17"` {
					t.Errorf("the step runs %s", got)
				}

				again, book, err := set.Command("review:again", "")
				check(t, err)
				if plan, _ := book.Plan(again); plan.Pipeline.Name != "review:look" || plan.Agents["review:reviewer"].Run != "claude" {
					t.Errorf("%+v", plan)
				}
			})
		}
	}
}

// expandAll puts values in as the engine does.
func expandAll(plan Plan, text string) string {
	values := map[string]string{"var.issue": "17", "project": "/p"}
	for name, text := range plan.Pipeline.Locals {
		values["local."+name] = Expand(text, values)
	}
	return Expand(text, values)
}

// faultsOf are the faults of a directory of runbooks, one line each, with their hints.
func faultsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	dir := tree(t, files)
	_, err := Load(dir)
	var faults Faults
	if err != nil && !errors.As(err, &faults) {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range faults {
		line := strings.ReplaceAll(f.String()+"; "+f.Hint, dir+string(filepath.Separator), "")
		lines = append(lines, strings.ReplaceAll(line, string(filepath.Separator), "/"))
	}
	return lines
}

func TestImportFaults(t *testing.T) {
	const agent = "[agent.a]\nrun = \"x\"\n"
	const runs = "[command.c]\nrun = { agent = \"a\" }\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{
			"no such file",
			map[string]string{"x.toml": "[[import]]\nfile = \"y.toml\"\n"},
			[]string{`x.toml:2:8: imported file "y.toml" does not exist; paths are relative to the runbooks directory`},
		},
		{
			"out of the directory",
			map[string]string{"x.toml": "[[import]]\nfile = \"../y.toml\"\n"},
			[]string{"x.toml:2:8: an imported file must be a path below the runbooks directory, without ..; such as: lib/review.hcl"},
		},
		{
			"nothing",
			map[string]string{"x.toml": "[[import]]\nalias = \"y\"\n"},
			[]string{"x.toml:1:3: an import needs either file or library; write file = \"lib/review.toml\", or library = \"merge\""},
		},
		{
			"no library",
			map[string]string{"x.hcl": "import \"wiat\" {\n}\n"},
			[]string{`x.hcl:1:8: there is no library "wiat"; did you mean "wait"?`},
		},
		{
			"not a runbook",
			map[string]string{"x.toml": "[[import]]\nfile = \"y.md\"\n", "y.md": "x"},
			[]string{"y.md: is not a runbook: its name must end in .toml or .hcl; "},
		},
		{
			"itself",
			map[string]string{"x.hcl": "import \"x.hcl\" {\n}\n"},
			[]string{"x.hcl:1:8: import cycle: x.hcl:1 → x.hcl; move what both files need into a third one"},
		},
		{"a cycle", map[string]string{"x.hcl": "import \"y.toml\" {\n}\n", "y.toml": "\n[[import]]\nfile = \"x.hcl\"\n"}, []string{
			"x.hcl:1:8: import cycle: y.toml:3 → x.hcl:1 → y.toml; move what both files need into a third one",
			"y.toml:3:8: import cycle: x.hcl:1 → y.toml:3 → x.hcl; move what both files need into a third one",
		}},
		{
			"a clash with its own",
			map[string]string{"x.toml": "[[import]]\nfile = \"y.toml\"\n" + agent + runs, "y.toml": agent},
			[]string{`x.toml:2:8: agent "a" is defined twice: x.toml:3 and y.toml:1; give the import an alias: alias = "…"`},
		},
		{"a clash of two", map[string]string{
			"x.toml": "[[import]]\nfile = \"y.toml\"\n[[import]]\nfile = \"z.toml\"\n" + runs, "y.toml": agent, "z.toml": "\n" + agent,
		}, []string{`x.toml:4:8: agent "a" is defined twice: y.toml:1 and z.toml:2; give the import an alias: alias = "…"`}},
		{"a clash of aliases", map[string]string{
			"x.toml": "[[import]]\nfile = \"y.toml\"\nalias = \"b\"\n[[import]]\nfile = \"z.toml\"\nalias = \"b\"\n[command.c]\nrun = { agent = \"b:a\" }\n", "y.toml": agent, "z.toml": agent,
		}, []string{`x.toml:5:8: agent "b:a" is defined twice: y.toml:1 and z.toml:1; give the import another alias`}},
		{
			"a name without its alias",
			map[string]string{"x.toml": "[[import]]\nfile = \"y.toml\"\nalias = \"b\"\n" + runs, "y.toml": agent},
			[]string{`x.toml:5:17: there is no agent "a"; did you mean "b:a"?`},
		},
		{
			"a const that there is not",
			map[string]string{"x.toml": "[[import]]\nfile = \"y.toml\"\nconst = { chekc = \"1\" }\n" + runs, "y.toml": "[const.check]\ndefault = \"x\"\n[agent.a]\nrun = \"${const.check}\"\n"},
			[]string{`x.toml:3:11: y.toml has no const "chekc"; did you mean "check"?`},
		},
		{
			"a const without a value",
			map[string]string{"x.toml": "[[import]]\nfile = \"y.toml\"\n" + runs, "y.toml": "\n[const.check]\n[agent.a]\nrun = \"x ${const.check}\"\n"},
			[]string{`x.toml:2:8: y.toml needs a value of const "check" (y.toml:2); add const = { check = "…" } to the import`},
		},
		{"a variable of an imported pipeline", map[string]string{
			"x.toml": "[[import]]\nfile = \"y.toml\"\n[command.c]\nrun = { pipeline = \"p\" }\n", "y.toml": "[pipeline.p]\n[[pipeline.p.step]]\nname = \"a\"\nrun = 'echo \"${var.x}\"'\n",
		}, []string{`x.toml:4:20: ${var.x} (in y.toml:4) has no value: command "c", which runs pipeline "p", has no such argument, and it has no default; add it to the command's args, or set a default`}},
		{
			"a fault of the imported file",
			map[string]string{"x.toml": "[[import]]\nfile = \"y.toml\"\n" + runs, "y.toml": agent + "on_idel = \"done\"\n"},
			[]string{`y.toml:3:1: unknown field "on_idel"; did you mean "on_idle"?`},
		},
	} {
		if diff := cmp.Diff(test.want, faultsOf(t, test.files)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
}

// The same file can be imported several times. A value may contain a local of the importer,
// also where the file has one of the same name.
func TestImportTwice(t *testing.T) {
	const lib = "[const.word]\n[locals]\nx = \"lib\"\n[pipeline.p]\n[[pipeline.p.step]]\nname = \"a\"\nrun = 'echo \"${const.word} ${local.x}\"'\n"
	const book = `
locals { x = "importer ${var.issue}" }
import "lib.toml" {
  alias = "one"
  const "word" { value = "${local.x}" }
}
import "lib.toml" {
  alias = "two"
  const = { word = 2 }
}
command "one" {
  args = "<issue>"
  run  = { pipeline = "one:p" }
}
command "two" {
  run = { pipeline = "two:p" }
}
`
	set, err := Load(tree(t, map[string]string{"x.hcl": book, "lib.toml": lib}))
	if err != nil {
		t.Fatal(err.(Faults).Detail())
	}
	for name, want := range map[string]string{"one": `echo "importer 17 lib"`, "two": `echo "2 lib"`} {
		command, runbook, err := set.Command(name, "")
		check(t, err)
		plan, _ := runbook.Plan(command)
		if got := expandAll(plan, plan.Pipeline.Steps[0].Run.Shell); got != want {
			t.Errorf("%s runs %s", name, got)
		}
	}
	got := faultsOf(t, map[string]string{"x.hcl": strings.ReplaceAll(book, "<issue>", "<other>"), "lib.toml": lib})
	want := []string{"x.hcl:13:23: ${var.issue} (in lib.toml:7) has no value: command \"one\", which runs pipeline \"one:p\", has no such argument, and it has no default; add it to the command's args, or set a default"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	got = faultsOf(t, map[string]string{"x.hcl": book, "lib.toml": strings.ReplaceAll(lib, "\"lib\"", "\"${const.word}!\"")})
	if len(got) != 1 || !strings.Contains(got[0], `local "x" contains ${local.x} of the importer, through a const`) {
		t.Errorf("%q", got)
	}
}

// Files that import each other in ever more ways are bounded.
func TestImportsAreBounded(t *testing.T) {
	files := map[string]string{"z.toml": "[agent.a]\nrun = \"x\"\n"}
	next := "z.toml"
	for _, name := range strings.Split("a b c d e f g h i j k l m n o p q r s t", " ") {
		text := ""
		for _, alias := range []string{"x", "y"} {
			text += "[[import]]\nfile = \"" + next + "\"\nalias = \"" + alias + "\"\n"
		}
		next = name + ".toml"
		files[next] = text
	}
	got := strings.Join(faultsOf(t, map[string]string(files)), "\n")
	if !strings.Contains(got, "more than 100 imports") {
		t.Errorf("%s", got)
	}
}

// Every field by which something is run is known where files are imported.
func TestEveryReferenceIsRenamed(t *testing.T) {
	var run Run
	fields := reflect.ValueOf(&run).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.String {
			f.SetString("x")
		}
	}
	renamed := reflect.ValueOf(run.under("lib:"))
	for i := range renamed.NumField() {
		name, want := renamed.Type().Field(i).Name, "lib:x"
		if name == "Shell" {
			want = "x"
		}
		if f := renamed.Field(i); f.Kind() == reflect.String && f.String() != want {
			t.Errorf("%s is %q: Run.under must know it", name, f.String())
		}
	}
}

// Each library is sound, with a value for every const that has no default.
func TestLibraries(t *testing.T) {
	for _, name := range Libraries() {
		file, found := libraryFile(name)
		text, err := readLibrary(file)
		if !found || err != nil || len(text) == 0 {
			t.Fatalf("%s, %s: %v", name, file, err)
		}
		book := "import \"" + name + "\" {\n  alias = \"lib\"\n  const = {\n"
		d := newDecoder(libraryOrigin(), file, file, text)
		d.read()
		for _, c := range d.missing() {
			book += "    " + c.name + " = \"true\"\n"
		}
		got, faults := Parse("x.hcl", []byte(book+"  }\n}\n"), noFile)
		if len(faults)+len(got.Warnings) > 0 {
			t.Errorf("%s%s", faults.Detail(), got.Warnings.Detail())
		}
		if got.Imports[0].Library != name || len(strings.Fields(got.Imports[0].Version)) != 2 {
			t.Errorf("%+v", got.Imports)
		}
		for _, c := range got.Commands {
			complete(t, got, c)
		}
	}
}

// A file that can only be imported is sound by itself, and starts nothing.
func TestFileForImportOnly(t *testing.T) {
	dir := tree(t, map[string]string{"lib/review.hcl": libraryBook["hcl"]})
	set, err := Load(dir)
	check(t, err)
	if len(set.Runbooks) != 1 || len(set.Commands()) > 0 || !strings.Contains(set.Runbooks[0].Warnings.Error(), `const "check" has no value, so that this file can only be imported`) {
		t.Errorf("%+v", set.Runbooks)
	}
}

// An agent of another file that needs a workspace says so where it is started.
func TestImportedAgentWithoutAWorkspace(t *testing.T) {
	files := map[string]string{"lib.hcl": "agent \"a\" {\n  run    = \"claude\"\n  prompt = \"Work in ${workspace.path}.\"\n}\n"}
	read := func(name string) ([]byte, error) { return []byte(files[name]), nil }
	for format, text := range map[string]string{
		"hcl":  "import \"lib.hcl\" { alias = \"x\" }\ncommand \"c\" { run = { pipeline = \"p\" } }\npipeline \"p\" {\n  step \"s\" { run = { agent = \"x:a\" } }\n}\n",
		"toml": "[[import]]\nfile = \"lib.hcl\"\nalias = \"x\"\n[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\n[[pipeline.p.step]]\nname = \"s\"\nrun = { agent = \"x:a\" }\n",
	} {
		_, faults := Parse("main."+format, []byte(text), read)
		if len(faults) != 1 || !strings.Contains(faults.Error(), `(in lib.hcl:3) has no value: pipeline "p" has no workspace`) {
			t.Errorf("%s: %v", format, faults)
		}
	}
}
