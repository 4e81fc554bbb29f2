package runbook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const worksLocal = "[command.c]\nargs = \"<x>\"\nrun = { pipeline = \"p\" }\n[pipeline.p]\n"

func TestLocalAndConstFaults(t *testing.T) {
	step := func(run string) string { return "[[pipeline.p.step]]\nname = \"a\"\nrun = '" + run + "'\n" }
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"used", worksLocal + "locals = { t = \"x ${var.x}\" }\n" + step(`echo "${local.t}"`), nil},
		{"the file's", "[locals]\nt = \"${project}\"\n" + worksLocal + step(`echo "${local.t}"`), nil},
		{"of others", "[locals]\na = \"1\"\n" + worksLocal + "locals = { b = \"${local.a}2\", c = \"${local.b}3\" }\n" + step(`echo "${local.c}"`), nil},
		{"unknown", worksLocal + "locals = { title = \"x\" }\n" + step(`echo "${local.titel}" "${local.title}"`), []string{`x.toml:8:14: there is no local "titel"; did you mean "title"?`}},
		{"unknown in another", worksLocal + "locals = { a = \"${local.b}\" }\n" + step(`echo "${local.a}"`), []string{`x.toml:5:17: there is no local "b"; valid locals: a`}},
		{"no locals at all", worksLocal + step(`echo "${local.a}"`), []string{`x.toml:7:14: there is no local "a"; define it in locals, of the file or of the pipeline`}},
		{"unused", worksLocal + "locals = { a = \"x\" }\n" + step("true"), []string{`x.toml:5:12: local "a" is not used; use it as ${local.a}, or remove it`}},
		{"a cycle", worksLocal + "locals = { a = \"${local.b}\", b = \"${local.a}\" }\n" + step(`echo "${local.a}"`), []string{`x.toml:5:30: local "b" depends on itself: a (x.toml:5) → b (x.toml:5) → a (x.toml:5); `}},
		{"not known at the start", worksLocal + "locals = { a = \"${step}\" }\n" + step(`echo "${local.a}"`), []string{"x.toml:5:17: ${step} is not known at the start, when locals get their values; a local knows: ${var.NAME}, ${local.NAME}, ${name}, ${pipeline_id}, ${agent_run_id}, ${project}, ${invoke.dir}"}},
		{"a variable behind a local", "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\nlocals = { a = \"${var.y}\" }\n" + step(`echo "${local.a}"`), []string{`x.toml:7:7: ${var.y} has no value: command "c", which runs pipeline "p", has no such argument, and it has no default; add it to the command's args, or set a default`}},
		{"another pipeline's", worksLocal + step(`echo "${local.a}"`) + "[command.d]\nargs = \"<x>\"\nrun = { pipeline = \"q\" }\n[pipeline.q]\nlocals = { a = \"x\" }\n[[pipeline.q.step]]\nname = \"a\"\nrun = 'echo \"${local.a}\"'\n", []string{`x.toml:7:14: there is no local "a"; define it in locals, of the file or of the pipeline`}},
		{"an agent in two pipelines", worksLocal + "locals = { a = \"x\" }\n[[pipeline.p.step]]\nname = \"a\"\nrun = { agent = \"g\" }\n[command.d]\nrun = { pipeline = \"q\" }\n[pipeline.q]\n[[pipeline.q.step]]\nname = \"a\"\nrun = { agent = \"g\" }\n[agent.g]\nrun = \"x\"\nprompt = \"${local.a}\"\n", []string{`x.toml:17:11: there is no local "a"; define it in locals, of the file or of the pipeline`}},
		{"not a text", worksLocal + "locals = { a = 1 }\n" + step("true"), []string{`x.toml:5:16: a must be text, not a number; `}},

		{"const", "[const.a]\ndefault = \"true\"\n" + worksLocal + step("${const.a}"), nil},
		{"short consts", "const = { a = \"true\", b = 2 }\n" + worksLocal + step("${const.a} ${const.b}"), nil},
		{"unknown const", "[const.check]\ndefault = \"true\"\n" + worksLocal + step("${const.chekc}; ${const.check}"), []string{`x.toml:9:8: there is no const "chekc"; did you mean "check"?`}},
		{"no const at all", worksLocal + step("${const.a}x"), []string{`x.toml:7:8: there is no const "a"; define it: const "a" { default = "…" }, or in TOML [const.a]`}},
		{"unused const", "[const.a]\ndefault = \"x\"\n" + worksLocal + step("true"), []string{`x.toml:1:8: const "a" is not used; use it as ${const.a}, or remove it`}},
		{"consts of each other", "[const.a]\ndefault = \"${const.b}\"\n[const.b]\ndefault = \"${const.a}\"\n" + worksLocal + step("x ${const.a}"), []string{`x.toml:3:8: const "b" depends on itself: a (x.toml:1) → b (x.toml:3) → a (x.toml:1); `}},
		{"a const of a const", "[const.a]\ndefault = \"${const.b} y\"\n[const.b]\ndefault = \"x\"\n" + worksLocal + step("echo ${const.a}"), nil},
		{"a const that is a list", "[const.a]\ndefault = [\"x\"]\n" + worksLocal + step("x ${const.a}"), []string{`x.toml:2:1: default must be text, a number, or true or false, not a list; `}},
		{"a const in the wrong place", "[const.a]\ndefault = \"soon\"\n[agent.g]\nrun = \"x\"\non_idle = { action = \"nudge\", attempts = 2, cooldown = \"${const.a}\" }\n", []string{`x.toml:5:56: cooldown "soon" is not a valid duration; such as: "30s", "5m", "1h30m"`}},
	} {
		book, faults := Parse("x.toml", []byte(test.text), noFile)
		var got []string
		for _, f := range faults {
			got = append(got, f.String()+"; "+f.Hint)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
		if len(faults) == 0 && len(book.Warnings) > 0 {
			t.Errorf("%s: %v", test.name, book.Warnings)
		}
	}
}

// Consts and locals that hold each other many times stay bounded.
func TestNamedTextsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("[const.a0]\ndefault = \"" + strings.Repeat("x", 1000) + "\"\n")
	names := strings.Fields("a0 a1 a2 a3 a4 a5 a6 a7 a8 a9")
	for i, name := range names[1:] {
		b.WriteString("[const." + name + "]\ndefault = \"" + strings.Repeat("${const."+names[i]+"}", 10) + "\"\n")
	}
	b.WriteString("[command.c]\nrun = \"echo ${const.a9}\"\n")
	_, faults := Parse("x.toml", []byte(b.String()), noFile)
	if len(faults) == 0 || !strings.Contains(faults.Error(), "the text with its consts is longer than 100 KiB") {
		t.Errorf("%v", faults)
	}

	b.Reset()
	b.WriteString("[locals]\na0 = \"" + strings.Repeat("x", 1000) + "\"\n")
	for i, name := range names[1:] {
		b.WriteString(name + " = \"" + strings.Repeat("${local."+names[i]+"}", 10) + "\"\n")
	}
	b.WriteString("[command.c]\nrun = 'echo \"${local.a9}\"'\n")
	_, faults = Parse("x.toml", []byte(b.String()), noFile)
	if len(faults) == 0 || !strings.Contains(faults.Error(), `local "a3" is longer than 100 KiB`) {
		t.Errorf("%v", faults)
	}
}

// A plan has the locals that it uses, and no others.
func TestLocalsOfAPlan(t *testing.T) {
	book, faults := Parse("x.toml", []byte("[locals]\na = \"1\"\nb = \"2\"\n[command.c]\nrun = 'echo \"${local.a}\"'\n[command.d]\nrun = { agent = \"g\" }\n[agent.g]\nrun = \"x\"\nprompt = \"${local.b}\"\n"), noFile)
	if len(faults) > 0 {
		t.Fatal(faults.Detail())
	}
	for name, want := range map[string]map[string]string{"c": {"a": "1"}, "d": {"b": "2"}} {
		plan, _ := book.Plan(book.Commands[name])
		if diff := cmp.Diff(want, plan.Pipeline.Locals); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
