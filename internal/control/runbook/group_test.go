package runbook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const groupTOML = `
[command.all]
args = "<env>"
run = { pipeline = "all" }

[pipeline.all]
vars = ["env"]

[[pipeline.all.step]]
name = "checks"
limit = 2
fail_fast = true
on_done = "each"

[[pipeline.all.step.parallel]]
name = "build"
run = "make"

[[pipeline.all.step.parallel]]
name = "smoke"
needs = ["build"]
run = 'smoke "${steps.build.output.file}"'

[[pipeline.all.step]]
name = "each"
for_each = ["a", "${var.env}"]
run = 'echo "${item}" "${item.name}"'
on_done = "deploy"

[[pipeline.all.step]]
name = "deploy"
uses = "deploy"
vars = { to = "${var.env}" }

[pipeline.deploy]
vars = ["to"]
outputs = { url = "${steps.up.output.url}" }

[[pipeline.deploy.step]]
name = "up"
run = 'up "$VAR_TO" "${var.to}"'
`

const groupHCL = `
command "all" {
  args = "<env>"
  run  = { pipeline = "all" }
}

pipeline "all" {
  vars = ["env"]

  step "checks" {
    limit     = 2
    fail_fast = true
    on_done   = "each"
    parallel "build" { run = "make" }
    parallel "smoke" {
      needs = ["build"]
      run   = "smoke \"${steps.build.output.file}\""
    }
  }

  step "each" {
    for_each = ["a", "${var.env}"]
    run      = "echo \"${item}\" \"${item.name}\""
    on_done  = "deploy"
  }

  step "deploy" {
    uses = "deploy"
    vars = { to = "${var.env}" }
  }
}

pipeline "deploy" {
  vars    = ["to"]
  outputs = { url = "${steps.up.output.url}" }
  step "up" { run = "up \"$VAR_TO\" \"${var.to}\"" }
}
`

// Branches, items and used pipelines are the same in TOML and in HCL.
func TestGroupsAreAlikeInBothNotations(t *testing.T) {
	toml, faults := Parse("x.toml", []byte(groupTOML), noFile)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	hcl, faults := Parse("x.hcl", []byte(groupHCL), noFile)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if d := cmp.Diff(toml.Pipelines, hcl.Pipelines); d != "" {
		t.Error(d)
	}
	want := []Step{
		{Name: "checks", Parallel: true, Limit: 2, FailFast: true, OnDone: "each"},
		{Name: "build", Run: Run{Shell: "make"}, Of: "checks"},
		{Name: "smoke", Run: Run{Shell: `smoke "${steps.build.output.file}"`}, Of: "checks", Needs: []string{"build"}},
		{Name: "each", Run: Run{Shell: `echo "${item}" "${item.name}"`}, ForEach: ForEach{List: []string{"a", "${var.env}"}}, OnDone: "deploy"},
		{Name: "deploy", Run: Run{Pipeline: "deploy"}, Vars: map[string]string{"to": "${var.env}"}},
	}
	if d := cmp.Diff(want, toml.Pipelines["all"].Steps); d != "" {
		t.Error(d)
	}
	plan, _ := toml.Plan(toml.Commands["all"])
	if _, has := plan.Pipelines["deploy"]; !has || len(plan.Pipelines) != 1 {
		t.Errorf("the plan has %v", plan.Pipelines)
	}
}

// A pipeline whose steps need each other begins with all of them.
func TestNeedsMakeAGraph(t *testing.T) {
	book, faults := Parse("x.toml", []byte(`
[command.ci]
run = { pipeline = "ci" }
[pipeline.ci]
finally = "clean"
[[pipeline.ci.step]]
name = "build"
run = "make"
[[pipeline.ci.step]]
name = "unit"
run = "make unit"
needs = ["build"]
[[pipeline.ci.step]]
name = "clean"
run = "make clean"
`), noFile)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := []Step{
		{Name: GraphStep, Parallel: true},
		{Name: "build", Run: Run{Shell: "make"}, Of: GraphStep},
		{Name: "unit", Run: Run{Shell: "make unit"}, Of: GraphStep, Needs: []string{"build"}},
		{Name: "clean", Run: Run{Shell: "make clean"}},
	}
	if d := cmp.Diff(want, book.Pipelines["ci"].Steps); d != "" {
		t.Error(d)
	}
}

// Every misuse of branches, needs, items and used pipelines is found, where it stands.
func TestGroupMisuse(t *testing.T) {
	const head = "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\n"
	step := func(lines string) string { return "[[pipeline.p.step]]\n" + lines + "\n" }
	branch := func(lines string) string { return "[[pipeline.p.step.parallel]]\n" + lines + "\n" }
	for name, test := range map[string]struct{ text, want, hint string }{
		"an unknown need":            {step("name=\"a\"\nrun=\"x\"") + step("name=\"b\"\nrun=\"x\"\nneeds=[\"aa\"]"), `x.toml:10:8: needs: there is no step "aa" in pipeline "p"`, "a"},
		"itself":                     {step("name=\"a\"\nrun=\"x\"\nneeds=[\"a\"]"), `x.toml:7:8: needs: step "a" cannot need itself`, ""},
		"a circle":                   {step("name=\"a\"\nrun=\"x\"\nneeds=[\"b\"]") + step("name=\"b\"\nrun=\"x\"\nneeds=[\"a\"]"), `x.toml:7:8: needs goes in a circle: a → b → a`, ""},
		"a transition of a graph":    {step("name=\"a\"\nrun=\"x\"\non_done=\"b\"") + step("name=\"b\"\nrun=\"x\"\nneeds=[\"a\"]"), `x.toml:7:9: on_done: a step in a graph of needs leads to no other`, "need"},
		"a step beside the graph":    {step("name=\"a\"\nrun=\"x\"") + step("name=\"b\"\nrun=\"x\"\nneeds=[\"c\"]") + step("name=\"c\"\nrun=\"x\""), `x.toml:5:6: the pipeline begins with step "a", which no needs names`, "let a step need it"},
		"an unknown branch":          {step("name=\"a\"") + branch("name=\"b\"\nrun=\"x\"\nneeds=[\"a\"]"), `x.toml:9:8: needs: there is no branch "a" beside "b"`, ""},
		"a transition of a branch":   {step("name=\"a\"") + branch("name=\"b\"\nrun=\"x\"\non_fail=\"a\""), `x.toml:9:9: on_fail: a branch leads to no other step`, `use on_done or on_fail of step "a"`},
		"a transition to a branch":   {step("name=\"z\"\nrun=\"x\"\non_done=\"b\"\non_fail=\"a\"") + step("name=\"a\"") + branch("name=\"b\"\nrun=\"x\""), `x.toml:7:9: on_done: step "b" runs with others`, ""},
		"a name twice":               {step("name=\"a\"") + branch("name=\"a\"\nrun=\"x\""), `x.toml:7:6: duplicate step "a"`, ""},
		"two things in one step":     {step("name=\"a\"\nrun=\"x\"\nuses=\"p\""), `x.toml:7:1: run and uses cannot be combined`, "two steps"},
		"limit alone":                {step("name=\"a\"\nrun=\"x\"\nlimit=2"), `x.toml:7:1: limit has no meaning here`, "for_each"},
		"fail_fast alone":            {step("name=\"a\"\nrun=\"x\"\nfail_fast=true"), `x.toml:7:1: fail_fast has no meaning here`, "for_each"},
		"vars alone":                 {step("name=\"a\"\nrun=\"x\"\nvars={a=\"1\"}"), `x.toml:7:1: vars has no meaning here`, "it is for uses"},
		"a limit of none":            {step("name=\"a\"\nfor_each=[\"a\"]\nrun=\"x\"\nlimit=0"), `x.toml:8:7: limit must be a whole number, 1 or more`, ""},
		"an unknown pipeline":        {step("name=\"a\"\nuses=\"pp\""), `x.toml:6:6: there is no pipeline "pp"`, "p"},
		"itself as a step":           {step("name=\"a\"\nuses=\"p\""), `x.toml:6:6: pipeline "p" runs itself: p → p`, ""},
		"a value of a neighbour":     {step("name=\"a\"") + branch("name=\"b\"\nrun=\"x\"") + branch("name=\"c\"\nrun='x \"${steps.b.output.f}\"'"), `x.toml:11:9: ${steps.b.output.f} may have no value: branch "b" runs at the same time`, `add needs = ["b"]`},
		"the output of branches":     {step("name=\"a\"\non_done=\"z\"") + branch("name=\"b\"\nrun=\"x\"") + step("name=\"z\"\nrun='x \"${steps.a.log_tail}\"'"), `x.toml:12:9: ${steps.a.log_tail} has no value: step "a" has branches`, "name one of the branches"},
		"an item without for_each":   {step("name=\"a\"\nrun='x \"${item.n}\"'"), `x.toml:6:9: ${item.n} has no value: the step has no for_each`, ""},
		"an item in a condition":     {step("name=\"a\"\nif=\"${item} == 1\"\nrun=\"x\""), `x.toml:6:5: ${item} has no value: the step has no for_each`, ""},
		"an item of an agent":        {step("name=\"a\"\nrun={agent=\"g\"}") + "[agent.g]\nrun=\"sh\"\nprompt=\"do ${item.n}\"\n", `x.toml:6:12: ${item.n} of agent "g" has no value: the step has no for_each`, ""},
		"a time of an approval":      {step("name=\"a\"\ntimeout=\"1h\"\napproval={title=\"t\"}"), `x.toml:6:1: timeout has no meaning here`, "expire"},
		"an item without quotes":     {step("name=\"a\"\nfor_each=[\"a\"]\nrun='x ${item}'"), `x.toml:7:8: ${item} is not in double quotes, so the shell may run what its value says`, `write "${item}"`},
		"a variable that is missing": {step("name=\"a\"\nuses=\"q\"") + "[pipeline.q]\n[[pipeline.q.step]]\nname=\"b\"\nrun='x \"${var.n}\"'\n", `x.toml:6:6: step "a" gives pipeline "q" no value for variable "n", and it has no default`, "add it to vars"},
		"a variable too many":        {step("name=\"a\"\nuses=\"q\"\nvars={m=\"1\",n=\"2\"}") + "[pipeline.q]\n[[pipeline.q.step]]\nname=\"b\"\nrun='x \"${var.n}\"'\n", `x.toml:6:6: pipeline "q" has no variable "m"`, ""},
		"branches and items":         {step("name=\"a\"\nfor_each=[\"a\"]") + branch("name=\"b\"\nrun=\"x\""), `x.toml:6:1: parallel and for_each cannot be combined`, "uses"},
		"retry of branches":          {step("name=\"a\"\nretry={attempts=2}") + branch("name=\"b\"\nrun=\"x\""), `x.toml:6:1: retry has no meaning here`, "branches"},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := Parse("x.toml", []byte(head+test.text), noFile)
			if len(faults) == 0 || !strings.HasPrefix(faults.Error(), test.want) || !strings.Contains(faults[0].Hint, test.hint) {
				t.Errorf("%s\ngot  %v\nwant %s (%s)", head+test.text, faults, test.want, test.hint)
			}
		})
	}
}

// Lines that are cut off are not items.
func TestItemsThatAreCutOff(t *testing.T) {
	book, faults := Parse("x.toml", []byte("[command.c]\nrun = { pipeline = \"p\" }\n[[pipeline.p.step]]\nname=\"a\"\nrun=\"ls\"\non_done=\"b\"\n[[pipeline.p.step]]\nname=\"b\"\nrun=\"x\"\nfor_each=\"${steps.a.log_tail}\"\n"), noFile)
	if len(faults) > 0 || len(book.Warnings) != 1 || !strings.Contains(book.Warnings.Error(), "only the last lines") {
		t.Errorf("%v, %v", faults, book.Warnings)
	}
}
